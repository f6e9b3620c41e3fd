import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { SessionClient, type SocketLike, type Way } from "./client.ts";
import type { Down } from "./messages.ts";
import { DELAYS_MS, FIRST_MS, failuresAfter, LASTED_MS, waitAfter } from "./retry.ts";

/** An answer of REST that is a refusal. */
class Refused {
  constructor(
    readonly status: number,
    readonly code: string,
  ) {}
}

/** What `events` answers when nothing happened. */
const quiet = (seq: number, more: Record<string, unknown> = {}) => ({
  events: [],
  seq,
  epoch: 2,
  has_more: false,
  status: "waiting_input",
  permissions: [],
  ...more,
});

const ask = (id: string) => ({ request_id: id, action: "Write", details: {} });

/** A gateway whose sockets the test opens and cuts, and whose REST answers as the test says. */
function stage(rest: (method: string, path: string, body: unknown) => unknown = () => ({})) {
  const urls: string[] = [];
  const sockets: (SocketLike & { sent: Record<string, unknown>[] })[] = [];
  const calls: { method: string; path: string; body: unknown }[] = [];
  const told: Down[] = [];
  const ways: Way[] = [];
  const open = (url: string) => {
    const sent: Record<string, unknown>[] = [];
    const socket = {
      sent,
      send: (text: string) => sent.push(JSON.parse(text)),
      close: () => {},
      onopen: null,
      onclose: null,
      onmessage: null,
    };
    urls.push(url);
    sockets.push(socket);
    return socket;
  };
  const answer = async (input: unknown, init?: RequestInit) => {
    const path = String(input).replace("http://gate", "");
    const body = init?.body ? JSON.parse(String(init.body)) : undefined;
    calls.push({ method: init?.method ?? "GET", path, body });
    const value = rest(init?.method ?? "GET", path, body);
    if (value instanceof Error) throw value;
    const status = value instanceof Refused ? value.status : 200;
    const said = value instanceof Refused ? { error: "no", code: value.code } : value;
    return { ok: status === 200, status, json: async () => said } as Response;
  };
  const rewound = vi.fn();
  const anew = vi.fn();
  const client = new SessionClient({
    base: "http://gate",
    token: "secret",
    session: "s",
    open,
    fetch: answer as typeof fetch,
    events: { message: (message) => told.push(message), way: (way) => ways.push(way), rewound, anew },
  });
  const last = () => {
    const socket = sockets.at(-1);
    if (!socket) throw new Error("no socket");
    return socket;
  };
  const cut = (code = 1006) => last().onclose?.({ code });
  const say = (message: unknown) => last().onmessage?.({ data: JSON.stringify(message) });
  return { client, urls, sockets, calls, told, ways, rewound, anew, last, cut, say };
}

/** Cuts every socket as soon as it is tried, until the client gives them up. */
async function giveUp(place: ReturnType<typeof stage>): Promise<void> {
  place.cut();
  for (const delay of [FIRST_MS, ...DELAYS_MS]) {
    await vi.advanceTimersByTimeAsync(delay);
    place.cut();
  }
}

describe("the rule for lost sockets", () => {
  it("is at once, then 1, 2, 4, 8 and 16 seconds, then REST", () => {
    const waits = [1, 2, 3, 4, 5, 6, 7, 8].map((failures) => waitAfter(failures));
    const after = [100, 1_000, 2_000, 4_000, 8_000, 16_000].map((ms) => ({ after: ms }));
    expect(waits).toEqual([...after, "rest", "rest"]);
  });

  it("is shorter by chance, by a fifth at most, and never longer", () => {
    for (const [index, whole] of [FIRST_MS, ...DELAYS_MS].entries()) {
      expect(waitAfter(index + 1, 0.5)).toEqual({ after: whole * 0.9 });
      expect(waitAfter(index + 1, 1)).toEqual({ after: whole * 0.8 });
    }
    expect(waitAfter(7, 1)).toBe("rest");
  });

  it("begins anew only after a connection that lasted", () => {
    expect(failuresAfter(4, null)).toBe(5);
    expect(failuresAfter(4, LASTED_MS - 1)).toBe(5);
    expect(failuresAfter(4, LASTED_MS)).toBe(1);
  });
});

