import { describe, expect, it } from "vitest";
import type { Conversation, Workspace } from "@/gen";
import { EMPTY_WORLD, type Frame, onFrame, onOffline, onOnline, view, type World } from "./world";

const talk = (conversationId: string, status: Conversation["status"] = "idle"): Conversation => ({
  conversationId,
  name: conversationId,
  skillType: "general",
  status,
  claudeSessionId: null,
});

function list(deviceId: number, conversations: Conversation[]): Frame {
  const workspace: Workspace = {
    workspaceId: "ws",
    name: "ws",
    workingDir: "/w",
    conversations,
    tasks: [],
    workerStatus: { running: false },
  };
  return {
    type: "workspace_list_result",
    payload: {
      deviceId,
      deviceInfo: { name: "Selene", icon: "🌙" },
      workspaces: [workspace],
      success: true,
      activeWorkspaceId: null,
      activeConversationId: null,
    },
  };
}

function presence(...ids: number[]): Frame {
  const devices = ids.map((deviceId) => ({
    deviceId,
    deviceType: "pylon" as const,
    name: "Selene",
    icon: "🌙",
    role: "home",
    connectedAt: "",
  }));
  return { type: "device_status", payload: { devices } };
}

const asked = (conversationId: string, toolUseId: string, deviceId = 1): Frame => ({
  type: "claude_event",
  from: { deviceId, deviceType: "pylon", name: "" },
  payload: {
    workspaceId: "ws",
    conversationId,
    event: { type: "permission_request", toolName: "Bash", toolInput: {}, toolUseId },
  },
});

function play(frames: Frame[], start: World = EMPTY_WORLD) {
  const asks: string[] = [];
  const world = frames.reduce((now, frame) => {
    const turned = onFrame(now, frame, 1_000);
    asks.push(...turned.asks.map((ask) => ask.type));
    return turned.world;
  }, start);
  return { world, asks };
}

