/**
 * What waits for a person, over all conversations and machines.
 *
 * A decision is there from the moment it is asked until somebody answers it or it becomes void. After every list and
 * every page the Pylon says again what is open in a conversation: its state, then each decision in the order in which it
 * was asked, none of them numbered. Until then cards stay as they are, with what a person has filled in; what is not
 * repeated is gone, so that no card stays which nobody waits for.
 */
import type { ClaudeEvent, DecisionKind, PermissionDecision, PolicyReason, Question } from "@/gen";
import type { Refusal } from "./refusal";

export interface Decision {
  deviceId: number;
  workspaceId: string;
  conversationId: string;
  toolUseId: string;
  kind: DecisionKind;
  toolName: string;
  input?: unknown;
  questions: readonly Question[];
  reason?: string;
  /** The same as the policy knows it, to be told in any language. */
  why?: PolicyReason;
  inputHash?: string;
  parent?: string;
  askedAt: number;
  /** Since when the machine has been saying again what is open, if it has not named this one yet. */
  doubtedAt?: number;
  /** This device has answered and waits for the confirmation. */
  sent?: boolean;
  /** What it has answered. */
  answer?: PermissionDecision;
  /** The answer did not get through: why, for a program and in words of the machine. */
  refusal?: Refusal;
}

/** Which call an answer is about: this very input of it. */
export type Call = Pick<Decision, "conversationId" | "toolUseId" | "inputHash">;

export function isSameCall(one: Call, other: Call): boolean {
  return isOf(one, other) && one.inputHash === other.inputHash;
}

function isOf(one: Omit<Call, "inputHash">, other: Omit<Call, "inputHash">): boolean {
  return one.conversationId === other.conversationId && one.toolUseId === other.toolUseId;
}

/** Where an event comes from. */
export interface Origin {
  deviceId: number;
  workspaceId: string;
  conversationId: string;
}

export type Decisions = readonly Decision[];

/** When something happened; and when it was said again, if it was, for somebody who may have missed it. */
export interface Telling {
  at: number;
  repeatedAt?: number;
}

export function foldDecisions(decisions: Decisions, origin: Origin, event: ClaudeEvent, telling: Telling): Decisions {
  const { conversationId } = origin;
  const { at, repeatedAt } = telling;
  switch (event.type) {
    case "permission_request": {
      const {
        toolUseId,
        toolName,
        toolInput: input,
        kind = "permission",
        reason,
        why,
        inputHash,
        parentToolUseId: parent,
      } = event;
      return opened(repeatedAt === undefined ? decisions : named(decisions, event, origin), {
        ...origin,
        toolUseId,
        kind,
        toolName,
        input,
        questions: [],
        reason,
        why,
        inputHash,
        parent,
        askedAt: at,
      });
    }
    case "askQuestion": {
      const { toolUseId, questions, inputHash, parentToolUseId: parent } = event;
      return opened(repeatedAt === undefined ? decisions : named(decisions, event, origin), {
        ...origin,
        toolUseId,
        kind: "question",
        toolName: "AskUserQuestion",
        questions,
        inputHash,
        parent,
        askedAt: at,
      });
    }
    case "decisionAnswered":
    case "toolComplete": {
      const { toolUseId } = event;
      if (event.type === "decisionAnswered" && event.state === "open") return decisions;
      return toolUseId === undefined ? decisions : closed(decisions, { conversationId, toolUseId });
    }
    case "state":
      if (event.state !== "permission") return forgetConversation(decisions, conversationId);
      return repeatedAt === undefined ? decisions : doubted(decisions, conversationId, repeatedAt);
    case "process_paused":
      return forgetConversation(decisions, conversationId);
    default:
      return decisions;
  }
}

/** The Pylon begins to say what is open in a conversation. */
function doubted(decisions: Decisions, conversationId: string, at: number): Decisions {
  return decisions.map((one) => (one.conversationId === conversationId ? { ...one, doubtedAt: at } : one));
}

/** The Pylon names one that is open: those that were asked before it and were not named are not. */
function named(decisions: Decisions, { toolUseId }: { toolUseId: string }, { conversationId }: Origin): Decisions {
  const at = decisions.findIndex((one) => isOf(one, { conversationId, toolUseId }));
  const before = new Set(at < 0 ? decisions : decisions.slice(0, at));
  return without(
    decisions,
    (one) => before.has(one) && one.doubtedAt !== undefined && one.conversationId === conversationId,
  );
}

/** The Pylon has named everything that is open in a conversation since it began to at `at`. */
export function settled(decisions: Decisions, conversationId: string, at: number): Decisions {
  return without(
    decisions,
    (one) => one.conversationId === conversationId && one.doubtedAt !== undefined && one.doubtedAt <= at,
  );
}

/** Nothing waits for a person in this conversation. */
export function forgetConversation(decisions: Decisions, conversationId: string): Decisions {
  return without(decisions, (one) => one.conversationId === conversationId);
}

export function changeDecision(
  decisions: Decisions,
  call: Omit<Call, "inputHash">,
  change: Partial<Decision>,
): Decisions {
  return decisions.map((one) => (isOf(one, call) ? { ...one, ...change } : one));
}

/** Takes away what is not open any more. */
export function closed(decisions: Decisions, call: Omit<Call, "inputHash">): Decisions {
  return without(decisions, (one) => isOf(one, call));
}

/** Keeps only what `keeps` wants, and the same list if that is everything. */
export function without(decisions: Decisions, drops: (decision: Decision) => boolean): Decisions {
  return decisions.some(drops) ? decisions.filter((one) => !drops(one)) : decisions;
}

function opened(decisions: Decisions, decision: Decision): Decisions {
  const known = decisions.find((one) => isOf(one, decision));
  if (!known) return [...decisions, decision];
  // Said again after a reconnect: it keeps its place and its age. Asked with another input, it is another question.
  const { askedAt, sent, answer } = known;
  const kept = isSameCall(known, decision) ? { askedAt: Math.min(askedAt, decision.askedAt), sent, answer } : {};
  return decisions.map((one) => (one === known ? { ...decision, ...kept } : one));
}