describe("a session", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("says who it is first, and its token stands in no address", () => {
    const place = stage();
    place.last().onopen?.();
    expect(place.last().sent[0]).toEqual({ type: "auth", token: "secret" });
    expect(place.urls).toEqual(["ws://gate/ws/sessions/s"]);
  });

  it("comes back with the cursor of the last message that has one", async () => {
    const place = stage();
    place.last().onopen?.();
    place.say({ type: "output", content: "a", final: true, seq: 7, epoch: 2 });
    place.say({ type: "output", content: "b", final: false });
    place.cut();
    await vi.advanceTimersByTimeAsync(FIRST_MS);
    expect(place.urls[1]).toBe("ws://gate/ws/sessions/s?after_seq=7&epoch=2");
    place.last().onopen?.();
    expect(place.rewound).toHaveBeenCalledTimes(2);
  });

  it("loses nothing when a connection is cut after its first message", async () => {
    const place = stage();
    place.last().onopen?.();
    place.say({ type: "output", content: "a", final: true, seq: 7, epoch: 2 });
    place.cut();
    await vi.advanceTimersByTimeAsync(FIRST_MS);
    place.last().onopen?.();
    place.say({ type: "status_change", status: "waiting_input" });
    place.cut();
    await vi.advanceTimersByTimeAsync(DELAYS_MS[0] ?? 0);
    expect(place.urls.at(-1)).toBe("ws://gate/ws/sessions/s?after_seq=7&epoch=2");
    place.last().onopen?.();
    place.say({ type: "caught_up", seq: 9, epoch: 2 });
    place.cut();
    await vi.advanceTimersByTimeAsync(DELAYS_MS[1] ?? 0);
    expect(place.urls.at(-1)).toBe("ws://gate/ws/sessions/s?after_seq=9&epoch=2");
  });

  it("has a cursor also before anything happened", async () => {
    const place = stage();
    place.last().onopen?.();
    place.say({ type: "caught_up", seq: 0 });
    place.cut();
    await vi.advanceTimersByTimeAsync(FIRST_MS);
    expect(place.urls[1]).toBe("ws://gate/ws/sessions/s?after_seq=0");
  });

  it("tells what was decided while it was away, and nothing that is still open twice", async () => {
    const place = stage();
    place.last().onopen?.();
    place.say({ type: "permission_request", permission: ask("t1"), seq: 7, epoch: 2 });
    place.say({ type: "permission_request", permission: ask("t2"), seq: 8, epoch: 2 });
    place.cut();
    await vi.advanceTimersByTimeAsync(FIRST_MS);
    place.last().onopen?.();
    place.say({ type: "permission_request", permission: ask("t2") });
    place.say({ type: "caught_up", seq: 9, epoch: 2 });
    const kinds = place.told.map((message) => message.type);
    expect(kinds).toEqual(["permission_request", "permission_request", "permission_resolved", "caught_up"]);
    expect(place.told[2]).toMatchObject({ request_id: "t1" });
  });

  it("reads over REST what is too much for the socket, and what is live comes behind it", async () => {
    const place = stage((_, path) => {
      if (path.endsWith("after_seq=8&epoch=2")) {
        const events = [{ type: "output", content: "b", final: true, seq: 9, epoch: 2 }];
        return quiet(10, { events, has_more: true });
      }
      const events = [{ type: "output", content: "c", final: true, seq: 11, epoch: 2 }];
      return quiet(12, { events });
    });
    place.last().onopen?.();
    place.say({ type: "output", content: "a", final: true, seq: 8, epoch: 2 });
    place.say({ type: "error", content: "too much", code: "too_large" });
    place.say({ type: "caught_up" });
    place.say({ type: "output", content: "c", final: true, seq: 11, epoch: 2 });
    place.say({ type: "output", content: "d", final: true, seq: 13, epoch: 2 });
    await vi.advanceTimersByTimeAsync(0);
    const said = place.told.flatMap((message) => (message.type === "output" ? [message.content] : []));
    expect(said).toEqual(["a", "b", "c", "d"]);
    place.cut();
    await vi.advanceTimersByTimeAsync(FIRST_MS);
    expect(place.urls.at(-1)).toBe("ws://gate/ws/sessions/s?after_seq=13&epoch=2");
  });

  it("says that the history began anew, over either way, and asks again for what is open", async () => {
    const place = stage((_, path) =>
      path.includes("after_seq=7")
        ? new Refused(409, "stale_cursor")
        : quiet(3, { epoch: 4, permissions: [ask("t1")] }),
    );
    place.last().onopen?.();
    place.say({ type: "permission_request", permission: ask("t1") });
    place.say({ type: "error", content: "", code: "stale_cursor" });
    place.say({ type: "permission_request", permission: ask("t1") });
    place.say({ type: "caught_up", seq: 7, epoch: 3 });
    expect(place.anew).toHaveBeenCalledTimes(1);
    expect(place.told.filter((message) => message.type === "permission_request")).toHaveLength(2);
    await giveUp(place);
    await vi.advanceTimersByTimeAsync(0);
    expect(place.anew).toHaveBeenCalledTimes(2);
    expect(place.told.filter((message) => message.type === "permission_request")).toHaveLength(3);
    place.client.reconnect();
    expect(place.urls.at(-1)).toBe("ws://gate/ws/sessions/s?after_seq=3&epoch=4");
    place.client.close();
  });

  it("goes on over REST when sockets stay cut, and tells what came meanwhile", async () => {
    let page = quiet(9, {
      events: [
        { type: "output", sub_agent: { name: "gardener", output: "missed" }, final: true, seq: 8, epoch: 2 },
        { type: "process_paused", sessionId: "s", reason: "manual", idleMinutes: 0, canResume: true, seq: 9, epoch: 2 },
      ],
      status: "stopped",
      permissions: [ask("t1")],
    });
    const place = stage((method) => (method === "GET" ? page : {}));
    place.last().onopen?.();
    place.say({ type: "output", content: "a", final: true, seq: 7, epoch: 2 });
    place.say({ type: "output", content: "half of", final: false });
    expect(place.rewound).toHaveBeenCalledTimes(1);
    await giveUp(place);
    expect(place.sockets).toHaveLength(7);
    expect(place.ways.at(-1)).toBe("rest");
    expect(place.rewound, "what was half said is void").toHaveBeenCalledTimes(2);
    expect(place.calls[0]?.path).toBe("/api/sessions/s/events?after_seq=7&epoch=2");
    page = quiet(9, { status: "stopped", permissions: [ask("t1")] });
    await vi.advanceTimersByTimeAsync(10_000);
    const kinds = place.told.slice(2).map((message) => message.type);
    expect(kinds).toEqual(["output", "process_paused", "permission_request", "status_change"]);
    expect(place.told[2]).toMatchObject({ sub_agent: { name: "gardener" } });
    expect(place.sockets, "no further sockets by itself").toHaveLength(7);
    await place.client.approve("t1", undefined, "h");
    const approval = { action: "approve", permission_id: "t1", input_hash: "h" };
    expect(place.calls.at(-1)).toEqual({ method: "POST", path: "/api/sessions/s/approve", body: approval });
    page = quiet(9, { status: "stopped" });
    await vi.advanceTimersByTimeAsync(3_000);
    expect(place.told.at(-1)).toEqual({ type: "permission_resolved", request_id: "t1" });
    place.client.reconnect();
    expect(place.urls.at(-1)).toBe("ws://gate/ws/sessions/s?after_seq=9&epoch=2");
    place.client.close();
  });

  it("settles an answer when the decision is made, not when it was sent, and says it again until then", async () => {
    const place = stage();
    place.last().onopen?.();
    const settled = vi.fn();
    const answer = place.client.approve("t1").then(settled);
    expect(place.last().sent[1]).toEqual({ type: "approve", request_id: "t1" });
    await vi.advanceTimersByTimeAsync(0);
    expect(settled).not.toHaveBeenCalled();
    place.cut();
    await vi.advanceTimersByTimeAsync(FIRST_MS);
    place.last().onopen?.();
    expect(place.last().sent[1]).toEqual({ type: "approve", request_id: "t1" });
    place.say({ type: "permission_resolved", request_id: "t1", decision: "allow", seq: 3, epoch: 1 });
    await answer;
    const late = place.client.deny("t2");
    place.say({ type: "error", content: "too late", code: "already_answered", about: "t2" });
    await late;
    const refused = place.client.deny("t3");
    place.say({ type: "error", content: "no", code: "forbidden", about: "t3" });
    await expect(refused).rejects.toMatchObject({ code: "forbidden" });
  });

  it("says an input again by whichever way stands, always with the same id", async () => {
    const place = stage((_, path) => {
      if (path.endsWith("/input")) return { message: { id: "m1" } };
      return quiet(1, { status: "running" });
    });
    place.last().onopen?.();
    const said = place.client.input("hello", "m1");
    expect(place.last().sent[1]).toEqual({ type: "input", content: "hello", client_message_id: "m1" });
    place.cut();
    await vi.advanceTimersByTimeAsync(FIRST_MS);
    place.last().onopen?.();
    expect(place.last().sent[1]).toMatchObject({ type: "input", client_message_id: "m1" });
    await giveUp(place);
    await said;
    const inputs = place.calls.filter((call) => call.path.endsWith("/input"));
    expect(inputs).toEqual([
      { method: "POST", path: "/api/sessions/s/input", body: { content: "hello", client_message_id: "m1" } },
    ]);
    place.client.close();
  });

  it("settles an input when it is accepted, and fails when it is refused", async () => {
    const place = stage();
    place.last().onopen?.();
    const accepted = place.client.input("a", "m1");
    place.say({ type: "accepted", client_message_id: "m1" });
    await accepted;
    const refused = place.client.input("b", "m2");
    place.say({ type: "error", content: "no", code: "forbidden", about: "m2" });
    await expect(refused).rejects.toMatchObject({ code: "forbidden" });
  });

  it("does not try again where it is of no use", async () => {
    const place = stage();
    place.cut(4401);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(place.sockets).toHaveLength(1);
    expect(place.told).toMatchObject([{ type: "error", code: "auth_failed" }]);
    expect(place.ways.at(-1)).toBe("closed");
  });
});

describe("what cannot be said", () => {
  it("is refused at once when it is empty or too large, and nothing is sent", async () => {
    const { client, last } = stage();
    last().onopen?.();
    const before = last().sent.length;
    await expect(client.input("  ")).rejects.toMatchObject({ code: "invalid_message" });
    await expect(client.input("é".repeat(300 * 1024))).rejects.toMatchObject({ code: "too_large" });
    expect(last().sent).toHaveLength(before);
  });
});
