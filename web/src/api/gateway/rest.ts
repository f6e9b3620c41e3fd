/**
 * The REST interface of one gateway. Every failure is a `GatewayError` with the code of the gateway.
 *
 * The token travels in a header, never in an address.
 */
import type { Message, MessagePage, Permission, Session, SessionStatus } from "./messages";

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

  messages(id: string, query: { limit?: number; beforeSeq?: number; afterSeq?: number } = {}): Promise<MessagePage> {
    const names = { limit: query.limit, before_seq: query.beforeSeq, after_seq: query.afterSeq };
    const given = Object.entries(names).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]));
    return this.call("GET", `${path(id)}/messages${given.length > 0 ? `?${given.join("&")}` : ""}`);
  }

  input(id: string, content: string, clientMessageId: string): Promise<{ message: Pick<Message, "id" | "content"> }> {
    return this.call("POST", `${path(id)}/input`, { content, client_message_id: clientMessageId });
  }

  /** Answers a permission, or with `answer` a question. */
  approve(id: string, permissionId: string, answer?: unknown): Promise<unknown> {
    const more = answer === undefined ? {} : { answer };
    return this.call("POST", `${path(id)}/approve`, { action: "approve", permission_id: permissionId, ...more });
  }

  deny(id: string, permissionId: string, message?: string): Promise<unknown> {
    const more = message === undefined ? {} : { message };
    return this.call("POST", `${path(id)}/approve`, { action: "deny", permission_id: permissionId, ...more });
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

function path(id: string): string {
  return `/api/sessions/${encodeURIComponent(id)}`;
}
