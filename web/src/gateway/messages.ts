/**
 * The messages of a session's WebSocket and the answers of the REST interface, as `/api/openapi.json` has them.
 *
 * Types only. What a newer gateway says beyond them is handed on as it comes.
 */

export type SessionStatus = "initializing" | "running" | "waiting_input" | "completed" | "error" | "stopped";

export interface Permission {
  request_id: string;
  action: string;
  details: unknown;
  /** Of what is asked about: an answer that names it counts for exactly this. */
  input_hash?: string;
  reason?: string;
}

/** Where a client is in the history of a session. There is no epoch before anything happened. */
export interface Cursor {
  seq: number;
  epoch: number | null;
}

/** What becomes of a message that comes while a turn runs. */
export type OnBusy = "inject" | "queue" | "interrupt";

/** The place of a message in the log; only what is kept has one. */
interface Placed {
  seq?: number;
  epoch?: number;
}

/** What comes down. */
export type Down = Placed &
  (
    | {
        type: "output";
        content?: string;
        sub_agent?: { name: string; output: string };
        /** Until it is final it is provisional. */
        final: boolean;
        /** It is the whole: what was provisional before it is void. */
        replaces?: boolean;
      }
    | { type: "permission_request"; permission: Permission }
    | { type: "permission_resolved"; request_id: string; decision?: string; answered_by?: number }
    | { type: "status_change"; status: SessionStatus }
    | { type: "error"; content: string; code?: string; exit_code?: number; about?: string }
    | {
        type: "process_paused";
        sessionId: string;
        reason: "idle_timeout" | "manual" | "server_shutdown";
        idleMinutes: number;
        canResume: boolean;
      }
    | { type: "process_resumed"; sessionId: string; resumedWithHistory: boolean }
    | { type: "idle_warning"; sessionId: string; secondsLeft: number }
    | { type: "server_shutdown"; reason: string; gracePeriodSeconds: number }
    | { type: "accepted"; client_message_id: string }
    | { type: "caught_up" }
  );

/** What goes up. */
export type Up =
  | { type: "auth"; token: string }
  | { type: "input"; content: string; client_message_id: string }
  | { type: "approve"; request_id: string; answer?: unknown; input_hash?: string }
  | { type: "deny"; request_id: string; content?: string; input_hash?: string };

export interface Session {
  id: string;
  name: string;
  status: SessionStatus;
  workspace_id: string;
  worktree_path: string;
  worktree: { branch: string; base_branch: string | null; state: string } | null;
  created_at: string | null;
  last_activity_at: string | null;
  resume_session_id: string | null;
  model: string | null;
  permission_mode: string;
}

/** An entry of history. */
export interface Message {
  id: string;
  seq: number;
  type: "text" | "thinking" | "tool_start" | "tool_complete" | "result" | "error" | "aborted" | "answer" | "system";
  role: "user" | "assistant" | "system";
  content: string;
  timestamp: string;
  tool_name?: string;
  tool_use_id?: string;
  tool_input?: unknown;
  success?: boolean;
  parent_tool_use_id?: string;
  client_message_id?: string;
}

export interface MessagePage {
  messages: Message[];
  total_count: number;
  has_more: boolean;
  epoch: number | null;
  head_seq: number;
}

/** What happened after a cursor, as the WebSocket tells it, and how the session is. */
export interface EventPage {
  events: Down[];
  seq: number;
  epoch: number | null;
  has_more: boolean;
  status: SessionStatus;
  permissions: Permission[];
}
