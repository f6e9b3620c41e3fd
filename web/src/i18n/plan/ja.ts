/** Plan and API in Japanese. */
import type { cause as englishCause, causeHelp as englishHelp, plan as englishPlan } from "./en";

export const plan: typeof englishPlan = {
  fiveHours: "5 時間の上限",
  sevenDays: "週間の上限",
  other: (window) => `「${window}」の上限`,
  reached: (limit) => `${limit}に達しました`,
  near: (limit, percent) => `${limit}: ${percent} 使用`,
  nearly: (limit) => `${limit}に近づいています`,
  resets: (moment, time) => `${moment} にリセット、あと ${time}`,
  overage: "現在はプランを超えて課金されています。",
  retrying: (why) => `${why}Claude が自動で再試行します`,
  tryOf: (attempt, most) => `${most} 回中 ${attempt} 回目`,
  inTime: (time) => `${time} 後`,
  goOn: "そのとき自動で続ける",
  goOnOff: "自動で続けない",
  goesOn: "上限で止まったら自動で続けます。",
  goesOnAt: (moment) => `自動で続ける: ${moment}`,
  didNotGoOn: (why) => `自動で続けられませんでした: ${why}`,
  status: (code) => `HTTP ${code}`,
};

export const cause: typeof englishCause = {
  usage_limit: "プランの上限に達しました。",
  rate_limit: "一度の要求が多すぎます。",
  unauthorized: "このマシンは Claude にログインしていません。",
  billing: "アカウントで支払いができません。",
  overloaded: "Claude が混み合っています。",
  server: "Claude のサーバーで問題が起きました。",
  network: "マシンが Claude に接続できません。",
  invalid_request: "Claude が要求を拒否しました。",
  model_not_found: "このモデルは利用できません。",
  budget: "予算を使い切りました。",
  max_turns: "ステップの上限に達しました。",
  aborted: "中断されました。",
  other: "うまくいきませんでした。",
};

export const causeHelp: typeof englishHelp = {
  usage_limit: "何も失われていません。上限がリセットされたらもう一度送るか、別のモデルを選んでください。",
  rate_limit: "何も失われていません。1 分ほど待ってからメッセージを送ると続きます。",
  unauthorized: "マシンで「claude」を実行し、/login でログインしてからメッセージを送ってください。",
  billing: "マシンが使うアカウントを確認してからメッセージを送ってください。",
  overloaded: "何も失われていません。少し待ってからメッセージを送ると続きます。",
  server: "何も失われていません。少し待ってからメッセージを送ると続きます。",
  network: "マシンのインターネット接続を確認してからメッセージを送ってください。",
  invalid_request: "繰り返す場合はメニューから新しいセッションを始めてください。会話が長すぎる可能性があります。",
  model_not_found: "メニューで別のモデルを選んでからメッセージを送ってください。",
  budget: "マシンの設定で予算を上げてからメッセージを送ってください。",
  max_turns: "メッセージを送ると続きます。",
  aborted: "メッセージを送ると続きます。",
  other: "何も失われていません。メッセージを送って続けるか、新しいセッションを始めてください。",
};
