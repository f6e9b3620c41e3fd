/**
 * One session of a gateway, as long as somebody looks at it: over its WebSocket while that stands, over REST when not.
 *
 * A lost socket is tried again at once and then five times (`retry.ts`); each connection begins with what was missed since
 * the last one, and the client knows that it has all of it when the gateway says `caught_up`. After the last try it goes on
 * over REST (`follower.ts`). `reconnect` begins anew. What was said is said again by every new way (`said.ts`).
 */
import { catchUp, Follower, Known } from "./follower.ts";
import type { Down, Up } from "./messages.ts";
import { GatewayError, Rest, type RestOptions } from "./rest.ts";
import { failuresAfter, waitAfter } from "./retry.ts";
import { Said, type Saying, upOf } from "./said.ts";

export type Way = "connecting" | "socket" | "rest" | "closed";

export interface SessionEvents {
  /** A message of the session, in order. */
  message(message: Down): void;
  /** Another way: provisional output (`final: false`) that was not completed is void and comes again. */
  rewound?(): void;
  /** The history began anew: everything shown is void. Read what you show with `rest.messages`; what follows is new. */
  anew?(): void;
  /** By which way the session is reached now. */
  way?(way: Way): void;
}

/** What the client needs of a WebSocket. */
export interface SocketLike {
  send(text: string): void;
  close(): void;
  onopen: (() => void) | null;
  onclose: ((event: { code: number }) => void) | null;
  /** Some tell of a connection that never stood by this alone. */
  onerror?: (() => void) | null;
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

/** The most that a message may have. */
export const MAX_INPUT_BYTES = 512 * 1024;

/** What no gateway takes is not sent: one that is too large would break the connection, again and again. */
function whatIsWrong(content: string): GatewayError | null {
  if (content.trim() === "") return new GatewayError("a message must say something", "invalid_message", 400);
  if (new TextEncoder().encode(content).length <= MAX_INPUT_BYTES) return null;
  return new GatewayError(`a message has at most ${MAX_INPUT_BYTES} bytes`, "too_large", 413);
}

/** One connection: what was told since it stands. */
interface Connection {
  socket: SocketLike;
  /** When it stood. */
  since: number | null;
  /** The open decisions that it told, until it has told all. */
  told: Set<string> | null;
  /** What came while the rest of what was missed is read over REST. */
  held: Down[] | null;
}

export class SessionClient {
  readonly rest: Rest;
  private way: Way = "connecting";
  private connection: Connection | null = null;
  private follower: Follower | null = null;
  private failures = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly known = new Known();
  private readonly said = new Said();

  constructor(private readonly options: SessionOptions) {
    this.rest = new Rest(options);
    this.connect();
  }

  /** Says something. Settles when it is in the log of the session, or was refused. */
  input(content: string, clientMessageId: string = crypto.randomUUID()): Promise<void> {
    const wrong = whatIsWrong(content);
    if (wrong) return Promise.reject(wrong);
    return this.say({ kind: "input", id: clientMessageId, content });
  }

  /** Allows what is asked, or with `answer` answers it. Settles when the decision is made, by whomever. */
  approve(requestId: string, answer?: unknown, inputHash?: string): Promise<void> {
    const up: Up = { type: "approve", request_id: requestId, answer, input_hash: inputHash };
    return this.say({ kind: "answer", id: requestId, up });
  }

  deny(requestId: string, content?: string, inputHash?: string): Promise<void> {
    const up: Up = { type: "deny", request_id: requestId, content, input_hash: inputHash };
    return this.say({ kind: "answer", id: requestId, up });
  }

  /** Tries the WebSocket again, for example because a person asks for it. */
  reconnect(): void {
    if (this.way === "closed" || this.way === "socket") return;
    this.failures = 0;
    this.drop();
    this.connect();
  }

  /** Looks no longer. What was said and is not settled yet is given up. */
  close(): void {
    this.enter("closed");
    this.drop();
    this.said.giveUp();
  }

  private drop(): void {
    clearTimeout(this.timer);
    this.follower?.stop();
    this.follower = null;
    const socket = this.connection?.socket;
    this.connection = null;
    if (!socket) return;
    socket.onopen = socket.onclose = socket.onmessage = null;
    // What is given up may still complain, and nobody has to hear it.
    socket.onerror = () => {};
    socket.close();
  }

  private enter(way: Way): void {
    if (this.way === way) return;
    this.way = way;
    this.options.events.way?.(way);
  }

