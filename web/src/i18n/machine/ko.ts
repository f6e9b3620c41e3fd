/** Words about machines in Korean. */
import type { machineWords as english } from "./en";

export const machineWords: typeof english = {
  version: {
    title: "버전",
    look: "새 버전 확인",
    looking: "확인하는 중…",
    runs: (version) => `실행 중: ${version}`,
    unknown: "버전을 알 수 없음",
    nothing: "게시된 버전이 없습니다",
    published: (version) => `게시됨: ${version}`,
    same: "최신입니다",
    other: "이 컴퓨터는 다른 버전을 실행합니다",
    phone: "휴대폰 앱",
    desktop: "데스크톱 앱",
  },
  report: {
    title: "문제 신고",
    help: "신고 내용은 빌드 정보와 관련 대화와 함께 내 컴퓨터에 남습니다. 다른 곳으로 보내지 않습니다.",
    what: "무슨 일이 있었고, 무엇을 기대했나요?",
    about: "관련 대화:",
    send: "신고 남기기",
    kept: (machine) => `${machine}에 신고를 남겼습니다.`,
  },
  tasks: {
    add: "새 할 일",
    title: "제목",
    content: "무엇을 해야 하나요",
    where: "작업 공간",
    mark: "상태 바꾸기",
    blank: "내용이 없습니다.",
    cut: "나머지는 파일에 있습니다.",
  },
};
