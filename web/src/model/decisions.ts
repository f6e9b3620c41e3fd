/**
 * What waits for a person, over all conversations and machines.
 *
 * A decision is there from the moment it is asked until somebody answers it or it becomes void. After a reconnect the
 * Pylon says again what is open; what it does not repeat is gone, so that no card stays which nobody waits for.
 */
import type { ClaudeEvent, DecisionKind, PermissionDecision, Question } from "@/gen";
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
  inputHash?: string;
  parent?: string;
  askedAt: number;
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

export function foldDecisions(decisions: Decisions, origin: Origin, event: ClaudeEvent, at: number): Decisions {
  const { conversationId } = origin;
  switch (event.type) {
    case "permission_request": {
      const {
        toolUseId,
        toolName,
        toolInput: input,
        kind = "permission",
        reason,
        inputHash,
        parentToolUseId: parent,
      } = event;
      return opened(decisions, {
        ...origin,
        toolUseId,
        kind,
        toolName,
        input,
        questions: [],
        reason,
        inputHash,
        parent,
        askedAt: at,
      });
    }
    case "askQuestion": {
      const { toolUseId, questions, parentToolUseId: parent } = event;
      return opened(decisions, {
        ...origin,
        toolUseId,
        kind: "question",
        toolName: "AskUserQuestion",
        questions,
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
      return event.state === "permission"
        ? decisions
        : without(decisions, (one) => one.conversationId === conversationId);
    case "process_paused":
      return without(decisions, (one) => one.conversationId === conversationId);
    default:
      return decisions;
  }
}

/** Nothing of this conversation is known to be open; the Pylon will say what is. */
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
