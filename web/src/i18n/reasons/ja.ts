/** Reasons of the policy in Japanese. */
import type { reasons as english } from "./en";

export const reasons: typeof english = {
  alwaysAsks: (tool) => `${tool} は必ず確認します。`,
  dataFolder: (path) => `${path} は Estelle 自身のデータです。どのツールも触れられません。`,
  userMessage: (path) => `${path} はファイルに置かれたあなたのメッセージです。`,
  protectedFile: (path) => `${path} は保護されたファイルです。`,
  dangerousCommand: (command) => `${command} は危険なコマンドの一覧にあります。`,
  globalRule: "このマシンのルールに一致します:",
  workspaceRule: "このワークスペースのルールに一致します:",
  pattern: "一致するパターン:",
  readOnly: (tool) => `この会話は読み取り専用で、${tool} は何かを変更する可能性があります。`,
  sandboxDisabled: "コマンドがサンドボックスの外での実行を求めています。",
  mode: (mode) => `この会話のモード（${mode}）で許可されます。`,
  autoAllowed: (tool) => `${tool} は常に許可されます。`,
  remembered: (tool) => `この会話で ${tool} を許可しました。`,
  noRule: (subject) => `${subject} についてのルールはありません。`,
  doubts: {
    unparsable: "コマンドを解釈できません。",
    tooComplex: "長すぎるか複雑すぎて判断できません。",
    hiddenCharacters: "見えない文字が含まれています。",
    malformedInput: "ツールに必要な値がありません。",
    unreadableInput: "入力を文字として読めません。",
    computedCommand: "どのコマンドが動くかは実行時に決まります。",
    foreignCode: "ここでは判断できないコードを実行します。",
    indirection: "別のプログラムを実行させることができます。",
    unknownTarget: "何を変更するかは実行時に決まります。",
    possibleSecret: "保護されたファイルを指す可能性があります。",
    exposure: "このマシンを開くか、データを外へ送ります。",
    ownData: "Estelle 自身のデータに届く可能性があります。",
    other: "何をするのか明らかではありません。",
  },
};
