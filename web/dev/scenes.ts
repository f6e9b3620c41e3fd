/** What there is to see, by name. */
import type { ConnectedDevice, Conversation, ConversationStatus, Workspace } from "@/gen";
import type { Recorded, Scene } from "./peer";
import {
  EDIT_ASKS,
  FAILED_TALK,
  HOSTILE_TALK,
  long,
  PLAN_ASKS,
  QUESTIONS,
  RELAY_ASKS,
  RELAY_TALK,
  streamed,
} from "./recordings";

const MINUTE = 60_000;

function talk(
  conversationId: string,
  name: string,
  status: ConversationStatus,
  minutes: number,
  more: Partial<Conversation> = {},
): Conversation {
  return {
    conversationId,
    name,
    skillType: "general",
    status,
    claudeSessionId: null,
    updatedAt: Date.now() - minutes * MINUTE,
    ...more,
  };
}

function space(
  workspaceId: string,
  name: string,
  workingDir: string,
  conversations: Conversation[],
  tasks: Workspace["tasks"] = [],
): Workspace {
  const current = tasks.find((task) => task.status === "running");
  const workerStatus = current
    ? { running: true, on: true, currentTask: { id: current.id, title: current.title }, conversationId: "docs" }
    : { running: false };
  return { workspaceId, name, workingDir, conversations, tasks, workerStatus };
}

function device(deviceId: number, deviceType: "pylon" | "app", name: string, icon: string): ConnectedDevice {
  return {
    deviceId,
    deviceType,
    name,
    icon,
    role: deviceType === "pylon" ? "home" : "client",
    connectedAt: new Date(Date.now() - 90 * MINUTE).toISOString(),
  };
}

function machines(relay: ConversationStatus): Scene["machines"] {
  const estelle = space(
    "ws-estelle",
    "estelle",
    "/home/mina/code/estelle",
    [
      talk("relay", "Fix dropped devices in the relay", relay, 1),
      talk("plan", "Plan: resumable uploads", "permission", 3, { skillType: "planner", permissionMode: "plan" }),
      talk("docs", "Rewrite the pairing guide", "idle", 26, { unread: true }),
      talk("long", "What does every module do?", "idle", 180),
    ],
    [
      { id: "1", title: "Resume an upload after a restart", status: "running" },
      { id: "2", title: "Show which photo is stuck", status: "pending" },
      { id: "3", title: "Checksum per part", status: "done" },
    ],
  );
  const garden = space("ws-garden", "garden-api", "/home/mina/code/garden-api", [
    talk("garden", "Page through plants", "permission", 2),
    talk("deps", "Update dependencies", "idle", 400),
    talk("fresh", "New conversation", "idle", 0),
  ]);
  const office = space("ws-thesis", "thesis", "D:\\thesis", [
    talk("thesis", "Chapter 3: check the references", "working", 0),
    talk("hostile", "<img src=x onerror=alert(1)> said \u202etxt.exe", "idle", 2_000),
  ]);
  return [
    { device: device(1, "pylon", "Selene", "☾"), workspaces: [estelle, garden], isOnline: true },
    { device: device(2, "pylon", "Stella", "★"), workspaces: [office], isOnline: true },
  ];
}

const HALF_A_TEXT =
  "I am comparing the bibliography with the citations in the text. So far **31 of 48** match, and two look like";

const RECORDED: Record<string, Recorded> = {
  relay: {
    rows: RELAY_TALK,
    after: [{ type: "stateUpdate", state: { type: "tool", toolName: "Bash" }, partialText: "" }, RELAY_ASKS],
    script: streamed(),
  },
  plan: { rows: RELAY_TALK.slice(0, 2), after: [PLAN_ASKS] },
  garden: { rows: RELAY_TALK.slice(0, 2), after: [EDIT_ASKS, QUESTIONS] },
  deps: { rows: FAILED_TALK, script: streamed() },
  docs: { rows: RELAY_TALK.slice(0, -3), script: streamed() },
  fresh: { rows: [], script: streamed() },
  hostile: { rows: HOSTILE_TALK },
  thesis: {
    rows: RELAY_TALK.slice(0, 2),
    after: [
      {
        type: "stateUpdate",
        state: { type: "responding" },
        partialText: HALF_A_TEXT,
        open: [{ kind: "text", generation: 1, block: 0, content: HALF_A_TEXT }],
      },
    ],
    script: streamed(),
  },
};

const ELSEWHERE: NonNullable<Scene["elsewhere"]> = [
  { conversationId: "plan", workspaceId: "ws-estelle", deviceId: 1, event: PLAN_ASKS },
  { conversationId: "garden", workspaceId: "ws-garden", deviceId: 1, event: EDIT_ASKS },
  { conversationId: "garden", workspaceId: "ws-garden", deviceId: 1, event: QUESTIONS },
];

const APPS = [device(100, "app", "Phone", "▯"), device(101, "app", "Desk browser", "▭")];

export function sceneOf(name: string, entries: number): Scene {
  const recorded = { ...RECORDED, long: { rows: long(entries), script: streamed() } };
  const base: Scene = {
    machines: machines("permission"),
    apps: APPS,
    recorded,
    elsewhere: [...ELSEWHERE, { conversationId: "relay", workspaceId: "ws-estelle", deviceId: 1, event: RELAY_ASKS }],
    path: "/c/relay",
  };
  const calm: Scene = { ...base, machines: machines("idle"), elsewhere: ELSEWHERE };
  switch (name) {
    case "chat":
      return { ...calm, recorded: { ...recorded, relay: { rows: RELAY_TALK.slice(0, -3), script: streamed() } } };
    case "permission":
      return base;
    case "question":
      return { ...base, path: "/c/garden" };
    case "plan":
      return { ...base, path: "/c/plan" };
    case "working":
      return { ...calm, path: "/c/thesis" };
    case "failed":
      return { ...calm, path: "/c/deps" };
    case "fresh":
      return { ...calm, path: "/c/fresh" };
    case "hostile":
      return { ...calm, path: "/c/hostile" };
    case "changes":
      return { ...calm, path: "/c/relay/changes" };
    case "files":
      return { ...calm, path: "/c/relay/files" };
    case "inbox":
      return { ...base, path: "/inbox" };
    case "list":
      return { ...base, path: "/list" };
    case "settings":
      return { ...calm, path: "/settings" };
    case "usage":
      return { ...calm, path: "/usage" };
    case "rules":
      return { ...calm, path: "/rules" };
    case "work":
      return { ...calm, path: "/work" };
    case "terminals":
      return { ...calm, path: "/terminals" };
    case "terminal":
      return { ...calm, path: "/terminals/1/t-shell" };
    case "worktrees":
      return { ...calm, path: "/worktrees" };
    case "deploy":
      return { ...calm, path: "/deploy" };
    case "saved":
      return { ...calm, path: "/saved/1/ws-estelle" };
    case "long":
      return { ...calm, path: "/c/long" };
    case "lost":
      return { ...calm, isUnreachable: true, path: "/c/relay" };
    case "empty":
      return { ...calm, machines: [], elsewhere: [], path: "/" };
    default:
      return { ...calm, path: "/" };
  }
}
