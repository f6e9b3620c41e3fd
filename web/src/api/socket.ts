/**
 * The socket to the relay: runs the connection machine with a real socket and real timers.
 *
 * Frames are handed over in batches, at most one per painted picture, so that a flood of small ones costs one render.
 */
import type { AppToPylon, DeviceToRelay, RelayToDevice, To } from "@/gen";
import { type Input, type Phase, step, UNPAIRED, wakeAt } from "@/model/connection";
import type { Frame } from "@/model/world";

/** One attempt at a connection. */
export interface Transport {
  send(text: string): void;
  close(): void;
}

export interface TransportEvents {
  opened(): void;
  received(text: string): void;
  closed(): void;
}

export type Connect = (events: TransportEvents) => Transport;

export interface SocketEvents {
  phase(phase: Phase): void;
  frames(frames: Frame[]): void;
}

type Outgoing = (AppToPylon | DeviceToRelay) & { to?: To; broadcast?: "pylons" };

/** The protocol version this app speaks. */
const PROTOCOL = 1;

export class Socket {
  #phase: Phase = UNPAIRED;
  #transport: Transport | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #batch: Frame[] = [];
  #isScheduled = false;

  constructor(
    private readonly connect: Connect,
    private readonly token: () => string | null,
    private readonly events: SocketEvents,
  ) {}

  start(): void {
    this.#step({ type: "start" });
  }

  /** Tries now: the person, the network or the page came back. */
  poke(): void {
    this.#step({ type: "poke" });
  }

  forget(): void {
    this.#step({ type: "forget" });
  }

  /** Sends if there is a connection, and says whether there was one. */
  send(message: Outgoing): boolean {
    if (this.#phase.name !== "online" || !this.#transport) return false;
    this.#transport.send(JSON.stringify(message));
    return true;
  }

  #step(input: Input): void {
    const now = Date.now();
    const before = this.#phase;
    const { phase, effects } = step(before, input, now, Math.random());
    this.#phase = phase;
    for (const effect of effects) this.#perform(effect.type);
    clearTimeout(this.#timer);
    const due = wakeAt(this.#phase);
    if (due !== null) this.#timer = setTimeout(() => this.#step({ type: "wake" }), Math.max(0, due - now));
    if (before.name !== this.#phase.name || this.#phase.name === "waiting") this.events.phase(this.#phase);
  }

  #perform(effect: "open" | "authenticate" | "ping" | "close"): void {
    switch (effect) {
      case "open":
        this.#open();
        return;
      case "authenticate": {
        const token = this.token() ?? undefined;
        const auth: DeviceToRelay = { type: "auth", payload: { deviceType: "app", token, protocol: PROTOCOL } };
        this.#transport?.send(JSON.stringify(auth));
        return;
      }
      case "ping":
        this.#transport?.send(JSON.stringify({ type: "ping" } satisfies DeviceToRelay));
        return;
      case "close":
        this.#drop();
    }
  }

  #open(): void {
    this.#drop();
    let isCurrent = true;
    const transport = this.connect({
      opened: () => isCurrent && this.#step({ type: "opened" }),
      received: (text) => isCurrent && this.#received(text),
      closed: () => {
        if (!isCurrent) return;
        isCurrent = false;
        this.#transport = null;
        this.#step({ type: "closed" });
      },
    });
    this.#transport = {
      send: (text) => transport.send(text),
      close: () => {
        isCurrent = false;
        transport.close();
      },
    };
  }

  #drop(): void {
    this.#transport?.close();
    this.#transport = null;
  }

  #received(text: string): void {
    this.#step({ type: "heard" });
    const frame = parse(text);
    if (!frame) return;
    if (frame.type === "auth_result") {
      // What came before the answer must be known before the world hears that it is online.
      this.#flush();
      this.#step({ type: "authenticated", result: (frame as Extract<RelayToDevice, { type: "auth_result" }>).payload });
      return;
    }
    if (frame.type === "rights_changed") {
      this.#step({ type: "rights", rights: frame.payload.rights });
      this.events.phase(this.#phase);
      return;
    }
    this.#batch.push(frame);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // A hidden page paints nothing, and still has to notice that somebody is needed.
    if (document.hidden) setTimeout(() => this.#flush(), 0);
    else requestAnimationFrame(() => this.#flush());
  }

  #flush(): void {
    this.#isScheduled = false;
    if (this.#batch.length === 0) return;
    const batch = this.#batch;
    this.#batch = [];
    this.events.frames(batch);
  }
}

/** A socket to the server that served the page. */
export const openSocket: Connect = (events) => {
  const url = new URL("/ws", location.href);
  url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  const socket = new WebSocket(url);
  socket.onopen = () => events.opened();
  socket.onmessage = (message) => typeof message.data === "string" && events.received(message.data);
  socket.onclose = () => events.closed();
  return {
    send: (text) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(text);
    },
    close: () => socket.close(),
  };
};

function parse(text: string): Frame | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && "type" in value ? (value as Frame) : null;
  } catch {
    return null;
  }
}
