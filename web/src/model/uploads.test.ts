import { describe, expect, it } from "vitest";
import {
  admit,
  CHUNK_BYTES,
  chunksOf,
  lostTwin,
  mimeOf,
  nextUp,
  type Problem,
  restored,
  safeName,
  step,
  type Upload,
  type UploadEvent,
  type Uploads,
} from "./uploads";

const MIB = 1024 * 1024;

function upload(key: string, more: Partial<Upload> = {}): Upload {
  const where = { deviceId: 1, workspaceId: "w", conversationId: "c" };
  const what = { name: `${key}.txt`, size: 3 * CHUNK_BYTES + 7, mimeType: "text/plain" };
  return { key, blobId: `b-${key}`, ...where, ...what, addedAt: 0, state: "waiting", sent: 0, tries: 0, ...more };
}

function play(uploads: Uploads, ...events: UploadEvent[]): Upload | undefined {
  return events.reduce(step, uploads)[0];
}

const broke = (problem: Problem, isAtEnd = false): UploadEvent => ({
  type: "broke",
  key: "a",
  problem,
  words: "why",
  isAtEnd,
});

describe("a file on its way", () => {
  it("counts what is there, and is ready with its id", () => {
    const begun = [upload("a")];
    expect(play(begun, { type: "begun", key: "a" }, { type: "came", key: "a", chunks: 2 })).toMatchObject({
      state: "sending",
      sent: 2 * CHUNK_BYTES,
    });
    expect(play(begun, { type: "came", key: "a", chunks: 4 })?.sent).toBe(3 * CHUNK_BYTES + 7);
    expect(play(begun, { type: "kept", key: "a", fileId: "f" })).toMatchObject({ state: "ready", fileId: "f" });
  });

  it("waits for as many connections as are lost", () => {
    const losses = Array.from({ length: 50 }, () => broke("offline"));
    expect(play([upload("a")], ...losses)).toMatchObject({ state: "waiting", blobId: "b-a" });
  });

  it("begins again by itself, but not for ever without getting further", () => {
    const four = Array.from({ length: 4 }, () => broke("timeout"));
    expect(play([upload("a")], ...four)?.state).toBe("waiting");
    expect(play([upload("a")], ...four, broke("unknown_upload"))).toMatchObject({ state: "failed", words: "why" });
    const further: UploadEvent = { type: "came", key: "a", chunks: 1 };
    expect(play([upload("a")], ...four, further, ...four)?.state).toBe("waiting");
  });

  it("says at once what will not pass, and what arrived damaged", () => {
    for (const event of [broke("too_large"), broke("disk_full"), broke("unreadable"), broke("conflict", true)])
      expect(play([upload("a")], event)?.state).toBe("failed");
    expect(play([upload("a")], broke("conflict"))?.state).toBe("waiting");
  });

  it("goes on under its id when tried again, and begins anew where the id is spoilt", () => {
    const again: UploadEvent = { type: "retried", key: "a", blobId: "new" };
    expect(play([upload("a", { sent: 5 })], broke("disk_full"), again)).toMatchObject({ blobId: "b-a", sent: 5 });
    expect(play([upload("a", { sent: 5 })], broke("conflict", true), again)).toMatchObject({
      blobId: "new",
      sent: 0,
      state: "waiting",
      problem: undefined,
    });
  });

  it("forgets what is removed, also while answers to it still come", () => {
    const left = [{ type: "removed", keys: ["a"] } as const, broke("timeout"), { type: "begun", key: "a" } as const];
    expect(play([upload("a")], ...left)).toBeUndefined();
  });
});

it("sends one file at a time, and none to a machine that is away", () => {
  const two = [upload("a", { deviceId: 2 }), upload("b")];
  expect(nextUp(two, (id) => id === 1)?.key).toBe("b");
  expect(nextUp(two, () => true)?.key).toBe("a");
  expect(nextUp(step(two, { type: "begun", key: "b" }), () => true)).toBeUndefined();
});

it("refuses at once what is too large or too many", () => {
  const small = Array.from({ length: 4 }, (_, index) => ({ size: index }));
  const large = { size: 64 * MIB + 1 };
  expect(admit(8, [large, ...small])).toEqual({ taken: small.slice(0, 2), tooLarge: [large], leftOut: 2 });
  expect(admit(0, [{ size: 64 * MIB }, { size: 0 }])).toMatchObject({ tooLarge: [], leftOut: 0 });
});

it("keeps what was whole when the page is loaded anew, and knows the rest again by name and size", () => {
  const before = [
    upload("whole", { state: "ready", fileId: "f" }),
    upload("half", { state: "sending", sent: CHUNK_BYTES, addedAt: 90_000_000 }),
    upload("old", { state: "failed" }),
  ];
  const after = restored(before, 100_000_000);
  expect(after.map(({ key, state }) => [key, state])).toEqual([
    ["whole", "ready"],
    ["half", "lost"],
  ]);
  const file = { name: "half.txt", size: 3 * CHUNK_BYTES + 7, type: "text/plain" };
  expect(lostTwin(after, "c", file)?.blobId).toBe("b-half");
  expect(lostTwin(after, "other", file)).toBeUndefined();
  expect(lostTwin(after, "c", { ...file, size: 1 })).toBeUndefined();
  expect(play(after.slice(1), { type: "found", key: "half" })?.state).toBe("waiting");
});

it("gives names and types that every machine takes", () => {
  expect(safeName("a/b\\c\u0000.png")).toBe("a_b_c_.png");
  expect(safeName(" ")).toBe("file");
  const long = safeName(`${"장".repeat(200)}.jpeg`);
  expect(new TextEncoder().encode(long).length).toBeLessThanOrEqual(255);
  expect(long.endsWith("장.jpeg")).toBe(true);
  expect(new TextEncoder().encode(safeName("x".repeat(400))).length).toBe(255);
  expect(mimeOf("")).toBe("application/octet-stream");
  expect(chunksOf(0)).toBe(0);
  expect(chunksOf(CHUNK_BYTES + 1)).toBe(2);
});
