/** Words about files that go with a message, in Japanese. */
import type { attach as english } from "./en";

export const attach: typeof english = {
  button: "ファイルを添付",
  camera: "写真を撮る",
  files: "写真とファイル",
  list: "次のメッセージのファイル",
  drop: "ここにファイルを置くと添付されます",
  alone: "添付したファイルを見てください。",
  waiting: "順番を待っています",
  offline: "マシンを待っています",
  progress: (name) => `${name} を送信中`,
  remove: (name) => `${name} を外す`,
  retry: "もう一度試す",
  choose: "選び直す",
  hold: "すべてのファイルが届くとメッセージを送れます。",
  blocked: "届いていないファイルをもう一度試すか外すと、メッセージを送れます。",
  lost: "ページの再読み込みで中断されました。続けるにはファイルを選び直してください。",
  unreadable: "ファイルを読めません。選び直してください。フォルダーは先に一つのファイルにまとめてください。",
  noRoom: "空きがありません。ファイルは 64 MiB、会話は 1 GiB までです。外すか、新しい会話を始めてください。",
  damaged: "送ったとおりに届かなかったか、途中で変わりました。もう一度試してください。",
  tooLarge: (name, mib) => `${name} は大きすぎます。ファイルは ${mib} MiB までです。`,
  tooMany: (most, leftOut) => `一つのメッセージに付けられるファイルは ${most} 個までです。${leftOut} 個は外しました。`,
  ready: (name) => `${name} を添付しました。`,
  failed: (name, why) => `${name} は添付されていません。${why}`,
  sent: "添付したファイル",
};
