/** What a reload must not change: the page comes from the machine's memory, over a connection with another number. */
import { expect, it } from "vitest";
import type { HistoryResult, WorkspaceListResult } from "@/gen";
import { whoIs } from "./authors";
import { find, glance } from "./fleet";
import { EMPTY_WORLD, onFrame, onOnline, view, type World } from "./world";

const ME = { deviceId: 107, deviceType: "app" as const, name: "Pixel", icon: "", role: "client" };
const author = { deviceKey: "phone", name: "Pixel" };
const page: HistoryResult = {
  deviceId: 1,
  workspaceId: "ws",
  conversationId: "c",
  messages: [
    { type: "text", role: "user", content: "Hello", timestamp: 1, seq: 1, deviceId: 104, author },
    { type: "tool_start", toolName: "Bash", toolInput: {}, toolUseId: "t", timestamp: 2, seq: 2 },
    { type: "user_response", toolUseId: "t", content: "allowed", timestamp: 3, seq: 3, deviceId: 105, author },
    {
      type: "result",
      duration_ms: 1,
      usage: { inputTokens: 1, outputTokens: 1, cacheReadInputTokens: 0 },
      timestamp: 4,
      seq: 4,
      models: [
        { model: "haiku", costUsd: 0.01, usage: none() },
        { model: "opus", costUsd: 1, usage: none() },
      ],
    },
    { type: "error", content: "no credit", cause: "billing", exitCode: 1, timestamp: 5, seq: 5 },
    { type: "system", subtype: "paused_idle_timeout", content: "stopped", timestamp: 6, seq: 6 },
    { type: "system", subtype: "resumed", content: "resumed", timestamp: 7, seq: 7 },
  ],
  process: { status: "stopped", paused: { reason: "idle_timeout", idleMinutes: 45, canResume: true } },
  offset: 0,
  totalCount: 7,
  hasMore: false,
  headSeq: 7,
  success: true,
};

function none() {
  return { inputTokens: 0, outputTokens: 0, cacheReadInputTokens: 0, cacheCreationInputTokens: 0 };
}

function reloaded(): World {
  const online = onOnline(EMPTY_WORLD, ME, "phone").world;
  return onFrame(view(online, "c").world, { type: "history_result", payload: page }, 10).world;
}

it("my own messages and answers are still mine after a reload", () => {
  const world = reloaded();
  const known = { myKey: world.myKey, machines: world.fleet };
  const [said, call] = world.transcripts.c?.entries.top ?? [];
  expect(said?.kind === "user" && whoIs(said, known)).toEqual({ type: "me" });
  expect(call?.kind === "tool" && call.answer && whoIs(call.answer, known)).toEqual({ type: "me" });
  const other = { ...known, myKey: "laptop" };
  expect(said?.kind === "user" && whoIs(said, other)).toEqual({ type: "named", name: "Pixel" });
});

it("an error still says what to do, a turn its model, a pause and a resume that they were", () => {
  const entries = reloaded().transcripts.c?.entries.top.slice(2) ?? [];
  expect(entries).toMatchObject([
    { kind: "result", models: ["opus", "haiku"] },
    { kind: "error", cause: "billing", exitCode: 1 },
    { kind: "remark", subtype: "paused_idle_timeout", text: "" },
    { kind: "remark", subtype: "resumed", text: "" },
  ]);
});

it("a stopped process is known to be stopped, and the next message that it goes on", () => {
  const { paused } = reloaded().transcripts.c ?? {};
  expect(paused).toMatchObject({ reason: "idle_timeout", idleMinutes: 45, canResume: true });
});

it("the list tells errors, stops, doubts and what an agent is at, and a status takes them back", () => {
  const conversation = { conversationId: "c", name: "c", skillType: "general", claudeSessionId: null } as const;
  const after = (more: Partial<WorkspaceListResult["workspaces"][0]["conversations"][0]>) => {
    const list: WorkspaceListResult = {
      deviceId: 1,
      deviceInfo: { name: "Selene", icon: "🌙" },
      workspaces: [
        {
          workspaceId: "ws",
          name: "ws",
          workingDir: "/w",
          conversations: [{ ...conversation, status: "idle", ...more }],
          tasks: [],
          workerStatus: { running: false },
        },
      ],
      success: true,
      activeWorkspaceId: null,
      activeConversationId: null,
    };
    return onFrame(EMPTY_WORLD, { type: "workspace_list_result", payload: list }, 1).world;
  };
  const seen = (world: World) => {
    const place = find(world.fleet, "c");
    return place && glance(place);
  };
  expect(seen(after({ process: { status: "error" }, unread: true }))).toBe("error");
  expect(seen(after({ process: { status: "error" }, status: "working" }))).toBe("working");
  expect(seen(after({ process: { status: "suspect" }, status: "working" }))).toBe("suspect");
  expect(seen(after({ process: { status: "suspect" }, status: "permission" }))).toBe("needed");
  expect(seen(after({ process: { status: "stopped" } }))).toBe("stopped");
  const status = { deviceId: 1, conversationId: "c", status: "idle" as const };
  const well = onFrame(after({ process: { status: "error" } }), { type: "conversation_status", payload: status }, 2);
  expect(seen(well.world)).toBe("idle");
});
