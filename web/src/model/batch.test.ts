import { afterEach, expect, it, vi } from "vitest";
import { onBatch } from "./batch";
import { EMPTY_WORLD, type Frame, view } from "./world";

afterEach(() => vi.restoreAllMocks());

const asked = (toolUseId: string): Frame => ({
  type: "claude_event",
  payload: {
    workspaceId: "ws",
    conversationId: "a",
    event: { type: "permission_request", toolName: "Bash", toolInput: {}, toolUseId },
  },
});

/** As no machine of today sends them: what has to be there is not. */
const BROKEN = [
  { type: "claude_event" },
  { type: "device_status", payload: { devices: null } },
  { type: "workspace_list_result", payload: { success: true, deviceId: 1, deviceInfo: {}, workspaces: [null] } },
] as unknown as Frame[];

it("a frame that cannot be read takes no other with it, and it is said once", () => {
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
  const frames = [asked("first"), ...BROKEN, ...BROKEN, asked("last")];
  const { world } = onBatch(view(EMPTY_WORLD, "b").world, frames, 1);
  expect(world.decisions.map((one) => one.toolUseId)).toEqual(["first", "last"]);
  expect(world.notices.map((one) => one.code)).toEqual(["unreadable"]);
});

it("somebody who waits for a frame and fails at it takes no other with it", () => {
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
  const fails = (frame: Frame) => {
    if (frame.type === "pong") throw new Error("not what was expected");
    return false;
  };
  const { world } = onBatch(EMPTY_WORLD, [{ type: "pong", payload: {} }, asked("last")], 1, fails);
  expect(world.decisions.map((one) => one.toolUseId)).toEqual(["last"]);
});
