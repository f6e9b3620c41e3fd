/**
 * What was decided lately, on which device and when: for whoever asks themselves where a card went.
 *
 * Kept for as long as the page is open; the conversation itself keeps it for ever. The first word about a decision
 * counts, because later ones only say how far its answer is.
 */
import type { Author, ClaudeEvent, PermissionDecision } from "@/gen";
import type { Decision, Decisions } from "./decisions";

export interface Decided {
  decision: Decision;
  /** The word of the answer; absent for questions. */
  answer?: PermissionDecision;
  /** The device that answered; absent when nobody did because the process was gone. */
  deviceId?: number;
  author?: Author;
  isVoid?: boolean;
  at: number;
}

/** Newest first. */
export type DecidedList = readonly Decided[];

const KEPT = 20;

export function addDecided(list: DecidedList, fresh: Decided): DecidedList {
  const isKnown = list.some(
    ({ decision }) =>
      decision.toolUseId === fresh.decision.toolUseId && decision.conversationId === fresh.decision.conversationId,
  );
  return isKnown ? list : [fresh, ...list].slice(0, KEPT);
}

/** A machine tells that a decision is not open any more. */
export function foldDecided(
  list: DecidedList,
  open: Decisions,
  conversationId: string,
  event: ClaudeEvent,
  now: number,
): DecidedList {
  if (event.type !== "decisionAnswered" || event.state === "open") return list;
  const decision = open.find((one) => one.conversationId === conversationId && one.toolUseId === event.toolUseId);
  if (!decision) return list;
  const { decision: answer, deviceId, author, answeredAt } = event;
  const isVoid = event.state === "void";
  return addDecided(list, { decision, answer, deviceId, author, isVoid, at: answeredAt ?? now });
}

/** A machine answers what this device has sent: it was taken, or somebody was faster. */
export function resultDecided(
  list: DecidedList,
  open: Decisions,
  result: {
    conversationId: string;
    toolUseId: string;
    success: boolean;
    answeredBy?: number;
    answeredAt?: number;
  },
  me: Pick<Decided, "deviceId" | "author">,
  now: number,
): DecidedList {
  const { conversationId, toolUseId } = result;
  const decision = open.find((one) => one.conversationId === conversationId && one.toolUseId === toolUseId);
  if (!decision) return list;
  if (result.success) return addDecided(list, { decision, answer: decision.answer, ...me, at: now });
  if (result.answeredBy === undefined) return list;
  return addDecided(list, { decision, deviceId: result.answeredBy, at: result.answeredAt ?? now });
}
