/** Reasons of the policy in Korean. */
import type { reasons as english } from "./en";

export const reasons: typeof english = {
  alwaysAsks: (tool) => `${tool}은(는) 항상 물어봅니다.`,
  dataFolder: (path) => `${path}은(는) Estelle의 데이터입니다. 어떤 도구도 건드릴 수 없습니다.`,
  userMessage: (path) => `${path}은(는) 파일로 저장된 내 메시지입니다.`,
  protectedFile: (path) => `${path}은(는) 보호된 파일입니다.`,
  dangerousCommand: (command) => `${command}은(는) 위험한 명령 목록에 있습니다.`,
  globalRule: "이 컴퓨터에 대한 내 규칙과 일치합니다:",
  workspaceRule: "이 작업 공간에 대한 내 규칙과 일치합니다:",
  pattern: "일치하는 패턴:",
  readOnly: (tool) => `이 대화는 읽기 전용이며, ${tool}은(는) 무언가를 바꿀 수 있습니다.`,
  sandboxDisabled: "명령이 샌드박스 밖에서 실행되려 합니다.",
  mode: (mode) => `이 대화의 모드(${mode})가 허용합니다.`,
  autoAllowed: (tool) => `${tool}은(는) 항상 허용됩니다.`,
  remembered: (tool) => `이 대화에서 ${tool}을(를) 허용했습니다.`,
  noRule: (subject) => `${subject}에 대한 규칙이 없습니다.`,
  doubts: {
    unparsable: "명령을 해석할 수 없습니다.",
    tooComplex: "너무 길거나 복잡해서 판단할 수 없습니다.",
    hiddenCharacters: "보이지 않는 문자가 있습니다.",
    malformedInput: "도구에 필요한 값이 없습니다.",
    unreadableInput: "입력을 글자로 읽을 수 없습니다.",
    computedCommand: "어떤 명령이 실행될지 실행할 때 정해집니다.",
    foreignCode: "여기서 판단할 수 없는 코드를 실행합니다.",
    indirection: "다른 프로그램을 실행할 수 있습니다.",
    unknownTarget: "무엇을 바꿀지 실행할 때 알 수 있습니다.",
    possibleSecret: "보호된 파일을 가리킬 수 있습니다.",
    exposure: "이 컴퓨터를 열거나 데이터를 밖으로 보냅니다.",
    ownData: "Estelle의 데이터에 닿을 수 있습니다.",
    other: "무엇을 할지 분명하지 않습니다.",
  },
};
