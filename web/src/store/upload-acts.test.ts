/** Files carried to a machine that is played here, as strict as the real one, over a connection that can be lost. */
import { createHash } from "node:crypto";
import { beforeEach, expect, it, vi } from "vitest";
import type { Place } from "@/model/fleet";
import { CHUNK_BYTES } from "@/model/uploads";

interface Payload {
  blobId: string;
  index: number;
  data: string;
  checksum: string;
}

const machine = vi.hoisted(() => ({
  parts: new Map<string, Uint8Array[]>(),
  /** Every request, in order. */
  asked: [] as string[],
  underWay: 0,
  mostUnderWay: 0,
  /** After so many chunks the connection is lost. */
  loseAfter: Number.POSITIVE_INFINITY,
  refuse: undefined as string | undefined,
}));

vi.mock("./app", async () => {
  const { create } = await import("zustand");
  const { RequestError } = await import("@/api/requests");
  const { EMPTY_WORLD } = await import("@/model/world");
  const fleet = [{ deviceId: 1, isOnline: true }];
  const useApp = create(() => ({ phase: { name: "online" }, world: { ...EMPTY_WORLD, fleet } }));
  const answer = (type: string, payload: Payload): object => {
    const { blobId, index } = payload;
    const parts = machine.parts.get(blobId) ?? [];
    machine.parts.set(blobId, parts);
    if (machine.refuse) throw new RequestError("", machine.refuse as "disk_full");
    if (type === "blob_start") return { blobId, nextChunk: parts.length };
    if (type === "blob_chunk") {
      if (index > parts.length) throw new RequestError("", "conflict");
      if (index === parts.length) parts.push(Buffer.from(payload.data, "base64"));
      return { blobId, nextChunk: parts.length };
    }
    const sum = createHash("sha256").update(Buffer.concat(parts)).digest("hex");
    if (payload.checksum !== `sha256:${sum}`) throw new RequestError("", "conflict");
    return { blobId, fileId: `file-${blobId}` };
  };
  const ask = async (_: number, make: (id: string) => { type: string; payload: Payload }, read: CallableFunction) => {
    const { type, payload } = make("r");
    machine.asked.push(type === "blob_chunk" ? `${payload.index}` : type);
    machine.mostUnderWay = Math.max(machine.mostUnderWay, ++machine.underWay);
    await new Promise((done) => setTimeout(done, 0));
    machine.underWay--;
    if (type === "blob_chunk" && machine.loseAfter-- <= 0) {
      useApp.setState({ phase: { name: "waiting" } });
      throw new RequestError("", "offline");
    }
    return read({ type: `${type}_result`, payload: answer(type, payload) }).value;
  };
  const change = (apply: CallableFunction) => useApp.setState((app) => ({ world: apply(app.world) }));
  return { useApp, ask, change };
});

import { useApp } from "./app";
import { attachFiles, removeUpload, retryUpload } from "./upload-acts";
import { takeFiles, turnUploads, useUploads } from "./uploads";

const PLACE = {
  machine: { deviceId: 1 },
  workspace: { workspaceId: "w" },
  conversation: { conversationId: "c" },
} as Place;

function file(name: string, size: number): File {
  return new File([Uint8Array.from({ length: size }, (_, index) => (index * 7) % 256)], name, { type: "text/plain" });
}

const list = () => useUploads.getState().uploads;
const states = () => list().map((one) => one.state);
const notices = () => useApp.getState().world.notices.map((one) => one.words);

beforeEach(() => {
  turnUploads({ type: "removed", keys: list().map((one) => one.key) });
  useApp.setState((app) => ({ world: { ...app.world, notices: [] } }));
  Object.assign(machine, { parts: new Map(), asked: [], mostUnderWay: 0, refuse: undefined });
  machine.loseAfter = Number.POSITIVE_INFINITY;
});

it("carries files whole and in order, a few chunks at a time, and hands over their ids", async () => {
  attachFiles(PLACE, [file("a.txt", 7 * CHUNK_BYTES + 5), file("empty.txt", 0)]);
  await expect.poll(states).toEqual(["ready", "ready"]);
  expect(machine.asked).toEqual(["blob_start", ..."01234567", "blob_end", "blob_start", "blob_end"]);
  expect(machine.mostUnderWay).toBe(3);
  expect(takeFiles("c").map(({ name, size }) => [name, size])).toEqual([
    ["a.txt", 7 * CHUNK_BYTES + 5],
    ["empty.txt", 0],
  ]);
  expect(list()).toEqual([]);
});

it("goes on where it was when the connection comes back", async () => {
  machine.loseAfter = 4;
  attachFiles(PLACE, [file("a.txt", 9 * CHUNK_BYTES)]);
  await expect.poll(() => useApp.getState().phase.name).toBe("waiting");
  await expect.poll(states).toEqual(["waiting"]);
  Object.assign(machine, { asked: [], loseAfter: Number.POSITIVE_INFINITY });
  useApp.setState({ phase: { name: "online" } as never });
  await expect.poll(states).toEqual(["ready"]);
  expect(machine.asked).toEqual(["blob_start", ..."45678", "blob_end"]);
});

it("gives the same checksum where the browser offers none", async () => {
  vi.stubGlobal("crypto", { getRandomValues: crypto.getRandomValues.bind(crypto) });
  try {
    attachFiles(PLACE, [file("a.txt", 5 * CHUNK_BYTES + 1)]);
    await expect.poll(states).toEqual(["ready"]);
  } finally {
    vi.unstubAllGlobals();
  }
});

it("says what failed, and tries again on request", async () => {
  machine.refuse = "disk_full";
  attachFiles(PLACE, [file("a.txt", 3)]);
  await expect.poll(states).toEqual(["failed"]);
  machine.refuse = undefined;
  retryUpload(list()[0]?.key ?? "");
  await expect.poll(states).toEqual(["ready"]);
});

it("lets go of what is removed in the middle", async () => {
  attachFiles(PLACE, [file("a.txt", 50 * CHUNK_BYTES), file("b.txt", 3)]);
  await expect.poll(() => machine.asked.length).toBeGreaterThan(4);
  removeUpload(list()[0]?.key ?? "");
  await expect.poll(states).toEqual(["ready"]);
  expect(machine.asked.length).toBeLessThan(50);
});

it("refuses at once, and says why", () => {
  const large = { name: "film.mov", size: 65 * 1024 * 1024, type: "" } as File;
  attachFiles(PLACE, [large, ...Array.from({ length: 11 }, (_, index) => file(`${index}`, 0))]);
  expect(list().length).toBe(10);
  expect(notices()).toEqual([
    "film.mov is too large. A file may have 64 MiB.",
    "At most 10 files go with a message; 1 was left out.",
  ]);
});
