import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Decision } from "@/model/decisions";
import type { Outgoing } from "@/model/outbox";
import { EMPTY_WORLD, type Frame, onFrame, reloading, view } from "@/model/world";
import { Fallback, LOOK_MS } from "./fallback";

const place = { deviceId: 1, workspaceId: "w", conversationId: "c" };

/** A relay that answers as the test says. */
function relay(answer: (method: string, path: string) => { status: number; body: unknown }) {
  const calls: { method: string; path: string; body: unknown; token: string | null }[] = [];
  vi.stubGlobal("fetch", async (path: string, init: RequestInit) => {
    const method = init.method ?? "GET";
    const token = new Headers(init.headers).get("authorization");
    calls.push({ method, path, body: init.body ? JSON.parse(String(init.body)) : undefined, token });
    const { status, body } = answer(method, path);
    return { ok: status === 200, status, json: async () => body } as Response;
  });
  return calls;
}

const page = (seq: number, said: string[]) => ({
  messages: said.map((content, index) => ({
    id: String(index + 1),
    seq: index + 1,
    type: "text",
    role: index % 2 === 0 ? "user" : "assistant",
    content,
    timestamp: "2026-01-01T00:00:00Z",
    client_message_id: index === 0 ? "m1" : undefined,
  })),
  total_count: said.length,
  has_more: false,
  epoch: 5,
  head_seq: seq,
});

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it("says a message over REST as it was meant, to where the page came from", async () => {
  const calls = relay(() => ({ status: 200, body: {} }));
  const fallback = new Fallback(
    () => "secret",
    () => {},
  );
  const message = { ...place, text: "hello", clientMessageId: "m1", onBusy: "queue", writtenAt: 0, state: "waiting" };
  expect(await fallback.send(message as Outgoing)).toBe(true);
  const body = { content: "hello", client_message_id: "m1", on_busy: "queue" };
  expect(calls).toEqual([{ method: "POST", path: "/api/sessions/c/input", body, token: "Bearer secret" }]);
});

it("answers over REST what was shown, and an answer that came too late is settled", async () => {
  let status = 200;
  const calls = relay(() => ({ status, body: { code: "already_answered" } }));
  const fallback = new Fallback(
    () => "secret",
    () => {},
  );
  const decision = { ...place, toolUseId: "t1", inputHash: "h" } as Decision;
  expect(await fallback.decide(decision, "deny", "not now")).toBe(true);
  const body = { action: "deny", permission_id: "t1", message: "not now", input_hash: "h" };
  expect(calls[0]?.body).toEqual(body);
  status = 409;
  expect(await fallback.decide(decision, "allow")).toBe(true);
  status = 503;
  relay(() => ({ status, body: { code: "host_unavailable" } }));
  expect(await fallback.decide(decision, "allow")).toBe(false);
});

it("says why what was said is not taken, and tries again only what nobody heard", async () => {
  const fallback = new Fallback(
    () => "secret",
    () => {},
  );
  const message = { ...place, text: "hello", clientMessageId: "m1", writtenAt: 0, state: "waiting" } as Outgoing;
  const decision = { ...place, toolUseId: "t1", inputHash: "h" } as Decision;
  for (const [status, code] of [
    [402, "budget_exceeded"],
    [403, "forbidden"],
    [409, "conflict"],
  ] as const) {
    relay(() => ({ status, body: { code, error: "no" } }));
    expect(await fallback.send(message)).toEqual({ code, words: "no" });
    expect(await fallback.decide(decision, "allow")).toEqual({ code, words: "no" });
  }
  relay(() => ({ status: 503, body: { code: "host_unavailable" } }));
  expect(await fallback.send(message)).toBe(false);
});

it("shows what was said meanwhile once, and what waits for a person", async () => {
  let said = ["hello", "first"];
  let permissions: unknown[] = [{ request_id: "t1", action: "Write", details: { a: 1 }, input_hash: "h" }];
  const calls = relay((_, path) => {
    if (path.includes("/messages")) return { status: 200, body: page(said.length, said) };
    return { status: 200, body: { session: { status: "waiting_input" }, permissions } };
  });
  let world = view(EMPTY_WORLD, "c").world;
  const looked = (frames: Frame[]) => {
    world = frames.reduce((next, frame) => onFrame(next, frame, 0).world, reloading(world));
  };
  const fallback = new Fallback(() => "secret", looked);
  fallback.look(place);
  await vi.advanceTimersByTimeAsync(0);
  const shown = () => world.transcripts.c?.entries.top.map((entry) => ("text" in entry ? entry.text : entry.kind));
  expect(shown()).toEqual(["hello", "first"]);
  expect(world.decisions).toMatchObject([{ toolUseId: "t1", toolName: "Write", inputHash: "h" }]);
  said = [...said, "and", "on"];
  permissions = [];
  await vi.advanceTimersByTimeAsync(LOOK_MS);
  expect(shown()).toEqual(["hello", "first", "and", "on"]);
  expect(world.decisions).toEqual([]);
  fallback.look(null);
  const count = calls.length;
  await vi.advanceTimersByTimeAsync(10 * LOOK_MS);
  expect(calls).toHaveLength(count);
});
