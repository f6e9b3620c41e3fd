/** Words about files that go with a message, in Korean. */
import type { attach as english } from "./en";

export const attach: typeof english = {
  button: "파일 첨부",
  camera: "사진 찍기",
  files: "사진과 파일",
  list: "다음 메시지의 파일",
  drop: "첨부하려면 여기에 파일을 놓으세요",
  alone: "첨부한 파일을 봐 주세요.",
  waiting: "차례를 기다리는 중",
  offline: "컴퓨터를 기다리는 중",
  progress: (name) => `${name} 보내는 중`,
  remove: (name) => `${name} 빼기`,
  retry: "다시 시도",
  choose: "다시 선택",
  hold: "파일이 모두 도착하면 메시지를 보낼 수 있습니다.",
  blocked: "도착하지 않은 파일을 다시 시도하거나 빼면 메시지를 보낼 수 있습니다.",
  lost: "페이지를 새로 고쳐 중단되었습니다. 이어서 보내려면 파일을 다시 선택하세요.",
  unreadable: "파일을 읽을 수 없습니다. 다시 선택하세요. 폴더는 먼저 파일 하나로 압축하세요.",
  noRoom: "공간이 없습니다. 파일당 64 MiB, 대화당 1 GiB까지입니다. 파일을 빼거나 새 대화를 시작하세요.",
  damaged: "보낸 그대로 도착하지 않았거나 도중에 바뀌었습니다. 다시 시도하세요.",
  tooLarge: (name, mib) => `${name}: 너무 큽니다. 파일은 ${mib} MiB까지입니다.`,
  tooMany: (most, leftOut) => `메시지 하나에 파일은 ${most}개까지입니다. ${leftOut}개는 빠졌습니다.`,
  ready: (name) => `${name}: 첨부되었습니다.`,
  failed: (name, why) => `${name}: 첨부되지 않았습니다. ${why}`,
  sent: "첨부한 파일",
};
