/**
 * A session over REST: asks for what happened after the cursor, at once while there is more and then every few seconds.
 *
 * What it tells are the messages of the WebSocket, none of them provisional. It remembers what is open, so that a decision
 * that somebody else made is told as well. It decides nothing about when to begin and when to end.
 */
import type { Cursor, Down, EventPage, SessionStatus } from "./messages.ts";
import { GatewayError, type Rest } from "./rest.ts";

export const POLL_MS = 3_000;

export interface FollowerOptions {
  rest: Rest;
  session: string;
  /** A message of the session, in order. */
  message(message: Down): void;
  /** The history began anew: the cursor meant nothing there. What was shown is void. */
  anew(): void;
  /** Asking is of no use any more: no token, no such session. */
  refused(error: GatewayError): void;
  /** A question was answered, or not; what waits can be said again. */
  asked?(): void;
  pollMs?: number;
}

/** What a client knows of a session. Whoever goes on by another way takes it along. */
export class Known {
  cursor: Cursor | null = null;
  status: SessionStatus | null = null;
  /** The decisions that were told and are open. */
  readonly asked = new Set<string>();

  /** The history began anew, and nothing of it is known. */
  forget(): void {
    this.cursor = null;
    this.status = null;
    this.asked.clear();
  }

  /** Takes a message in, before it is told. */
  learn(message: Down): void {
    if (message.seq !== undefined) {
      const epoch = message.epoch ?? null;
      const isBehind = this.cursor !== null && this.cursor.epoch === epoch && this.cursor.seq > message.seq;
      if (!isBehind) this.cursor = { seq: message.seq, epoch };
    }
    if (message.type === "status_change") this.status = message.status;
    if (message.type === "permission_request") this.asked.add(message.permission.request_id);
    if (message.type === "permission_resolved") this.asked.delete(message.request_id);
  }

  /** Decisions that were open and are not among these any more: somebody made them. */
  resolved(open: ReadonlySet<string>): Down[] {
    const gone = [...this.asked].filter((id) => !open.has(id));
    return gone.map((request_id) => ({ type: "permission_resolved", request_id }));
  }
}

export class Follower {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private isOver = false;

  constructor(
    private readonly options: FollowerOptions,
    private readonly known: Known = new Known(),
  ) {
    void this.poll();
  }

  stop(): void {
    this.isOver = true;
    clearTimeout(this.timer);
  }

  private async poll(): Promise<void> {
    try {
      await catchUp(this.options, this.known, () => this.isOver);
    } catch (error) {
      if (this.isOver) return;
      if (error instanceof GatewayError && [401, 403, 404].includes(error.status)) {
        this.stop();
        return this.options.refused(error);
      }
    }
    if (this.isOver) return;
    this.options.asked?.();
    this.timer = setTimeout(() => void this.poll(), this.options.pollMs ?? POLL_MS);
  }
}

/** Reads everything after the cursor. What is known is taken along page by page, so breaking off loses nothing. */
export async function catchUp(
  to: Pick<FollowerOptions, "rest" | "session" | "message" | "anew">,
  known: Known,
  isOver: () => boolean,
): Promise<void> {
  for (;;) {
    const page = await pageAfter(to, known);
    if (isOver()) return;
    for (const message of page.events) tell(to, known, message);
    known.cursor = { seq: page.seq, epoch: page.epoch };
    if (page.has_more) continue;
    tellStanding(to, known, page);
    return;
  }
}

async function pageAfter(to: Pick<FollowerOptions, "rest" | "session" | "anew">, known: Known): Promise<EventPage> {
  try {
    return await to.rest.events(to.session, known.cursor);
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== "stale_cursor") throw error;
    known.forget();
    to.anew();
    return to.rest.events(to.session, null);
  }
}

function tellStanding(to: Pick<FollowerOptions, "message">, known: Known, page: EventPage): void {
  const open = new Set(page.permissions.map((permission) => permission.request_id));
  for (const message of known.resolved(open)) tell(to, known, message);
  for (const permission of page.permissions) {
    if (!known.asked.has(permission.request_id)) tell(to, known, { type: "permission_request", permission });
  }
  if (page.status !== known.status) tell(to, known, { type: "status_change", status: page.status });
}

function tell(to: Pick<FollowerOptions, "message">, known: Known, message: Down): void {
  known.learn(message);
  to.message(message);
}
