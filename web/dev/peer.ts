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
}

const TICK_MS = 30;

const RULES: PermissionRule[] = [
  { rule: "Bash(cargo test:*)", effect: "allow", since: 1_793_000_000_000 },
  { rule: "Bash(git push:*)", effect: "ask", since: 1_794_000_000_000 },
  { rule: "Read(~/.ssh/**)", effect: "deny" },
  { rule: "Edit(docs/**)", effect: "allow", workspaceId: "ws-estelle" },
];

export class Peer {
  #events: TransportEvents | null = null;
  #seqs = new Map<string, number>();
  #streamed = 0;
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
    setTimeout(() => events.opened(), 5);
    return { send: (text) => setTimeout(() => this.#on(JSON.parse(text)), 5), close: () => undefined };
  };

  /** Cuts the connection, as a lost network does. */
  cut(): void {
    this.#events?.closed();
  }

  /** Streams pieces of text into a conversation at a rate, without ending it. */
  async stream(conversationId: string, pieces: number, perSecond: number): Promise<void> {
    this.#event(conversationId, "ws-estelle", { type: "state", state: "working" });
    const words = "A **word** of text, `code` and more. ";
    const from = this.#streamed;
    for (let index = 0; index < pieces; index++) {
      const content = index % 20 === 19 ? "\n\n" : words.slice((index * 7) % 20, ((index * 7) % 20) + 12);
      this.#event(conversationId, "ws-estelle", { type: "text", content, generation: 1, block: 0, at: this.#streamed });
      this.#streamed += content.length;
      await new Promise((done) => setTimeout(done, 1_000 / perSecond));
    }
    if (from === this.#streamed) throw new Error("nothing was streamed");
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
        this.#say({
          type: "auth_result",
          payload: {
            success: true,
            device: { deviceId: 100, deviceType: "app", name: "Phone", icon: "📱", role: "client" },
            rights: ["view", "prompt", "approve", "admin"],
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
          answeredAt: Date.now(),
        });
        this.#say({
          type: "claude_answer_result",
          payload: { deviceId, conversationId, toolUseId, success: true },
        });
        return;
      }
      case "claude_control": {
        const { conversationId, workspaceId, action, requestId } = message.payload;
        clearInterval(this.#playing.get(conversationId));
        this.#event(conversationId, workspaceId, { type: "claudeAborted", reason: "user" });
        this.#event(conversationId, workspaceId, { type: "state", state: "idle" });
        this.#say({
          type: "claude_control_result",
          payload: { deviceId, conversationId, action, success: true, requestId },
        });
        return;
      }
      case "usage_request": {
        const { groupBy, requestId } = message.payload;
        const row = (key: string, costUsd: number) => ({
          ...{ key, costUsd, inputTokens: costUsd * 9_000, outputTokens: costUsd * 4_000 },
          ...{ cacheReadTokens: costUsd * 310_000, cacheCreationTokens: costUsd * 11_000 },
        });
        const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
        const rows = {
          day: Array.from({ length: 24 }, (_, ago) =>
            row(day(ago), ago % 6 === 5 ? 0 : Math.abs(Math.sin(ago * 2.3)) * 6),
          ),
          model: [row("claude-opus-4-6", 41.2), row("claude-sonnet-4-5", 22.9), row("claude-haiku-4-5", 1.3)],
          conversation: [row("relay", 18.4), row("garden", 9.1), row("deps", 4.6), row("gone", 2.2)],
        }[groupBy];
        this.#say({ type: "usage_result", payload: { deviceId, groupBy, rows, success: true, requestId } });
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
      case "conversation_create": {
        const { workspaceId, name, skillType, requestId } = message.payload;
        const conversationId = `made${this.asked.length}`;
        const made = { conversationId, name, skillType: skillType ?? "general", status: "idle" as const };
        const conversation = { ...made, claudeSessionId: null, updatedAt: Date.now() };
        for (const { workspaces } of this.scene.machines)
          for (const one of workspaces) if (one.workspaceId === workspaceId) one.conversations.push(conversation);
        this.#list();
        const payload = { deviceId, success: true, conversation, workspaceId, requestId };
        this.#say({ type: "conversation_create_result", payload });
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
        this.#say({ type: "rules_result", payload: { deviceId, rules: RULES, verdict, success: true, requestId } });
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
        return;
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