describe("the world", () => {
  it("asks a machine that appears for its list, and reads the open conversation again", () => {
    const start = view(play([presence(1), list(1, [talk("a")])]).world, "a").world;
    const away = onOffline(start);
    expect(onOnline(away, null).asks).toEqual([{ type: "list" }]);
    expect(play([presence(1)], away).asks).toEqual(["list", "select"]);
  });

  it("reads a conversation that was opened before its machine was known", () => {
    expect(play([list(1, [talk("a")])], view(EMPTY_WORLD, "a").world).asks).toEqual(["select"]);
  });

  it("keeps what a machine had when it goes away, marked as old", () => {
    const { world } = play([presence(1), list(1, [talk("a")]), presence()]);
    expect(world.fleet[0]).toMatchObject({
      isOnline: false,
      workspaces: [{ conversations: [{ conversationId: "a" }] }],
    });
  });

  it("knows of decisions in conversations that are not on the screen", () => {
    const { world } = play(
      [list(1, [talk("a"), talk("b", "permission")]), asked("b", "t1")],
      view(EMPTY_WORLD, "a").world,
    );
    expect(world.decisions.map((one) => one.toolUseId)).toEqual(["t1"]);
  });

  it("drops a card when a fresh list says that nobody is needed there", () => {
    const { world } = play([list(1, [talk("b", "permission")]), asked("b", "t1"), list(1, [talk("b", "working")])]);
    expect(world.decisions).toEqual([]);
  });

  it("drops a card when another device answered first, and keeps it when the answer was refused", () => {
    const result = (errorCode: "already_answered" | "rate_limited"): Frame => ({
      type: "claude_permission_result",
      payload: { deviceId: 1, conversationId: "b", toolUseId: "t1", success: false, errorCode, error: "no" },
    });
    expect(play([asked("b", "t1"), result("already_answered")]).world.decisions).toEqual([]);
    expect(play([asked("b", "t1"), result("rate_limited")]).world.decisions).toMatchObject([
      { refusal: { words: "no" }, sent: false },
    ]);
  });

  it("does not believe one machine about the conversations of another", () => {
    expect(play([list(1, [talk("a")]), asked("a", "t1", 2)]).world.decisions).toEqual([]);
  });

  it("keeps a message for a machine that is not there yet, and sends it when it is", () => {
    const outgoing = {
      clientMessageId: "m1",
      deviceId: 1,
      workspaceId: "ws",
      conversationId: "a",
      text: "Hi",
      writtenAt: 0,
      state: "sent" as const,
    };
    const start = { ...play([presence(1), list(1, [talk("a")])]).world, outbox: [outgoing] };
    const undeliverable: Frame = {
      type: "error",
      payload: { error: "not connected", errorCode: "undeliverable", retry: "later", about: "claude_send" },
    };
    const refused = play([undeliverable], start);
    expect(refused.world.outbox).toMatchObject([{ state: "waiting" }]);
    expect(refused.world.notices).toEqual([]);
    const away = play([presence()], start);
    expect(away.world.outbox).toMatchObject([{ state: "waiting" }]);
    expect(away.asks).toEqual([]);
    expect(play([presence(1)], away.world).asks).toContain("flush");
    expect(play([list(1, [talk("a")])], away.world).asks).toContain("flush");
    expect(play([presence(1)], refused.world).asks).not.toContain("flush");
  });

  it("lets an answer be given again when its machine went away", () => {
    const sent = play([presence(1), list(1, [talk("b", "permission")]), asked("b", "t1")]).world;
    const start = { ...sent, decisions: sent.decisions.map((one) => ({ ...one, sent: true })) };
    expect(play([presence()], start).world.decisions).toMatchObject([{ toolUseId: "t1", sent: false }]);
  });

  it("shows a message once: the optimistic row goes when the conversation has it", () => {
    const outgoing = {
      clientMessageId: "m1",
      deviceId: 1,
      workspaceId: "ws",
      conversationId: "a",
      text: "Hi",
      writtenAt: 0,
      state: "sent" as const,
    };
    const start = { ...view(EMPTY_WORLD, "a").world, outbox: [outgoing] };
    const page: Frame = {
      type: "history_result",
      payload: {
        deviceId: 1,
        workspaceId: "ws",
        conversationId: "a",
        messages: [],
        offset: 0,
        totalCount: 0,
        hasMore: false,
        success: true,
        epoch: 1,
        headSeq: 0,
      },
    };
    const said: Frame = {
      type: "claude_event",
      payload: {
        workspaceId: "ws",
        conversationId: "a",
        seq: 1,
        epoch: 1,
        event: { type: "userMessage", content: "Hi", timestamp: 1, clientMessageId: "m1" },
      },
    };
    const { world } = play([page, said], start);
    expect(world.outbox).toEqual([]);
    expect(world.transcripts.a?.entries.top).toHaveLength(1);
    // The same when the answer was lost and the page already has it.
    const row = {
      type: "text" as const,
      role: "user" as const,
      content: "Hi",
      timestamp: 1,
      seq: 1,
      clientMessageId: "m1",
    };
    expect(
      play([{ ...page, payload: { ...page.payload, messages: [row], headSeq: 1 } } as Frame], start).world.outbox,
    ).toEqual([]);
  });

  it("makes unconfirmed messages wait again after a loss", () => {
    const outgoing = {
      clientMessageId: "m1",
      deviceId: 1,
      workspaceId: "ws",
      conversationId: "a",
      text: "Hi",
      writtenAt: 0,
      state: "sent" as const,
    };
    expect(onOffline({ ...EMPTY_WORLD, outbox: [outgoing] }).outbox[0]?.state).toBe("waiting");
  });

  const page = (more: object): Frame => ({
    type: "history_result",
    payload: {
      ...{
        deviceId: 1,
        workspaceId: "ws",
        conversationId: "a",
        messages: [],
        offset: 0,
        totalCount: 0,
        hasMore: false,
      },
      ...{ success: true, epoch: 1, headSeq: 5, currentStatus: "working" as const },
      ...more,
    },
  });

  it("reads a conversation once, not at every piece, when it came in the middle of a text", () => {
    const piece = (at: number): Frame => ({
      type: "claude_event",
      payload: {
        workspaceId: "ws",
        conversationId: "a",
        event: { type: "text", content: "x", generation: 1, block: 0, at },
      },
    });
    const written: Frame = {
      type: "claude_event",
      payload: {
        workspaceId: "ws",
        conversationId: "a",
        event: { type: "stateUpdate", state: { type: "responding" }, partialText: "", open: [] },
      },
    };
    const start = view(EMPTY_WORLD, "a").world;
    const frames = [page({}), written, piece(40), page({}), written, piece(41), piece(42)];
    expect(play(frames, start).asks).toEqual(["select"]);
    // What comes before the machine said what is written is in what it says.
    expect(play([page({}), piece(40), written], start).asks).toEqual([]);
  });

  it("does not take an older page that comes late for the newest one", () => {
    const row = (seq: number) => ({
      type: "text" as const,
      role: "user" as const,
      content: `${seq}`,
      timestamp: seq,
      seq,
    });
    const start = play([page({ messages: [row(5)], hasMore: true })], view(EMPTY_WORLD, "a").world).world;
    const again = view(start, "a").world;
    const { world } = play([page({ messages: [row(4)], requestId: "r1", headSeq: 5 })], again);
    expect(world.transcripts.a?.load).toBe("loading");
    expect(world.transcripts.a?.entries.top.map((entry) => entry.seq)).toEqual([4, 5]);
  });

  it("begins anew when the conversation was cleared", () => {
    const row = { type: "text", role: "user", content: "old", timestamp: 1, seq: 5 };
    const start = play([page({ messages: [row] })], view(EMPTY_WORLD, "a").world).world;
    const cleared: Frame = {
      type: "claude_control_result",
      payload: { deviceId: 1, conversationId: "a", action: "clear", success: true },
    };
    const { world, asks } = play([cleared], start);
    expect(asks).toEqual(["select"]);
    expect(world.transcripts.a?.entries.top).toEqual([]);
  });
});
