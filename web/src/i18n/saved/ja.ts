/** Words about saved sessions in Japanese. */
import type { saved as english } from "./en";

export const saved: typeof english = {
  title: (workspace) => `${workspace} の保存されたセッション`,
  menu: "保存されたセッション",
  menuHelp: "Estelle を使わない作業も含め、Claude がこのフォルダーでしたこと。",
  help: "ターミナルでの作業も含め、Claude Code がこのフォルダーで保存したすべてです。読んでから、コピーで続けられます。",
  offline: "マシンが戻りしだい、保存されたセッションを表示できます。",
  none: "保存されたものはありません",
  noneHelp: "このフォルダーで `claude` から始めたセッションがここに現れます。",
  unnamed: "名前なし",
  byProgram: "プログラムが開始",
  isHere: "ここにある会話",
  more: "古いものを表示",
  further: "続きを読む",
  all: "保存されたセッション一覧",
  blank: "話した内容はありません。",
  goOn: "会話で続ける",
  goOnHelp: "コピーから新しい会話を始めます。セッション自体はそのまま残ります。",
};
