/** Every example of the protocol is taken without a fault, in any state: what a newer Pylon says must not stop the app. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { EMPTY_WORLD, type Frame, onFrame, view, type World } from "./world";

const folder = fileURLToPath(new URL("../../../fixtures/proto/v1/", import.meta.url));
const examples = readdirSync(folder)
  .filter((name) => name.endsWith(".json") && !/^(ipc|keeper)\./.test(name))
  .map((name) => ({ name, value: JSON.parse(readFileSync(folder + name, "utf8")) as { type: string } }));

function frameOf({ name, value }: (typeof examples)[number]): Frame {
  const place = { workspaceId: "ws-1", conversationId: "conv-1", deviceId: 1 };
  if (name.startsWith("event.")) return { type: "claude_event", payload: { ...place, event: value } } as Frame;
  if (!name.startsWith("history.")) return value as Frame;
  const page = { messages: [value], offset: 0, totalCount: 1, hasMore: false, success: true };
  return { type: "history_result", payload: { ...place, ...page } } as Frame;
}

it("takes every example, before and after a conversation was opened", () => {
  expect(examples.length).toBeGreaterThan(100);
  let world: World = EMPTY_WORLD;
  for (const example of examples) world = onFrame(world, frameOf(example), 1).world;
  world = view(world, "conv-1").world;
  for (const example of [...examples, ...examples]) world = onFrame(world, frameOf(example), 2).world;
  expect(world.fleet.map((machine) => machine.name)).toContain("Selene");
  expect(world.transcripts["conv-1"]).toBeDefined();
});

it("leaves out events it does not know", () => {
  const strange = {
    type: "claude_event",
    payload: { workspaceId: "w", conversationId: "c", event: { type: "fromTheFuture" }, seq: 1 },
  };
  const { world } = onFrame(view(EMPTY_WORLD, "c").world, strange as unknown as Frame, 1);
  expect(world.transcripts.c?.entries.top).toEqual([]);
});
