import { expect, it } from "vitest";
import type { ConversationStatus } from "@/gen";
import { newsBetween } from "./news";
import { EMPTY_WORLD, type Frame, onFrame, type World } from "./world";

function list(status: ConversationStatus): Frame {
  const conversation = { conversationId: "a", name: "Garden", status, skillType: "general", unread: false };
  const workspace = { workspaceId: "ws", name: "w", workingDir: "/w", conversations: [conversation], tasks: [] };
  const payload = { deviceId: 1, deviceInfo: { name: "Selene", icon: "🌙" }, workspaces: [workspace], success: true };
  return { type: "workspace_list_result", payload } as unknown as Frame;
}

const asked: Frame = {
  type: "claude_event",
  payload: {
    deviceId: 1,
    workspaceId: "ws",
    conversationId: "a",
    event: { type: "permission_request", toolName: "Bash", toolInput: {}, toolUseId: "t1" },
  },
} as unknown as Frame;

function after(world: World, frame: Frame): World {
  return onFrame(world, frame, 0).world;
}

it("tells of a new decision and of the end of a turn, once, and never of what is muted", () => {
  const working = after(EMPTY_WORLD, list("working"));
  const waiting = after(working, asked);
  const done = after(working, list("idle"));
  expect(newsBetween(working, waiting, [])).toEqual([{ kind: "decision", conversationId: "a", name: "Garden" }]);
  expect(newsBetween(waiting, { ...waiting }, [])).toEqual([]);
  expect(newsBetween(working, done, [])).toEqual([{ kind: "finished", conversationId: "a", name: "Garden" }]);
  expect(newsBetween(done, after(done, list("idle")), [])).toEqual([]);
  expect(newsBetween(working, waiting, ["a"])).toEqual([]);
});