  private connect(): void {
    this.enter("connecting");
    const { cursor } = this.known;
    const epoch = cursor?.epoch == null ? "" : `&epoch=${cursor.epoch}`;
    const query = cursor ? `?after_seq=${cursor.seq}${epoch}` : "";
    const id = encodeURIComponent(this.options.session);
    const url = `${this.options.base.replace(/^http/, "ws")}/ws/sessions/${id}${query}`;
    const open = this.options.open ?? ((at: string) => new WebSocket(at) as unknown as SocketLike);
    const connection: Connection = { socket: open(url), since: null, told: new Set(), held: null };
    const { socket } = connection;
    this.connection = connection;
    socket.onopen = () => {
      connection.since = this.now();
      socket.send(JSON.stringify({ type: "auth", token: this.options.token } satisfies Up));
      this.options.events.rewound?.();
      this.enter("socket");
      for (const saying of this.said.all()) this.push(saying);
    };
    socket.onmessage = (event) => this.hear(connection, event.data);
    socket.onclose = (event) => this.lost(event.code);
    socket.onerror = () => {
      if (connection.since === null) this.lost(1006);
    };
  }

  private lost(code: number): void {
    const since = this.connection?.since ?? null;
    this.drop();
    if (this.way === "closed") return;
    if (FINAL_CODES.includes(code)) {
      this.giveUp(code === 4401 ? "auth_failed" : "unknown_session", "");
      return;
    }
    this.failures = failuresAfter(this.failures, since === null ? null : this.now() - since);
    const wait = waitAfter(this.failures, Math.random());
    if (wait === "rest") {
      this.goByRest();
      return;
    }
    this.enter("connecting");
    this.timer = setTimeout(() => this.connect(), wait.after);
  }

  private giveUp(code: string, content: string): void {
    this.options.events.message({ type: "error", content, code });
    this.close();
  }

  private hear(connection: Connection, data: unknown): void {
    if (typeof data !== "string") return;
    const message = JSON.parse(data) as Down;
    if (connection.held) connection.held.push(message);
    else this.take(connection, message);
  }

  private take(connection: Connection, message: Down): void {
    const { known } = this;
    if (message.type === "error" && message.about === undefined && message.code === "too_large") {
      void this.readRest(connection);
      return;
    }
    if (message.type === "error" && message.code === "stale_cursor") {
      known.forget();
      this.options.events.anew?.();
      return;
    }
    if (message.type === "permission_request") {
      const id = message.permission.request_id;
      connection.told?.add(id);
      // It was asked before, and is asked still.
      if (known.asked.has(id)) return;
    }
    if (message.type === "caught_up") this.caughtUp(connection);
    this.tell(message);
  }

  /** All that is open was told now: what was open before and was not told again was answered by somebody. */
  private caughtUp(connection: Connection): void {
    const open = connection.told;
    connection.told = null;
    if (open) for (const message of this.known.resolved(open)) this.tell(message);
  }

  private tell(message: Down): void {
    this.known.learn(message);
    if (message.type === "accepted") this.said.accepted(message.client_message_id);
    if (message.type === "permission_resolved") this.said.resolved(message.request_id);
    if (message.type === "error" && message.about !== undefined) {
      this.said.refused(message.about, new GatewayError(message.content, message.code ?? "unknown", 0));
    }
    this.options.events.message(message);
  }

  /** More was missed than the WebSocket tells: the rest is read over REST, and what comes meanwhile waits behind it. */
  private async readRest(connection: Connection): Promise<void> {
    const held: Down[] = [];
    connection.held = held;
    const isOver = () => this.connection !== connection;
    const { rest, options, known } = this;
    const to = {
      rest,
      session: options.session,
      message: (message: Down) => this.tell(message),
      anew: () => options.events.anew?.(),
    };
    try {
      await catchUp(to, known, isOver);
    } catch {
      // The next connection goes on from the cursor.
      if (!isOver()) this.lost(1006);
      return;
    }
    if (isOver()) return;
    connection.held = null;
    const at = known.cursor;
    for (const message of held) {
      const isKnown =
        at !== null && message.seq !== undefined && (message.epoch ?? null) === at.epoch && message.seq <= at.seq;
      if (!isKnown) this.take(connection, message);
    }
  }

  private say(saying: Saying): Promise<void> {
    const settled = this.said.add(saying);
    this.push(saying);
    return settled;
  }

  private push(saying: Saying): void {
    if (this.way === "socket") this.connection?.socket.send(JSON.stringify(upOf(saying)));
    if (this.way === "rest") void this.said.sayOver(this.rest, this.options.session, saying);
  }

  private goByRest(): void {
    this.enter("rest");
    // What was being written comes again as a whole.
    this.options.events.rewound?.();
    const { rest, options, known } = this;
    for (const saying of this.said.all()) this.push(saying);
    this.follower = new Follower(
      {
        rest,
        session: options.session,
        pollMs: options.pollMs,
        message: (message) => this.tell(message),
        anew: () => options.events.anew?.(),
        refused: (error) => this.giveUp(error.code, error.message),
        asked: () => {
          for (const saying of this.said.all()) this.push(saying);
        },
      },
      known,
    );
  }

  private now(): number {
    return (this.options.now ?? Date.now)();
  }
}
