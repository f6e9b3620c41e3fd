/**
 * A relay with machines behind it, in memory: speaks the protocol's own types and plays recorded conversations.
 *
 * It answers what the app asks, streams a scripted turn for every message, and asks for permission where the script
 * does. Good enough to see every view; it proves nothing about the real ones.
 */
import type { Connect, TransportEvents } from "@/api/socket";
import type {
  AppToPylon,
  ClaudeEvent,
  ConnectedDevice,
  DeviceToRelay,
  HistoryMessage,
  PermissionRule,
  PylonToApp,
  RelayToDevice,
  SearchHit,
  Workspace,
} from "@/gen";

import { CHANGED, contentsOf, DIFF, entriesOf } from "./folder";
import { answerWork } from "./work";

export interface Recorded {
  rows: HistoryMessage[];
  /** Sent after the newest page, as the real one does: what is being written, what is open. */
  after?: ClaudeEvent[];
  /** What the machine plays when a message comes, one event per tick. */
  script?: ClaudeEvent[];
}

export interface Scene {
  machines: { device: ConnectedDevice; workspaces: Workspace[]; isOnline: boolean }[];
  apps: ConnectedDevice[];
  recorded: Record<string, Recorded>;
  /** Decisions of conversations that are not looked at. */
  elsewhere?: { conversationId: string; workspaceId: string; deviceId: number; event: ClaudeEvent }[];
  path: string;
  isUnreachable?: boolean;
  /** Nothing is answered before `arrive` is called. */
  isHeld?: boolean;
  /** The device is not known any more. */
  isRefused?: boolean;
}

const TICK_MS = 30;
const LIST_MS = 500;

/** The device that looks, as machines know it. */
const ME = { deviceKey: "k1", name: "Phone" };

const RULES: PermissionRule[] = [
  { rule: "Bash(cargo test:*)", effect: "allow", since: 1_793_000_000_000 },
  { rule: "Bash(git push:*)", effect: "ask", since: 1_794_000_000_000 },
  { rule: "Read(~/.ssh/**)", effect: "deny" },
  { rule: "Edit(docs/**)", effect: "allow", workspaceId: "ws-estelle" },
];

const TURN_DIFF = "@@ @@\n-fn one_frame() {\n+fn has_frame() -> bool {\n+    // a frame that was begun counts\n";

export class Peer {
  #events: TransportEvents | null = null;
  #seqs = new Map<string, number>();
  #streamed = 0;
  #goesOn = false;
  #playing = new Map<string, ReturnType<typeof setInterval>>();

  constructor(readonly scene: Scene) {
    location.hash = scene.path;
  }

