import { expect, it } from "vitest";
import type { ConversationStatus } from "@/gen";
import { isQuiet, newsBetween } from "./news";
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

it("keeps quiet hours also over midnight, and their end is not quiet", () => {
  const at = (hours: number, minutes: number) => new Date(2026, 0, 1, hours, minutes);
  const night = { from: "22:30", until: "07:00" };
  const told = [at(22, 29), at(7, 0), at(12, 0)].map((now) => isQuiet(night, now));
  const quiet = [at(22, 30), at(0, 0), at(6, 59)].map((now) => isQuiet(night, now));
  expect([told, quiet]).toEqual([
    [false, false, false],
    [true, true, true],
  ]);
  expect(isQuiet({ from: "12:00", until: "13:00" }, at(12, 59))).toBe(true);
  expect(isQuiet({ from: "12:00", until: "13:00" }, at(13, 0))).toBe(false);
  expect(isQuiet(null, at(0, 0))).toBe(false);
});
