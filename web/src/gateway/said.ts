/**
 * What was said and is not settled yet, oldest first: inputs by their id, answers by the decision they are for.
 *
 * Each is said again by every new way until the gateway says what became of it. An input runs once under its id, and the
 * first answer counts; so saying either twice does no harm, and an answer that came too late is settled as well.
 */
import type { OnBusy, Up } from "./messages.ts";
import { GatewayError, type Rest } from "./rest.ts";

export type Saying =
  | { kind: "input"; id: string; content: string; onBusy?: OnBusy }
  | { kind: "answer"; id: string; up: Extract<Up, { type: "approve" | "deny" }> };

interface Settle {
  resolve(): void;
  reject(error: GatewayError): void;
}

/** Somebody was quicker, or nobody has to answer any more: either way it is settled. */
const SETTLED = ["already_answered", "decision_void"];
/** Nobody knows whether it arrived: it is said again. */
const AGAIN = ["unreachable", "timeout"];

export class Said {
  private open = new Map<string, { saying: Saying; settle: Settle }>();

  add(saying: Saying): Promise<void> {
    return new Promise((resolve, reject) => {
      this.open.set(key(saying), { saying, settle: { resolve, reject } });
    });
  }

  /** Everything that has to be said over a new way. */
  all(): Saying[] {
    return [...this.open.values()].map((one) => one.saying);
  }

  accepted(clientMessageId: string): void {
    this.settle(`input ${clientMessageId}`, null);
  }

  resolved(requestId: string): void {
    this.settle(`answer ${requestId}`, null);
  }

  /** The gateway complains about what has this id. */
  refused(id: string, error: GatewayError): void {
    this.settle(`input ${id}`, error);
    this.settle(`answer ${id}`, SETTLED.includes(error.code) ? null : error);
  }

  /** Says one over REST. What was not taken stays open. */
  async sayOver(rest: Rest, session: string, saying: Saying): Promise<void> {
    try {
      await say(rest, session, saying);
      this.settle(key(saying), null);
    } catch (error) {
      if (error instanceof GatewayError && !AGAIN.includes(error.code)) this.refused(saying.id, error);
    }
  }

  giveUp(): void {
    for (const { settle } of this.open.values()) settle.reject(new GatewayError("", "closed", 0));
    this.open.clear();
  }

  private settle(name: string, error: GatewayError | null): void {
    const waiting = this.open.get(name);
    if (!waiting) return;
    this.open.delete(name);
    if (error) waiting.settle.reject(error);
    else waiting.settle.resolve();
  }
}

/** What goes up over a WebSocket. */
export function upOf(saying: Saying): Up {
  if (saying.kind === "answer") return saying.up;
  return { type: "input", content: saying.content, client_message_id: saying.id };
}

function say(rest: Rest, session: string, saying: Saying): Promise<unknown> {
  if (saying.kind === "input") return rest.input(session, saying.content, saying.id, saying.onBusy);
  const { up } = saying;
  return up.type === "approve"
    ? rest.approve(session, up.request_id, up.answer, up.input_hash)
    : rest.deny(session, up.request_id, up.content, up.input_hash);
}

function key(saying: Saying): string {
  return `${saying.kind} ${saying.id}`;
}
