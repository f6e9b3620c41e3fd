/**
 * One session of a gateway, as long as somebody looks at it: over its WebSocket while that stands, over REST when not.
 *
 * A lost socket is tried again at once and then five times (`retry.ts`); each connection begins with what was missed since
 * the last one. After that the client goes on over REST: it asks for new messages and the state every few seconds, and
 * what is said goes up as requests. `reconnect` begins anew. An input has an id from the start, so whichever way it
 * takes, and however often, it runs once.
 */
import type { Down, Message, SessionStatus, Up } from "./messages";
import { GatewayError, Rest, type RestOptions } from "./rest";
import { failuresAfter, waitAfter } from "./retry";

export type Way = "connecting" | "socket" | "rest" | "closed";

export interface SessionEvents {
  /** A message of the session, in order. */
  message(message: Down): void;
  /** A new connection: provisional output (`final: false`) that was not completed is void and comes again. */
  rewound?(): void;
  /** By which way the session is reached now. */
  way?(way: Way): void;
}

/** What the client needs of a WebSocket. */
export interface SocketLike {
  send(text: string): void;
  close(): void;
  onopen: (() => void) | null;
  onclose: ((event: { code: number }) => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
}

export interface SessionOptions extends RestOptions {
  session: string;
  events: SessionEvents;
  /** Where WebSockets are; made from `base` if absent. */
  open?: (url: string) => SocketLike;
  /** Milliseconds between questions over REST. */
  pollMs?: number;
  now?: () => number;
}

/** The gateway says that trying again is of no use: no token, no such session. */
const FINAL_CODES = [4401, 4404];
const POLL_MS = 3_000;

export class SessionClient {
  readonly rest: Rest;
  private way: Way = "connecting";
  private socket: SocketLike | null = null;
  private since: number | null = null;
  private failures = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private cursor: { seq: number; epoch: number } | null = null;
  private status: SessionStatus | null = null;
  private asked = new Set<string>();
  /** Inputs that went up and were not accepted yet, oldest first. */
  private open = new Map<string, { content: string; settle: Settle }>();

  constructor(private readonly options: SessionOptions) {
    this.rest = new Rest(options);
    this.connect();
  }

  /** Says something. Settles when it is in the log of the session, or was refused. */
  input(content: string, clientMessageId: string = crypto.randomUUID()): Promise<void> {
    return new Promise((resolve, reject) => {
      this.open.set(clientMessageId, { content, settle: { resolve, reject } });
      this.push(clientMessageId, content);
    });
  }

  async approve(requestId: string, answer?: unknown): Promise<void> {
    const more = answer === undefined ? {} : { answer };
    if (!this.up({ type: "approve", request_id: requestId, ...more })) {
      await this.rest.approve(this.options.session, requestId, answer);
    }
  }

  async deny(requestId: string, content?: string): Promise<void> {
    const more = content === undefined ? {} : { content };
    if (!this.up({ type: "deny", request_id: requestId, ...more })) {
      await this.rest.deny(this.options.session, requestId, content);
    }
  }

  /** Tries the WebSocket again, for example because a person asks for it. */
  reconnect(): void {
    if (this.way === "closed" || this.way === "socket") return;
    this.failures = 0;
    this.drop();
    this.connect();
  }

  /** Looks no longer. What was said and is not accepted yet is given up. */
  close(): void {
    this.enter("closed");
    this.drop();
    for (const { settle } of this.open.values()) settle.reject(new GatewayError("", "closed", 0));
    this.open.clear();
  }

  private drop(): void {
    clearTimeout(this.timer);
    const socket = this.socket;
    this.socket = null;
    if (!socket) return;
    socket.onopen = socket.onclose = socket.onmessage = null;
    socket.close();
  }

  private enter(way: Way): void {
    if (this.way === way) return;
    this.way = way;
    this.options.events.way?.(way);
  }

  private connect(): void {
    this.enter("connecting");
    const cursor = this.cursor ? `?after_seq=${this.cursor.seq}&epoch=${this.cursor.epoch}` : "";
    const id = encodeURIComponent(this.options.session);
    const url = `${this.options.base.replace(/^http/, "ws")}/ws/sessions/${id}${cursor}`;
    const open = this.options.open ?? ((at: string) => new WebSocket(at) as unknown as SocketLike);
    const socket = open(url);
    this.socket = socket;
    this.since = null;
    socket.onopen = () => {
      this.since = this.now();
      socket.send(JSON.stringify({ type: "auth", token: this.options.token } satisfies Up));
      this.options.events.rewound?.();
      this.enter("socket");
      for (const [id, { content }] of this.open) this.push(id, content);
    };
    socket.onmessage = (event) => this.hear(event.data);
    socket.onclose = (event) => this.lost(event.code);
  }

