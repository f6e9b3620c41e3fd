/** What the stand-in answers about terminals, deploys and files for a message, as far as a picture needs them. */
import type { AppToPylon, DeployTasks, PylonToApp, Terminal, Worktree } from "@/gen";
import { OLDER, SAVED, SAVED_TALK } from "./saved";

const MINUTE = 60_000;

const TERMINALS: Terminal[] = [
  {
    terminalId: "t-shell",
    kind: "shell",
    workingDir: "/home/mina/code/estelle",
    state: "running",
    createdAt: Date.now() - 42 * MINUTE,
  },
  {
    terminalId: "t-over",
    kind: "shell",
    workingDir: "/home/mina/code/garden-api",
    state: "ended",
    exitCode: 1,
    createdAt: Date.now() - 9 * MINUTE,
  },
  {
    terminalId: "t-agent",
    kind: "agent",
    workingDir: "/home/mina/code/estelle",
    state: "running",
    conversationId: "docs",
    createdAt: Date.now() - 3 * MINUTE,
  },
];

const SCREEN = [
  "\x1b[32mmina@selene\x1b[0m:\x1b[34m~/code/estelle\x1b[0m$ cargo test -p relay",
  "\x1b[1;32m   Compiling\x1b[0m estelle-relay v0.1.0 (/home/mina/code/estelle/crates/relay)",
  "\x1b[1;32m    Finished\x1b[0m `test` profile in 8.41s",
  "\x1b[1;32m     Running\x1b[0m unittests src/lib.rs",
  "",
  "running 5 tests",
  "test room::a_device_that_left_is_gone ... \x1b[32mok\x1b[0m",
  "test room::two_frames_in_one_read ... \x1b[31mFAILED\x1b[0m",
  "test room::a_slow_device_is_dropped ... \x1b[32mok\x1b[0m",
  "test wire::a_frame_may_be_cut_anywhere ... \x1b[32mok\x1b[0m",
  "test wire::numbers_stay_exact ... \x1b[33mignored\x1b[0m",
  "",
  "\x1b[31mtest result: FAILED\x1b[0m. 3 passed; 1 failed; 1 ignored; finished in 0.21s",
  "",
  "\x1b[32mmina@selene\x1b[0m:\x1b[34m~/code/estelle\x1b[0m$ ",
].join("\r\n");

const TASKS: DeployTasks = {
  git: "done",
  apk: "done",
  exe: "done",
  npm: "done",
  build: "done",
  json: "done",
  upload: "waiting",
  relay: "waiting",
  copy: "waiting",
};

const LOG = [
  "Git: 4f2a9c1d7b Read two frames that came in one piece",
  "APK: not configured",
  "EXE: not configured",
  "npm: First load: 148.4 kB of script and 8.4 kB of style",
  "Build:    Compiling estelle v0.2.0",
  "Build:     Finished `release` profile in 2m 14s",
  "Build: the new program starts with a copy of the database",
  "JSON: 0.2.0, built 2026-11-16 14:02",
  "Stella was asked to build the same commit",
];

const TREES: Worktree[] = [
  {
    workspaceId: "ws-estelle",
    conversationId: "docs",
    path: "/home/mina/.local/share/estelle-worktrees/ws-estelle/docs",
    branch: "estelle/rewrite-the-pairing-guide-0a1b2c3d",
    state: "ready",
    baseBranch: "main",
    ahead: 3,
    behind: 1,
    insertions: 212,
    deletions: 87,
    uncommitted: 0,
    diskBytes: 18_400_000,
  },
  {
    workspaceId: "ws-garden",
    conversationId: "deps",
    path: "/home/mina/.local/share/estelle-worktrees/ws-garden/deps",
    branch: "estelle/update-dependencies-9f8e7d6c",
    state: "ready",
    baseBranch: "main",
    ahead: 0,
    insertions: 14,
    deletions: 9,
    uncommitted: 2,
    diskBytes: 341_000_000,
  },
];

