/**
 * The REST interface of one gateway. Every failure is a `GatewayError` with the code of the gateway.
 *
 * The token travels in a header, never in an address.
 */
import type {
  Cursor,
  EventPage,
  Message,
  MessagePage,
  OnBusy,
  Permission,
  Session,
  SessionStatus,
} from "./messages.ts";

export class GatewayError extends Error {
  constructor(
    message: string,
    /** For programs; `unreachable` if no answer came. */
    readonly code: string,
    readonly status: number,
    readonly currentStatus?: SessionStatus,
  ) {
    super(message);
  }
}

export interface RestOptions {
  /** Where the gateway is: `http://127.0.0.1:7711`. Empty means where the page came from. */
  base: string;
  token: string;
  fetch?: typeof fetch;
}

export class Rest {
  private readonly fetch: typeof fetch;

  constructor(private readonly options: RestOptions) {
    this.fetch = options.fetch ?? ((input, init) => fetch(input, init));
  }

  sessions(): Promise<{ sessions: Session[] }> {
    return this.call("GET", "/api/sessions");
  }

  session(id: string): Promise<{ session: Session; permissions: Permission[] }> {
    return this.call("GET", path(id));
  }

  messages(
    id: string,
    query: { limit?: number; beforeSeq?: number; afterSeq?: number; epoch?: number } = {},
  ): Promise<MessagePage> {
    const { limit, beforeSeq: before_seq, afterSeq: after_seq, epoch } = query;
    return this.call("GET", `${path(id)}/messages${queryOf({ limit, before_seq, after_seq, epoch })}`);
  }

  /** What happened after a cursor; without one nothing, only where the history ends. */
  events(id: string, after: Cursor | null): Promise<EventPage> {
    const query = after ? { after_seq: after.seq, epoch: after.epoch ?? undefined } : {};
    return this.call("GET", `${path(id)}/events${queryOf(query)}`);
  }

  input(
    id: string,
    content: string,
    clientMessageId: string,
    onBusy?: OnBusy,
  ): Promise<{ message: Pick<Message, "id" | "content"> }> {
    const more = onBusy === undefined ? {} : { on_busy: onBusy };
    return this.call("POST", `${path(id)}/input`, { content, client_message_id: clientMessageId, ...more });
  }

  /** Answers a permission, or with `answer` a question. With `inputHash` it counts for exactly what was shown. */
  approve(id: string, permissionId: string, answer?: unknown, inputHash?: string): Promise<unknown> {
    return this.decide(id, { action: "approve", permission_id: permissionId, answer, input_hash: inputHash });
  }

  deny(id: string, permissionId: string, message?: string, inputHash?: string): Promise<unknown> {
    return this.decide(id, { action: "deny", permission_id: permissionId, message, input_hash: inputHash });
  }

  private decide(id: string, answer: Record<string, unknown>): Promise<unknown> {
    return this.call("POST", `${path(id)}/approve`, answer);
  }

  stop(id: string): Promise<{ session: Session }> {
    return this.call("POST", `${path(id)}/stop`);
  }

  resume(id: string): Promise<{ session: Partial<Session>; resumed_with_history: boolean }> {
    return this.call("POST", `${path(id)}/resume`);
  }

  private async call<T>(method: string, at: string, body?: unknown): Promise<T> {
    const headers: Record<string, string> = { authorization: `Bearer ${this.options.token}` };
    if (body !== undefined) headers["content-type"] = "application/json";
    const init: RequestInit = { method, headers, cache: "no-store" };
    if (body !== undefined) init.body = JSON.stringify(body);
    const answer = await this.fetch(this.options.base + at, init).catch((cause: unknown) => {
      throw new GatewayError(cause instanceof Error ? cause.message : "", "unreachable", 0);
    });
    const value = (await answer.json().catch(() => ({}))) as T & {
      error?: string;
      code?: string;
      current_status?: SessionStatus;
    };
    if (!answer.ok) {
      throw new GatewayError(value.error ?? "", value.code ?? "unknown", answer.status, value.current_status);
    }
    return value;
  }
}

function queryOf(values: Record<string, string | number | undefined>): string {
  const given = Object.entries(values).filter((pair): pair is [string, string | number] => pair[1] !== undefined);
  return given.length > 0 ? `?${given.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&")}` : "";
}

function path(id: string): string {
  return `/api/sessions/${encodeURIComponent(id)}`;
}
