/** Plan and API in Korean. */
import type { cause as englishCause, causeHelp as englishHelp, plan as englishPlan } from "./en";

export const plan: typeof englishPlan = {
  fiveHours: "5시간 한도",
  sevenDays: "주간 한도",
  other: (window) => `‘${window}’ 한도`,
  reached: (limit) => `${limit}에 도달했습니다`,
  near: (limit, percent) => `${limit}: ${percent} 사용`,
  nearly: (limit) => `${limit}에 거의 도달했습니다`,
  resets: (moment, time) => `${moment}에 초기화, ${time} 남음`,
  overage: "지금은 요금제 밖으로 과금됩니다.",
  retrying: (why) => `${why} Claude가 스스로 다시 시도합니다`,
  tryOf: (attempt, most) => `${most}번 중 ${attempt}번째`,
  inTime: (time) => `${time} 후`,
  goOn: "그때 이어서 하기",
  goOnOff: "이어서 하지 않기",
  goesOn: "한도로 멈추면 스스로 이어서 합니다.",
  goesOnAt: (moment) => `스스로 이어서 함: ${moment}`,
  didNotGoOn: (why) => `스스로 이어서 하지 못했습니다: ${why}`,
  status: (code) => `HTTP ${code}`,
};

export const cause: typeof englishCause = {
  usage_limit: "요금제 한도에 도달했습니다.",
  rate_limit: "한 번에 요청이 너무 많습니다.",
  unauthorized: "컴퓨터가 Claude에 로그인되어 있지 않습니다.",
  billing: "계정에서 결제할 수 없습니다.",
  overloaded: "Claude가 과부하 상태입니다.",
  server: "Claude 서버에서 오류가 났습니다.",
  network: "컴퓨터가 Claude에 연결하지 못합니다.",
  invalid_request: "Claude가 요청을 거절했습니다.",
  model_not_found: "이 모델을 쓸 수 없습니다.",
  budget: "예산을 모두 썼습니다.",
  max_turns: "단계 한도에 도달했습니다.",
  aborted: "중단되었습니다.",
  other: "처리하지 못했습니다.",
};

export const causeHelp: typeof englishHelp = {
  usage_limit: "잃은 것은 없습니다. 한도가 초기화되면 다시 보내거나 다른 모델을 고르세요.",
  rate_limit: "잃은 것은 없습니다. 1분쯤 기다린 뒤 메시지를 보내 이어 가세요.",
  unauthorized: "컴퓨터에서 “claude”를 실행해 /login으로 로그인한 뒤 메시지를 보내 이어 가세요.",
  billing: "컴퓨터가 쓰는 계정을 확인한 뒤 메시지를 보내 이어 가세요.",
  overloaded: "잃은 것은 없습니다. 잠시 기다린 뒤 메시지를 보내 이어 가세요.",
  server: "잃은 것은 없습니다. 잠시 기다린 뒤 메시지를 보내 이어 가세요.",
  network: "컴퓨터의 인터넷 연결을 확인한 뒤 메시지를 보내 이어 가세요.",
  invalid_request: "반복되면 메뉴에서 새 세션을 시작하세요. 대화가 너무 길 수 있습니다.",
  model_not_found: "메뉴에서 다른 모델을 고른 뒤 메시지를 보내 이어 가세요.",
  budget: "컴퓨터 설정에서 예산을 올린 뒤 메시지를 보내 이어 가세요.",
  max_turns: "메시지를 보내 이어 가세요.",
  aborted: "메시지를 보내 이어 가세요.",
  other: "잃은 것은 없습니다. 메시지를 보내 이어 가거나 새 세션을 시작하세요.",
};