/** The answers, or none if the message is about something else. */
export function answerWork(message: AppToPylon, deviceId: number): PylonToApp[] {
  switch (message.type) {
    case "terminal_list": {
      const terminals = deviceId === 1 ? TERMINALS : [];
      const { requestId } = message.payload ?? {};
      return [{ type: "terminal_list_result", payload: { deviceId, terminals, success: true, requestId } }];
    }
    case "terminal_attach": {
      const { terminalId, size = { cols: 80, rows: 24 }, requestId } = message.payload;
      const terminal = TERMINALS.find((one) => one.terminalId === terminalId);
      const output = { deviceId, terminalId, frame: 1, data: SCREEN, screen: size };
      return [
        { type: "terminal_attach_result", payload: { deviceId, terminalId, success: true, terminal, requestId } },
        { type: "terminal_output", payload: output },
      ];
    }
    case "terminal_resize": {
      const { terminalId, size } = message.payload;
      return [{ type: "terminal_output", payload: { deviceId, terminalId, frame: 2, data: SCREEN, screen: size } }];
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
      return [{ type: "usage_result", payload: { deviceId, groupBy, rows, success: true, requestId } }];
    }
    case "budget_request": {
      const day = { scope: "day" as const, spentUsd: 7.42, softUsd: 8, hardUsd: 12 };
      const talk = {
        scope: "conversation" as const,
        spentUsd: 36.8,
        hardUsd: 40,
        softUsd: 30,
        conversationId: "relay",
      };
      const task = {
        scope: "task" as const,
        spentUsd: 1.2,
        hardUsd: 2,
        conversationId: "relay",
        taskId: "20260125-tidy-the-parser",
      };
      const payload = { deviceId, budgets: [day, talk, task], success: true, requestId: message.payload?.requestId };
      return [{ type: "budget_result", payload }];
    }
    case "worktree_list": {
      const { requestId } = message.payload ?? {};
      const worktrees = deviceId === 1 ? TREES : [];
      return [{ type: "worktree_list_result", payload: { deviceId, worktrees, success: true, requestId } }];
    }
    case "deploy_status_request": {
      const { requestId } = message.payload ?? {};
      const log = LOG.map((line, index) => ({ line, timestamp: Date.now() - (LOG.length - index) * MINUTE }));
      const standing = {
        phase: "started",
        tasks: TASKS,
        message: "",
        acks: [{ deviceId: 2, success: true }],
        log,
      } as const;
      const builds = { commitHash: "4f2a9c1d7be0aa31", version: "0.2.0", leadPylonId: 1, approved: true };
      const runs = { runningVersion: "0.1.9", runningCommit: "be0aa314f2a9c1d7" };
      const payload = { deviceId, ...standing, acks: [...standing.acks], ...builds, ...runs, success: true, requestId };
      return [{ type: "deploy_status_result", payload }];
    }
    case "folder_create": {
      const { path, name, requestId } = message.payload;
      const payload = { deviceId, success: true, path: `${path}/${name}`, requestId };
      return [{ type: "folder_create_result", payload }];
    }
    case "folder_rename": {
      const { path, newName, requestId } = message.payload;
      const payload = { deviceId, success: true, path: path.replace(/[^/]+$/, newName), requestId };
      return [{ type: "folder_rename_result", payload }];
    }
    case "saved_list": {
      const { workspaceId, offset = 0, requestId } = message.payload;
      const nextOffset = offset === 0 ? SAVED.length : undefined;
      const sessions = offset === 0 ? SAVED : OLDER;
      return [
        {
          type: "saved_list_result",
          payload: { deviceId, workspaceId, sessions, nextOffset, success: true, requestId },
        },
      ];
    }
    case "saved_read": {
      const { workspaceId, claudeSessionId, requestId } = message.payload;
      const payload = { deviceId, workspaceId, claudeSessionId, messages: SAVED_TALK, success: true, requestId };
      return [{ type: "saved_read_result", payload }];
    }
    case "blob_start":
    case "blob_chunk": {
      const { blobId, requestId } = message.payload;
      const nextChunk = message.type === "blob_chunk" ? message.payload.index + 1 : 0;
      const payload = { deviceId, blobId, nextChunk, success: true, requestId };
      return [{ type: `${message.type}_result`, payload }];
    }
    case "blob_end": {
      const { conversationId, blobId, requestId } = message.payload;
      const payload = { deviceId, conversationId, blobId, fileId: blobId, success: true, requestId };
      return [{ type: "blob_end_result", payload }];
    }
    default:
      return [];
  }
}
