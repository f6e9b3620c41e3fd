import { expect, it } from "vitest";
import { fromRows } from "./history";
import { EMPTY, fold } from "./transcript";

it("makes the same of a remark that is told live and of its row in history", () => {
  for (const [subtype, text] of [
    ["compact_boundary", "compacted by itself, 155000 tokens before, 20000 after"],
    ["revoked", "asks again: Write"],
    ["informational", "mind the gap"],
  ] as const) {
    const event = { type: "remark" as const, subtype, text };
    const message = { deviceId: 1, workspaceId: "w", conversationId: "c", seq: 1, epoch: 1, timestamp: 5, event };
    const live = fold({ ...EMPTY, load: "ready", epoch: 1 }, message, 5).transcript.entries.top;
    const rows = fromRows([{ type: "system", subtype, content: text, timestamp: 5, seq: 1 }]).top;
    const said = (entries: typeof rows) =>
      entries.map((one) => (one.kind === "remark" ? [one.subtype, one.text] : one));
    expect(live.length).toBe(1);
    expect(said(live)).toEqual(said(rows));
  }
  const [entry] = fromRows([{ type: "system", subtype: "revoked", content: "asks again: Write", timestamp: 5 }]).top;
  expect(entry).toMatchObject({ kind: "remark", text: "Write" });
});
