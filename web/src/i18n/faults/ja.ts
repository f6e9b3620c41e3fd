/** Words for what did not go as it should, in Japanese. */
import type { faultWords as english } from "./en";

export const faultWords: typeof english = {
  broken: {
    view: "この画面を表示できません",
    row: "この項目を表示できません。",
    card: "ここに表示できない確認があります。ページを再読み込みするか、別のデバイスで答えてください。",
    help: "会話は続いており、入力した内容も残っています。ページを再読み込みしてください。",
    part: "アプリの一部を読み込めませんでした",
    partHelp: "接続が切れたか、新しいバージョンがあります。ページを再読み込みしてください。入力した内容は残ります。",
    machineSays: "マシンからの説明:",
    reload: "ページを再読み込み",
    details: "詳細",
  },
};
