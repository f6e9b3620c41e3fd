/** Words for what did not go as it should, in Korean. */
import type { faultWords as english } from "./en";

export const faultWords: typeof english = {
  broken: {
    view: "이 화면을 표시할 수 없습니다",
    row: "이 항목을 표시할 수 없습니다.",
    card: "여기에 표시할 수 없는 요청이 있습니다. 페이지를 새로 고치거나 다른 기기에서 답하세요.",
    help: "대화는 계속 진행되고 작성한 내용도 보관됩니다. 페이지를 새로 고치세요.",
    part: "앱의 일부를 불러오지 못했습니다",
    partHelp: "연결이 끊겼거나 새 버전이 나왔습니다. 페이지를 새로 고치세요. 작성한 내용은 보관됩니다.",
    machineSays: "컴퓨터의 말:",
    reload: "페이지 새로 고침",
    details: "자세히",
  },
};
