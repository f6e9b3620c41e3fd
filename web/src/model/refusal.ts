/** Why something was not done: the code for programs, and what the machine said about it. */
import type { ErrorCode } from "@/gen";

export interface Refusal {
  code?: ErrorCode | "offline" | "timeout" | "unreadable";
  /** The machine's own words, which may be in another language than the reader's. */
  words: string;
}

export function refusalOf({ error, errorCode }: { error?: string; errorCode?: ErrorCode }): Refusal {
  return { code: errorCode, words: error ?? "" };
}