  private lost(code: number): void {
    this.drop();
    if (this.way === "closed") return;
    if (FINAL_CODES.includes(code)) {
      const why = code === 4401 ? "auth_failed" : "unknown_session";
      this.options.events.message({ type: "error", content: "", code: why });
      this.close();
      return;
    }
    this.failures = failuresAfter(this.failures, this.since === null ? null : this.now() - this.since);
    const wait = waitAfter(this.failures);
    if (wait === "rest") {
      this.goByRest();
      return;
    }
    this.enter("connecting");
    this.timer = setTimeout(() => this.connect(), wait.after);
  }

  private hear(data: unknown): void {
    if (typeof data !== "string") return;
    const message = JSON.parse(data) as Down;
    if (message.seq !== undefined && message.epoch !== undefined) {
      this.cursor = { seq: message.seq, epoch: message.epoch };
    }
    if (message.type === "accepted") this.settle(message.client_message_id, null);
    if (message.type === "error" && message.about !== undefined) {
      this.settle(message.about, new GatewayError(message.content, message.code ?? "unknown", 0));
    }
    if (message.type === "error" && message.code === "stale_cursor") this.cursor = null;
    if (message.type === "status_change") this.status = message.status;
    if (message.type === "permission_request") this.asked.add(message.permission.request_id);
    this.options.events.message(message);
  }

  private settle(id: string, error: GatewayError | null): void {
    const waiting = this.open.get(id);
    if (!waiting) return;
    this.open.delete(id);
    if (error) waiting.settle.reject(error);
    else waiting.settle.resolve();
  }

  private up(message: Up): boolean {
    if (this.way !== "socket" || !this.socket) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }

  private push(id: string, content: string): void {
    if (this.up({ type: "input", content, client_message_id: id }) || this.way !== "rest") return;
    this.rest.input(this.options.session, content, id).then(
      () => this.settle(id, null),
      (error: GatewayError) => {
        // What could not be reached is said again with the next question.
        if (error.code !== "unreachable") this.settle(id, error);
      },
    );
  }

  private goByRest(): void {
    this.enter("rest");
    for (const [id, { content }] of this.open) this.push(id, content);
    void this.poll();
  }

  private async poll(): Promise<void> {
    try {
      await this.ask();
    } catch (error) {
      if (error instanceof GatewayError && [401, 404].includes(error.status) && this.way === "rest") {
        this.options.events.message({ type: "error", content: error.message, code: error.code });
        return this.close();
      }
    }
    if (this.way !== "rest") return;
    for (const [id, { content }] of this.open) this.push(id, content);
    this.timer = setTimeout(() => void this.poll(), this.options.pollMs ?? POLL_MS);
  }

  /** Asks over REST for what the WebSocket would have told. */
  private async ask(): Promise<void> {
    const { session, permissions } = await this.rest.session(this.options.session);
    const after = this.cursor ? { afterSeq: this.cursor.seq } : { limit: 1 };
    const page = await this.rest.messages(this.options.session, after);
    if (this.way !== "rest") return;
    if (this.cursor) for (const entry of page.messages) this.tell(entry);
    const seq = page.has_more ? (page.messages.at(-1)?.seq ?? page.head_seq) : page.head_seq;
    if (page.epoch !== null) this.cursor = { seq, epoch: page.epoch };
    for (const permission of permissions) {
      if (this.asked.has(permission.request_id)) continue;
      this.asked.add(permission.request_id);
      this.options.events.message({ type: "permission_request", permission });
    }
    if (session.status !== this.status) {
      this.status = session.status;
      this.options.events.message({ type: "status_change", status: session.status });
    }
  }

  private tell(entry: Message): void {
    const message = this.options.events.message.bind(this.options.events);
    if (entry.type === "text" && entry.role === "assistant") {
      const said = entry.parent_tool_use_id
        ? { sub_agent: { name: "sub-agent", output: entry.content } }
        : { content: entry.content };
      message({ type: "output", ...said, final: true, seq: entry.seq });
    }
    if (entry.type === "error") message({ type: "error", content: entry.content, seq: entry.seq });
    if (entry.type === "system") {
      message({ type: "output", content: `[System] ${entry.content}`, final: true, seq: entry.seq });
    }
  }

  private now(): number {
    return (this.options.now ?? Date.now)();
  }
}

interface Settle {
  resolve(): void;
  reject(error: GatewayError): void;
}
