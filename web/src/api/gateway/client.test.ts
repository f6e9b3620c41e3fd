import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { SessionClient, type SocketLike, type Way } from "./client";
import type { Down } from "./messages";
import { DELAYS_MS, FIRST_MS, failuresAfter, LASTED_MS, waitAfter } from "./retry";

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
    return { ok: true, status: 200, json: async () => value } as Response;
  };
  const rewound = vi.fn();
  const client = new SessionClient({
    base: "http://gate",
    token: "secret",
    session: "s",
    open,
    fetch: answer as typeof fetch,
    events: { message: (message) => told.push(message), way: (way) => ways.push(way), rewound },
  });
  const last = () => {
    const socket = sockets.at(-1);
    if (!socket) throw new Error("no socket");
    return socket;
  };
  const cut = (code = 1006) => last().onclose?.({ code });
  const say = (message: unknown) => last().onmessage?.({ data: JSON.stringify(message) });
  return { client, urls, sockets, calls, told, ways, rewound, last, cut, say };
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
    const waits = [1, 2, 3, 4, 5, 6, 7, 8].map(waitAfter);
    const after = [100, 1_000, 2_000, 4_000, 8_000, 16_000].map((ms) => ({ after: ms }));
    expect(waits).toEqual([...after, "rest", "rest"]);
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

  it("goes on over REST when sockets stay cut, and tells what came meanwhile", async () => {
    let head = 7;
    const place = stage((_, path) => {
      if (path.endsWith("/messages?after_seq=7")) {
        head = 9;
        const entry = { id: "9", seq: 9, type: "text", role: "assistant", content: "missed", timestamp: "" };
        return { messages: [entry], has_more: false, epoch: 2, head_seq: head, total_count: 1 };
      }
      if (path.includes("/messages")) {
        return { messages: [], has_more: false, epoch: 2, head_seq: head, total_count: 1 };
      }
      const permissions = [{ request_id: "t1", action: "Write", details: {} }];
      return { session: { status: "waiting_input" }, permissions };
    });
    place.last().onopen?.();
    place.say({ type: "output", content: "a", final: true, seq: 7, epoch: 2 });
    await giveUp(place);
    expect(place.sockets).toHaveLength(7);
    expect(place.ways.at(-1)).toBe("rest");
    await vi.advanceTimersByTimeAsync(10_000);
    const kinds = place.told.map((message) => message.type);
    expect(kinds).toEqual(["output", "output", "permission_request", "status_change"]);
    expect(place.told[1]).toMatchObject({ content: "missed", final: true });
    expect(place.sockets, "no further sockets by itself").toHaveLength(7);
    await place.client.approve("t1");
    const approval = { action: "approve", permission_id: "t1" };
    expect(place.calls.at(-1)).toEqual({ method: "POST", path: "/api/sessions/s/approve", body: approval });
    place.client.reconnect();
    expect(place.urls.at(-1)).toBe("ws://gate/ws/sessions/s?after_seq=9&epoch=2");
    place.client.close();
  });

  it("says an input again by whichever way stands, always with the same id", async () => {
    const place = stage((_, path) => {
      if (path.endsWith("/input")) return { message: { id: "m1" } };
      if (path.includes("/messages")) return { messages: [], has_more: false, epoch: 1, head_seq: 1, total_count: 0 };
      return { session: { status: "running" }, permissions: [] };
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
