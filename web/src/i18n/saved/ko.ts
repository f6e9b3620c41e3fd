/** Words about saved sessions in Korean. */
import type { saved as english } from "./en";

export const saved: typeof english = {
  title: (workspace) => `${workspace}의 저장된 세션`,
  menu: "저장된 세션",
  menuHelp: "Estelle 없이 한 작업까지, Claude가 이 폴더에서 한 일입니다.",
  help: "터미널에서 한 작업까지, Claude Code가 이 폴더에 저장한 모든 것입니다. 읽어 본 다음 사본으로 이어 가세요.",
  offline: "컴퓨터가 다시 연결되면 저장된 세션을 볼 수 있습니다.",
  none: "저장된 것이 없습니다",
  noneHelp: "이 폴더에서 `claude`로 시작한 세션이 여기에 나타납니다.",
  unnamed: "이름 없음",
  byProgram: "프로그램이 시작함",
  isHere: "여기에 있는 대화",
  more: "더 오래된 것 보기",
  further: "계속 읽기",
  all: "저장된 세션 전체",
  blank: "나눈 말이 없습니다.",
  goOn: "대화로 이어 가기",
  goOnHelp: "사본으로 새 대화를 시작합니다. 세션 자체는 그대로 남습니다.",
};