  readonly connect: Connect = (events) => {
    if (this.scene.isUnreachable) {
      setTimeout(() => events.closed(), 20);
      return { send: () => undefined, close: () => undefined };
    }
    this.#events = events;
    if (!this.scene.isHeld) setTimeout(() => events.opened(), 5);
    return { send: (text) => setTimeout(() => this.#on(JSON.parse(text)), 5), close: () => undefined };
  };

  /** Is there, at last. */
  arrive(): void {
    this.scene.isHeld = false;
    this.#events?.opened();
  }

  /** Cuts the connection, as a lost network does. */
  cut(): void {
    this.#events?.closed();
  }

  /** Is not there any more, until the page is loaded anew. */
  leave(): void {
    this.scene.isUnreachable = true;
    this.cut();
  }

  /** Says anything that a relay or a machine may say. */
  say(message: PylonToApp | RelayToDevice): void {
    this.#say(message);
  }

  /**
   * Streams pieces of text into a conversation at a rate, without ending it, and says at which rate it did. Timers are
   * late and never shorter than a few milliseconds, so what is due is told by the clock.
   */
  async stream(conversationId: string, pieces: number, perSecond: number): Promise<number> {
    this.#event(conversationId, "ws-estelle", { type: "state", state: "working" });
    const words = "A **word** of text, `code` and more. ";
    const from = this.#streamed;
    const start = performance.now();
    for (let index = 0; index < pieces; index++) {
      while (index > ((performance.now() - start) / 1_000) * perSecond) await new Promise((done) => setTimeout(done));
      const content = index % 20 === 19 ? "\n\n" : words.slice((index * 7) % 20, ((index * 7) % 20) + 12);
      this.#event(conversationId, "ws-estelle", { type: "text", content, generation: 1, block: 0, at: this.#streamed });
      this.#streamed += content.length;
    }
    if (from === this.#streamed) throw new Error("nothing was streamed");
    return pieces / ((performance.now() - start) / 1_000);
  }

  /** Says many things of a conversation at once, as a machine does that was away for a while. */
  pour(conversationId: string, events: ClaudeEvent[]): void {
    for (const event of events) this.#event(conversationId, "ws-estelle", event);
  }

  /** Reports that it was told to keep. */
  readonly reports: string[] = [];

  /** What was asked of it, by name. */
  readonly asked: string[] = [];

  #on(message: (AppToPylon | DeviceToRelay) & { to?: { deviceId: number } }): void {
    this.asked.push(message.type);
    const deviceId = message.to?.deviceId ?? 1;
    switch (message.type) {
      case "auth":
        if (this.scene.isRefused) {
          this.#say({ type: "auth_result", payload: { success: false, error: "revoked", rights: [] } });
          return;
        }
        this.#say({
          type: "auth_result",
          payload: {
            success: true,
            device: { deviceId: 100, deviceType: "app", name: "Phone", icon: "▯", role: "client" },
            rights: ["view", "prompt", "approve", "terminal", "admin"],
            deviceKey: ME.deviceKey,
          },
        });
        this.#say({
          type: "device_status",
          payload: {
            devices: [
              ...this.scene.machines.filter((one) => one.isOnline).map((one) => one.device),
              ...this.scene.apps,
            ],
          },
        });
        return;
      case "ping":
        this.#say({ type: "pong", payload: {} });
        return;
      case "paired_list": {
        const rights = ["view", "prompt", "approve"] as const;
        const createdAt = Date.now() - 20 * 86_400_000;
        const devices = [
          { deviceKey: "k1", name: "Phone", rights: [...rights, "admin" as const], createdAt, connected: [100] },
          { deviceKey: "k2", name: "Desk browser", rights: [...rights], createdAt, connected: [101] },
          {
            deviceKey: "k3",
            name: "Old tablet",
            rights: ["view" as const],
            createdAt,
            connected: [],
            lastSeenAt: createdAt,
          },
        ];
        this.#say({
          type: "paired_list_result",
          payload: { devices, success: true, requestId: message.payload?.requestId },
        });
        return;
      }
      case "workspace_list":
        this.#list();
        return;
      case "conversation_select":
        this.#select(message.payload.conversationId, message.payload.workspaceId, deviceId);
        return;
      case "history_request": {
        const { conversationId, workspaceId, beforeSeq = 0, limit = 50, requestId } = message.payload;
        const rows = (this.scene.recorded[conversationId]?.rows ?? []).filter((row) => (row.seq ?? 0) < beforeSeq);
        const page = rows.slice(-limit);
        const payload = {
          deviceId,
          workspaceId,
          conversationId,
          messages: page,
          offset: 1,
          totalCount: rows.length,
          hasMore: page.length < rows.length,
          success: true,
          epoch: 1,
          requestId,
        };
        this.#say({ type: "history_result", payload });
        return;
      }
      case "claude_send": {
        const { conversationId, workspaceId, clientMessageId, message: content } = message.payload;
        const seq = this.#event(conversationId, workspaceId, {
          type: "userMessage",
          content,
          timestamp: Date.now(),
          clientMessageId,
          deviceId: 100,
          author: ME,
        });
        this.#say({
          type: "claude_send_result",
          payload: { deviceId, conversationId, success: true, clientMessageId, seq },
        });
        this.#play(conversationId, workspaceId);
        return;
      }
      case "claude_permission": {
        const { conversationId, workspaceId, toolUseId, decision } = message.payload;
        this.#event(conversationId, workspaceId, {
          type: "decisionAnswered",
          toolUseId,
          state: "answered",
          decision,
          deviceId: 100,
          author: ME,
          answeredAt: Date.now(),
        });
        this.#say({
          type: "claude_permission_result",
          payload: { deviceId, conversationId, toolUseId, success: true },
        });
        this.#event(conversationId, workspaceId, { type: "state", state: "working" });
        return;
      }
      case "claude_answer": {
        const { conversationId, workspaceId, toolUseId } = message.payload;
        this.#event(conversationId, workspaceId, {
          type: "decisionAnswered",
          toolUseId,
          state: "answered",
          deviceId: 100,
          author: ME,
          answeredAt: Date.now(),
        });
        this.#say({
          type: "claude_answer_result",
          payload: { deviceId, conversationId, toolUseId, success: true },
        });
        return;
      }
      case "claude_control": {
        const { conversationId, workspaceId, action, clientMessageId, requestId } = message.payload;
        if (action === "cancel_message" && clientMessageId !== undefined) {
          this.#event(conversationId, workspaceId, { type: "messageCancelled", clientMessageId, deviceId: 100 });
        } else {
          clearInterval(this.#playing.get(conversationId));
          this.#event(conversationId, workspaceId, { type: "claudeAborted", reason: "user" });
          this.#event(conversationId, workspaceId, { type: "state", state: "idle" });
        }
        this.#say({
          type: "claude_control_result",
          payload: { deviceId, conversationId, action, success: true, requestId },
        });
        return;
      }
      case "continuation_set": {
        const { conversationId, enabled: wished, requestId } = message.payload;
        if (wished !== undefined) this.#goesOn = wished;
        const [enabled, at] = [this.#goesOn, this.#goesOn ? Date.now() + 7_275_000 : undefined];
        const payload = { deviceId, conversationId, enabled, at, success: true, requestId };
        this.#say({ type: "continuation_set_result", payload });
        return;
      }
      case "folder_list": {
        const { path = "/home/mina/code", requestId } = message.payload ?? {};
        const folders = ["estelle", "garden-api", "notes", "photos-sync", "thesis"];
        this.#say({
          type: "folder_list_result",
          payload: { deviceId, path, folders, success: true, requestId },
        });
        return;
      }
      case "saved_continue":
      case "conversation_create": {
        const { workspaceId, name = "Went on from a saved session", requestId } = message.payload;
        const skillType = message.type === "conversation_create" ? message.payload.skillType : undefined;
        const conversationId = `made${this.asked.length}`;
        const made = { conversationId, name, skillType: skillType ?? "general", status: "idle" as const };
        const conversation = { ...made, claudeSessionId: null, updatedAt: Date.now() };
        for (const { workspaces } of this.scene.machines)
          for (const one of workspaces) if (one.workspaceId === workspaceId) one.conversations.push(conversation);
        const payload = { deviceId, success: true, conversation, workspaceId, requestId };
        this.#say({ type: "conversation_create_result", payload });
        this.#listLater();
        return;
      }
      case "workspace_create": {
        const { name, workingDir, requestId } = message.payload;
        const conversation = {
          ...{ conversationId: `made${this.asked.length}`, name: "New conversation", claudeSessionId: null },
          ...{ skillType: "general" as const, status: "idle" as const, updatedAt: Date.now() },
        };
        const workspaceId = `ws-made${this.asked.length}`;
        const workspace: Workspace = {
          ...{ workspaceId, name, workingDir, conversations: [conversation], tasks: [] },
          workerStatus: { running: false },
        };
        this.scene.machines.find(({ device }) => device.deviceId === deviceId)?.workspaces.push(workspace);
        const payload = { deviceId, success: true, workspace, conversation, requestId };
        this.#say({ type: "workspace_create_result", payload });
        this.#listLater();
        return;
      }
      case "task_get": {
        const { workspaceId, taskId, requestId } = message.payload;
        const summary = this.#workspace(workspaceId)?.tasks.find((one) => one.id === taskId);
        const task = summary && { ...summary, content: "Parts that arrived **stay**; the rest is sent again." };
        this.#say({ type: "task_get_result", payload: { deviceId, workspaceId, success: true, task, requestId } });
        return;
      }
      case "task_create":
      case "task_status": {
        const { workspaceId, requestId } = message.payload;
        const workspace = this.#workspace(workspaceId);
        if (!workspace) return;
        if (message.type === "task_create")
          workspace.tasks = [
            { id: `n${this.asked.length}`, title: message.payload.title, status: "pending" },
            ...workspace.tasks,
          ];
        else {
          const { taskId, status } = message.payload;
          workspace.tasks = workspace.tasks.map((one) => (one.id === taskId ? { ...one, status } : one));
        }
        const type = message.type === "task_create" ? "task_create_result" : "task_status_result";
        this.#say({ type, payload: { deviceId, workspaceId, success: true, requestId } });
        const payload = { deviceId, workspaceId, tasks: workspace.tasks, success: true };
        this.#say({ type: "task_list_result", payload });
        return;
      }
      case "file_list": {
        const { workspaceId, path = "", requestId } = message.payload;
        const payload = { deviceId, workspaceId, entries: entriesOf(path), path, success: true, requestId };
        this.#say({ type: "file_list_result", payload });
        return;
      }
      case "file_read": {
        const { workspaceId, path, requestId } = message.payload;
        const content = contentsOf(path) ?? "";
        const payload = { deviceId, workspaceId, path, content, size: content.length, success: true, requestId };
        this.#say({ type: "file_read_result", payload });
        return;
      }
      case "changes_request": {
        const { workspaceId, requestId } = message.payload;
        const standing = { branch: "fix/two-frames", head: "4f2a9c1d", ahead: 2, insertions: 44, deletions: 1 };
        const payload = { deviceId, workspaceId, files: CHANGED, ...standing, success: true, requestId };
        this.#say({ type: "changes_result", payload });
        return;
      }
      case "diff_request": {
        const { workspaceId, requestId } = message.payload;
        this.#say({ type: "diff_result", payload: { deviceId, workspaceId, diff: DIFF, success: true, requestId } });
        return;
      }
      case "turn_changes": {
        const { workspaceId, conversationId, requestId } = message.payload;
        const place = { deviceId, workspaceId, conversationId };
        const files = [
          { path: "src/two_frames.rs", calls: 2, insertions: 2, deletions: 1, diff: TURN_DIFF },
          { path: ".env", calls: 1, insertions: 1, deletions: 0, withheld: true },
        ];
        const payload = { ...place, files, otherCalls: 2, success: true, requestId };
        this.#say({ type: "turn_changes_result", payload });
        return;
      }
      case "version_check_request": {
        const release = { version: "0.2.0", commit: "4f2a9c1d7be0aa31", buildTime: "20261114081500" };
        const urls = { apkUrl: "https://example.org/estelle.apk", exeUrl: null };
        const requestId = message.payload?.requestId;
        this.#say({
          type: "version_check_result",
          payload: { success: true, ...release, ...urls, error: null, requestId },
        });
        return;
      }
      case "bug_report": {
        const { requestId, message: words } = message.payload;
        this.reports.push(words);
        this.#say({ type: "bug_report_result", payload: { deviceId, success: true, requestId } });
        return;
      }
      case "rules_request": {
        const { requestId, attempt } = message.payload ?? {};
        const verdict = attempt && { effect: "ask" as const, reason: "the rule Bash(git push:*) asks" };
        const granted = [{ conversationId: "relay", toolName: "Edit", since: Date.now() - 2_400_000, deviceId: 100 }];
        const payload = { deviceId, rules: RULES, granted, verdict, success: true, requestId };
        this.#say({ type: "rules_result", payload });
        return;
      }
      case "history_search": {
        const { query, conversationId, requestId } = message.payload;
        const payload = { deviceId, hits: this.#find(query, conversationId), success: true, requestId };
        this.#say({ type: "history_search_result", payload });
        return;
      }
      case "tool_detail": {
        const { conversationId, toolUseId, requestId } = message.payload;
        this.#say({
          type: "tool_detail_result",
          payload: {
            deviceId,
            conversationId,
            toolUseId,
            success: true,
            part: "output",
            chunk: "all of it\n".repeat(200),
            last: true,
            requestId,
          },
        });
        return;
      }
      default:
        for (const answer of answerWork(message as AppToPylon, deviceId)) this.#say(answer);
    }
  }

  #workspace(id: string): Workspace | undefined {
    return this.scene.machines.flatMap(({ workspaces }) => workspaces).find((one) => one.workspaceId === id);
  }

  /** Where something was said, the newest first. */
  #find(query: string, only: string | undefined): SearchHit[] {
    const all = Object.entries(this.scene.recorded).filter(([id]) => only === undefined || id === only);
    const hits = all.flatMap(([conversationId, { rows }]) =>
      rows.flatMap((row) =>
        row.type === "text" && row.content.toLowerCase().includes(query.toLowerCase())
          ? [
              {
                conversationId,
                workspaceId: "ws-estelle",
                seq: row.seq ?? 0,
                snippet: row.content.slice(0, 120),
                timestamp: row.timestamp,
              },
            ]
          : [],
      ),
    );
    return hits.reverse();
  }

  /** The answer to a request may come well before the list that has what it made. */
  #listLater(): void {
    setTimeout(() => this.#list(), LIST_MS);
  }

  #list(): void {
    for (const { device, workspaces, isOnline } of this.scene.machines) {
      if (!isOnline) continue;
      const { deviceId, name, icon } = device;
      this.#say({
        type: "workspace_list_result",
        payload: {
          deviceId,
          deviceInfo: { name, icon },
          workspaces,
          success: true,
          activeWorkspaceId: null,
          activeConversationId: null,
        },
      });
      this.#say({
        type: "pylon_status",
        payload: {
          deviceId,
          claudeUsage: {
            totalCostUsd: 41.27 * deviceId,
            totalInputTokens: 812_000,
            totalOutputTokens: 96_000,
            totalCacheReadTokens: 9_400_000,
            totalCacheCreationTokens: 310_000,
            sessionCount: 38,
            lastUpdated: new Date().toISOString(),
          },
          deployReady: false,
          version: "0.1.0",
        },
      });
    }
    for (const { conversationId, workspaceId, deviceId, event } of this.scene.elsewhere ?? []) {
      this.#say({
        type: "claude_event",
        payload: { conversationId, workspaceId, deviceId, event, timestamp: Date.now() - 95_000 },
      });
    }
  }

  #select(conversationId: string, workspaceId: string, deviceId: number): void {
    const recorded = this.scene.recorded[conversationId] ?? { rows: [] };
    const page = recorded.rows.slice(-50);
    const headSeq = recorded.rows.at(-1)?.seq ?? 0;
    if (!this.#seqs.has(conversationId)) this.#seqs.set(conversationId, headSeq);
    const status = this.scene.machines
      .flatMap((one) => one.workspaces.flatMap((w) => w.conversations))
      .find((one) => one.conversationId === conversationId)?.status;
    this.#say({
      type: "history_result",
      payload: {
        deviceId,
        workspaceId,
        conversationId,
        messages: page,
        offset: 0,
        totalCount: recorded.rows.length,
        hasMore: page.length < recorded.rows.length,
        success: true,
        epoch: 1,
        headSeq,
        currentStatus: status,
        hasActiveSession: status !== "idle",
        workStartTime: Date.now() - 134_000,
      },
    });
    for (const event of recorded.after ?? []) {
      this.#say({
        type: "claude_event",
        payload: { conversationId, workspaceId, deviceId, event, timestamp: Date.now() - 41_000 },
      });
    }
  }

  #play(conversationId: string, workspaceId: string): void {
    const script = [...(this.scene.recorded[conversationId]?.script ?? [])];
    clearInterval(this.#playing.get(conversationId));
    this.#event(conversationId, workspaceId, { type: "state", state: "working" });
    const timer = setInterval(() => {
      const next = script.shift();
      if (!next) return clearInterval(timer);
      this.#event(conversationId, workspaceId, next);
    }, TICK_MS);
    this.#playing.set(conversationId, timer);
  }

  #event(conversationId: string, workspaceId: string, event: ClaudeEvent): number | undefined {
    const isPassing = ["text", "thinking", "stateUpdate", "waiting", "apiRetry", "idleWarning"].includes(event.type);
    const seq = isPassing ? undefined : (this.#seqs.get(conversationId) ?? 0) + 1;
    if (seq !== undefined) this.#seqs.set(conversationId, seq);
    this.#say({
      type: "claude_event",
      payload: {
        conversationId,
        workspaceId,
        deviceId: 1,
        event,
        seq,
        epoch: seq === undefined ? undefined : 1,
        timestamp: Date.now(),
      },
    });
    return seq;
  }

  #say(message: PylonToApp | RelayToDevice): void {
    this.#events?.received(JSON.stringify(message));
  }
}
