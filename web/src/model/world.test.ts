import { describe, expect, it } from "vitest";
import type { ClaudeEvent, Conversation, Workspace } from "@/gen";
import { EMPTY_WORLD, type Frame, onFrame, onOffline, onOnline, onSettled, view, type World } from "./world";

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
  return presenceSince("", ...ids);
}

function presenceSince(connectedAt: string, ...ids: number[]): Frame {
  const devices = ids.map((deviceId) => ({
    deviceId,
    deviceType: "pylon" as const,
    name: "Selene",
    icon: "🌙",
    role: "home",
    connectedAt,
  }));
  return { type: "device_status", payload: { devices } };
}

describe("what was made", () => {
  const made = { ...talk("new"), name: "Seeds" };
  const answer: Frame = {
    type: "conversation_create_result",
    payload: { deviceId: 1, workspaceId: "ws", success: true, conversation: made },
  };
  const start = [presence(1), list(1, [talk("a")])].reduce<World>((w, f) => onFrame(w, f, 5).world, EMPTY_WORLD);
  const ids = ({ fleet }: World) => fleet[0]?.workspaces.map((one) => one.conversations.map((c) => c.conversationId));

  it("is there with the answer, before the list that has it, and once", () => {
    const { world } = onFrame(start, answer, 7);
    expect(ids(world)).toEqual([["a", "new"]]);
    expect(ids(onFrame(world, answer, 8).world)).toEqual([["a", "new"]]);
    expect(ids(onFrame(world, list(1, [talk("a"), made]), 9).world)).toEqual([["a", "new"]]);
  });

  it("is read at once by who opened it before anybody knew it", () => {
    const early = view(start, "new").world;
    expect(onFrame(early, answer, 7).asks).toEqual([{ type: "select", conversationId: "new" }]);
  });

  it("a workspace comes with its first conversation, and a refusal makes nothing", () => {
    const workspace: Workspace = {
      ...{ workspaceId: "w2", name: "w2", workingDir: "/w2", conversations: [], tasks: [] },
      workerStatus: { running: false },
    };
    const payload = { deviceId: 1, success: true, workspace, conversation: made };
    const { world } = onFrame(start, { type: "workspace_create_result", payload }, 7);
    expect(ids(world)).toEqual([["a"], ["new"]]);
    const refused = { ...payload, success: false };
    expect(ids(onFrame(start, { type: "workspace_create_result", payload: refused }, 7).world)).toEqual([["a"]]);
  });
});

const PAGE = { deviceId: 1, workspaceId: "ws", messages: [], offset: 0, totalCount: 0, hasMore: false, success: true };

