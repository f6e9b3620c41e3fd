/**
 * What goes over REST while no socket stands: messages, answers, and a look at one conversation every few seconds.
 *
 * The relay that served the page hands `/api/` to the machine that runs beside it, with the secret and the rights of this
 * device. Conversations of other machines are not there; what is for them waits for the socket. What is read comes out as
 * the frames that a Pylon would have sent.
 */
import { GatewayError, type Message, type MessagePage, type Permission, Rest, type Session } from "@/gateway/index";
import type {
  Answer,
  ClaudeEvent,
  ConversationStatus,
  ErrorCode,
  HistoryMessage,
  Json,
  PermissionDecision,
  Question,
} from "@/gen";
import type { Decision } from "@/model/decisions";
import type { Outgoing } from "@/model/outbox";
import type { Refusal } from "@/model/refusal";
import type { Frame } from "@/model/world";

/** How often somebody looks. */
export const LOOK_MS = 3_000;
/** Rows of a look: the newest page. */
const ROWS = 60;

/** Somebody was quicker, or nobody has to answer any more. */
const SETTLED = ["already_answered", "decision_void"];
/** The machine was reached and says no, for good: a budget, a right, a state, a message that is none. */
const DEFINITE = [400, 402, 403, 409, 413, 422];

/** Where a conversation is. */
export interface Place {
  deviceId: number;
  workspaceId: string;
  conversationId: string;
}

export class Fallback {
  #timer: ReturnType<typeof setTimeout> | undefined;
  #round = 0;

  constructor(
    private readonly token: () => string | null,
    private readonly looked: (frames: Frame[]) => void,
  ) {}

  /** Says something; true once it is in the conversation, false if nobody was reached, else why it is not taken. */
  async send({ conversationId, text, clientMessageId, onBusy }: Outgoing): Promise<boolean | Refusal> {
    return this.#reached((rest) => rest.input(conversationId, text, clientMessageId, onBusy));
  }

  /** Answers what waits; true once it is decided, by whomever, else as above. */
  async decide(
    decision: Decision,
    answer: PermissionDecision | { answer: Answer },
    words?: string,
  ): Promise<boolean | Refusal> {
    // This way knows yes and no alone.
    if (typeof answer === "string" && answer !== "allow" && answer !== "deny") return false;
    const { conversationId, toolUseId, inputHash } = decision;
    return this.#reached((rest) => {
      if (typeof answer === "object") return rest.approve(conversationId, toolUseId, answer.answer, inputHash);
      if (answer === "deny") return rest.deny(conversationId, toolUseId, words, inputHash);
      return rest.approve(conversationId, toolUseId, undefined, inputHash);
    });
  }

  /** Looks at a conversation from now on, or at none. */
  look(place: Place | null): void {
    clearTimeout(this.#timer);
    this.#round += 1;
    if (place) void this.#look(place, this.#round);
  }

  async #look(place: Place, round: number): Promise<void> {
    try {
      const rest = this.#rest();
      const { session, permissions } = await rest.session(place.conversationId);
      const page = await rest.messages(place.conversationId, { limit: ROWS });
      if (round === this.#round) this.looked(framesOf(place, session, page, permissions));
    } catch (error) {
      // A conversation of another machine is not there; neither is anything for a device that was put out.
      if (error instanceof GatewayError && [401, 403, 404].includes(error.status)) return;
    }
    if (round === this.#round) this.#timer = setTimeout(() => void this.#look(place, round), LOOK_MS);
  }

  async #reached(say: (rest: Rest) => Promise<unknown>): Promise<boolean | Refusal> {
    try {
      await say(this.#rest());
      return true;
    } catch (error) {
      if (!(error instanceof GatewayError)) return false;
      if (SETTLED.includes(error.code)) return true;
      // Trying again would not help: a person has to know.
      return DEFINITE.includes(error.status) && { code: error.code as ErrorCode, words: error.message };
    }
  }

  #rest(): Rest {
    return new Rest({ base: "", token: this.token() ?? "" });
  }
}

/** What a Pylon would have sent: the newest page, then what waits for a person. */
export function framesOf(place: Place, session: Session, page: MessagePage, permissions: Permission[]): Frame[] {
  const messages = page.messages.flatMap(rowOf);
  const history = {
    ...place,
    messages,
    offset: 0,
    totalCount: page.total_count,
    hasMore: page.has_more,
    success: true,
    // Without an epoch: the ends of turns are not in it, so the first page over the next socket replaces all of it.
    headSeq: page.head_seq,
    currentStatus: permissions.length > 0 ? ("permission" as const) : statusOf(session),
  };
  const asked = permissions.map((permission) => ({
    type: "claude_event",
    payload: { ...place, event: eventOf(permission) },
  }));
  return [{ type: "history_result", payload: history }, ...asked] as Frame[];
}

function statusOf(session: Session): ConversationStatus {
  return session.status === "running" || session.status === "initializing" ? "working" : "idle";
}

function eventOf({ request_id: toolUseId, action, details, input_hash: inputHash, reason }: Permission): ClaudeEvent {
  if (action === "AskUserQuestion") {
    const { questions = [] } = details as { questions?: Question[] };
    return { type: "askQuestion", toolUseId, questions, inputHash };
  }
  return { type: "permission_request", toolName: action, toolInput: details as Json, toolUseId, inputHash, reason };
}

/** A row as the Pylon writes it. The end of a turn has no numbers here, and is left out. */
function rowOf(row: Message): HistoryMessage[] {
  const { seq, content, role } = row;
  const stamp = { seq, timestamp: Date.parse(row.timestamp) };
  const parentToolUseId = row.parent_tool_use_id;
  const call = { toolName: row.tool_name ?? "", toolUseId: row.tool_use_id, parentToolUseId };
  switch (row.type) {
    case "text":
      return [{ type: "text", ...stamp, role, content, parentToolUseId, clientMessageId: row.client_message_id }];
    case "thinking":
      return [{ type: "thinking", ...stamp, content, parentToolUseId }];
    case "tool_start":
      return [{ type: "tool_start", ...stamp, ...call, toolInput: row.tool_input as Json }];
    case "tool_complete": {
      const success = row.success ?? true;
      const said = success ? { output: content } : { output: "", error: content };
      return [{ type: "tool_complete", ...stamp, ...call, success, ...said }];
    }
    case "error":
      return [{ type: "error", ...stamp, content }];
    case "aborted":
      return [{ type: "claudeAborted", ...stamp, reason: content }];
    case "answer":
      return [{ type: "user_response", ...stamp, toolUseId: row.tool_use_id ?? "", content }];
    case "system":
      return [{ type: "system", ...stamp, content }];
    case "result":
      return [];
  }
}
