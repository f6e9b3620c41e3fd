/** Words about machines in Japanese. */
import type { machineWords as english } from "./en";

export const machineWords: typeof english = {
  version: {
    title: "バージョン",
    look: "新しい版を確認",
    looking: "確認中…",
    runs: (version) => `実行中: ${version}`,
    unknown: "版は不明",
    nothing: "公開された版はありません",
    published: (version) => `公開中: ${version}`,
    same: "最新です",
    other: "このマシンは別の版を実行しています",
    phone: "スマートフォン用アプリ",
    desktop: "デスクトップ用アプリ",
  },
  report: {
    title: "不具合を報告",
    help: "報告はビルドの情報と関係する会話とともに自分のマシンに残ります。ほかへは送られません。",
    what: "何が起きましたか。どうなると思いましたか。",
    about: "関係する会話:",
    send: "報告を残す",
    kept: (machine) => `${machine} に報告を残しました。`,
  },
  tasks: {
    add: "新しいタスク",
    title: "件名",
    content: "何をするか",
    where: "ワークスペース",
    mark: "状態を変える",
    blank: "本文はありません。",
    cut: "続きはファイルにあります。",
  },
};