const MESSAGE = { clientMessageId: "m", deviceId: 1, workspaceId: "ws", text: "Hello", writtenAt: 0 };

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

  it("reads the open conversation again when its machine went and came between two words of it", () => {
    const first = presenceSince("2026-01-01T00:00:00Z", 1, 2);
    const start = view(play([first, list(1, [talk("a")])]).world, "a").world;
    const written = { ...start, outbox: [{ ...MESSAGE, conversationId: "a", state: "sent" as const }] };
    expect(play([first], written).asks).toEqual([]);
    const again = play([presenceSince("2026-01-01T00:05:00Z", 1, 2)], written);
    expect(again.asks).toEqual(["list", "select", "flush"]);
    expect(again.world.outbox.map(({ state }) => state)).toEqual(["waiting"]);
  });

  it("knows the limits of a machine's plan, whichever conversation told them", () => {
    const told = (window: string, status: "allowed" | "rejected"): Frame => ({
      type: "claude_event",
      from: { deviceId: 1, deviceType: "pylon", name: "" },
      payload: { workspaceId: "ws", conversationId: "b", event: { type: "limits", limits: [{ window, status }] } },
    });
    const frames = [told("five_hour", "rejected"), told("seven_day", "allowed"), told("five_hour", "allowed")];
    const start = view(play([presence(1), list(1, [talk("a"), talk("b")])]).world, "a").world;
    const limits = frames.map((_, index) => play(frames.slice(0, index + 1), start).world.fleet[0]?.limits);
    expect(limits.map((one) => one?.map(({ window, status }) => `${window} ${status}`))).toEqual([
      ["five_hour rejected"],
      ["five_hour rejected", "seven_day allowed"],
      ["seven_day allowed", "five_hour allowed"],
    ]);
  });

  it("says that a request failed and when it comes again, until something else happens", () => {
    const event = (event: ClaudeEvent): Frame => ({
      type: "claude_event",
      payload: { workspaceId: "ws", conversationId: "a", event, timestamp: 5_000 },
    });
    const start = view(play([presence(1), list(1, [talk("a")])]).world, "a").world;
    const page = { type: "history_result", payload: { ...PAGE, conversationId: "a" } } as Frame;
    const failed = event({ type: "apiRetry", attempt: 2, cause: "overloaded", maxRetries: 10, delayMs: 4_000 });
    const still = event({ type: "stateUpdate", state: { type: "thinking" }, partialText: "" });
    const goesOn = event({ type: "text", content: "Hi", generation: 1, block: 0, at: 0 });
    const retry = (frames: Frame[]) => play([page, ...frames], start).world.transcripts.a?.retry;
    expect(retry([failed, still])).toMatchObject({ attempt: 2, cause: "overloaded", until: 9_000 });
    expect(retry([failed, still, goesOn])).toBeUndefined();
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

  /** What the Pylon says after a list or a page of a conversation in which something is open. */
  const repeated = (conversationId: string, ...open: string[]): Frame[] => [
    {
      type: "claude_event",
      payload: { workspaceId: "ws", conversationId, event: { type: "state", state: "permission" } },
    },
    ...open.map((toolUseId) => asked(conversationId, toolUseId)),
  ];

  it("drops a card of a conversation elsewhere that was answered while it was away, though another one waits there", () => {
    const start = play([list(1, [talk("b", "permission")]), asked("b", "t1"), asked("c", "t9")]).world;
    const back = play([list(1, [talk("b", "permission")]), ...repeated("b", "t2")], onOffline(start)).world;
    expect(back.decisions.map((one) => one.toolUseId)).toEqual(["t9", "t2"]);
  });

  it("drops a card that is not among those that the machine says again, once it had the time to", () => {
    const start = play([list(1, [talk("b", "permission")]), asked("b", "t1"), asked("b", "t2")]).world;
    const { world, asks } = play([list(1, [talk("b", "permission")]), ...repeated("b", "t1")], start);
    expect(asks).toEqual(["settle"]);
    expect(world.decisions.map((one) => one.toolUseId)).toEqual(["t1", "t2"]);
    // Nothing that was named since, and nothing that is said again later.
    const later = play(repeated("b", "t1", "t2"), world).world;
    expect(onSettled(later, "b", 1_000).decisions.map((one) => one.toolUseId)).toEqual(["t1", "t2"]);
    expect(onSettled(world, "b", 1_000).decisions.map((one) => one.toolUseId)).toEqual(["t1"]);
  });

  it("keeps the card of a conversation that is read again until the machine says what is open", () => {
    const page = { type: "history_result", payload: { ...PAGE, conversationId: "a", currentStatus: "permission" } };
    const start = play([list(1, [talk("a", "permission")]), asked("a", "t1")]).world;
    const read = play([page as Frame], view(start, "a").world).world;
    expect(read.decisions.map((one) => one.toolUseId)).toEqual(["t1"]);
    expect(play(repeated("a", "t1"), read).world.decisions.map((one) => one.toolUseId)).toEqual(["t1"]);
    expect(play(repeated("a", "t2"), read).world.decisions.map((one) => one.toolUseId)).toEqual(["t2"]);
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

  it("writes nothing a second time that the page has already", () => {
    const said = { type: "text" as const, role: "assistant" as const, content: "cinque", timestamp: 5, seq: 5 };
    const happens = (event: object, seq?: number): Frame =>
      ({
        type: "claude_event",
        payload: { workspaceId: "ws", conversationId: "a", event, ...(seq ? { seq, epoch: 1, timestamp: seq } : {}) },
      }) as Frame;
    const piece = (content: string, generation = 1) => happens({ type: "text", content, generation, block: 0, at: 0 });
    const written = (content: string) =>
      happens({
        ...{ type: "stateUpdate", state: { type: "responding" }, partialText: content },
        open: [{ kind: "text", generation: 1, block: 0, content }],
      });
    const texts = (...frames: Frame[]) => {
      const { world } = play([page({ messages: [said] }), ...frames], view(EMPTY_WORLD, "a").world);
      return world.transcripts.a?.open.map((open) => open.text);
    };
    // On its way when the page was read.
    expect(texts(piece("cinque"))).toEqual([]);
    expect(texts(piece("cinque"), happens({ type: "textComplete", text: "cinque" }, 5))).toEqual([]);
    // The machine looked before the page was read, and its words came after it.
    expect(texts(written("cinque"), happens({ type: "textComplete", text: "cinque" }, 5))).toEqual([]);
    expect(texts(written("cinque"), happens({ type: "state", state: "idle" }, 5))).toEqual([]);
    // What is new is written.
    expect(texts(happens({ type: "state", state: "working" }, 6), piece("sei", 2))).toEqual(["sei"]);
    expect(texts(written("se"))).toEqual(["se"]);
  });

  it("shows a text once that grew here and comes again with an older page", () => {
    const happens = (event: object, seq?: number): Frame =>
      ({
        type: "claude_event",
        payload: { workspaceId: "ws", conversationId: "a", event, ...(seq ? { seq, epoch: 1, timestamp: seq } : {}) },
      }) as Frame;
    const row = { type: "text" as const, role: "assistant" as const, content: "Hi", timestamp: 7, seq: 7 };
    const frames = [
      page({}),
      happens({ type: "state", state: "working" }, 6),
      happens({ type: "text", content: "Hi", generation: 1, block: 0, at: 0 }),
      happens({ type: "textComplete", text: "Hi" }, 7),
    ];
    const start = play(frames, view(EMPTY_WORLD, "a").world).world;
    const { world } = play([page({ messages: [row], requestId: "r1", headSeq: 7 })], start);
    expect(world.transcripts.a?.entries.top.map((entry) => entry.seq)).toEqual([7]);
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
