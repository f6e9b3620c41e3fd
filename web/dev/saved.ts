/** Sessions that were saved without Estelle, for a picture. */
import type { HistoryMessage, SavedSession } from "@/gen";

const HOUR = 3_600_000;
const session = (id: string, title: string, hours: number, more: Partial<SavedSession> = {}): SavedSession => ({
  claudeSessionId: id,
  title,
  updatedAt: Date.now() - hours * HOUR,
  bytes: 81_000,
  ...more,
});

export const SAVED: SavedSession[] = [
  session("saved-1", "Why the relay drops frames on slow lines", 3, {
    firstPrompt: "Frames are lost when a line is slow. Find out why.",
    branch: "main",
  }),
  session("saved-2", "Fix dropped devices in the relay", 5, { conversationId: "relay" }),
  session("saved-3", "Nightly: look for outdated dependencies", 20, { programmatic: true }),
  session("saved-4", "Rename the crates", 50, { branch: "rename" }),
];

export const OLDER: SavedSession[] = [session("saved-5", "The very first session", 900)];

const at = Date.now() - 3 * HOUR;
export const SAVED_TALK: HistoryMessage[] = [
  { type: "text", role: "user", content: "Frames are lost when a line is slow. Find out why.", timestamp: at, seq: 1 },
  {
    type: "tool_start",
    toolName: "Grep",
    toolInput: { pattern: "fn read_frame", path: "crates/relay" },
    toolUseId: "g1",
    timestamp: at,
    seq: 2,
  },
  {
    type: "tool_complete",
    toolName: "Grep",
    toolUseId: "g1",
    success: true,
    output: "crates/relay/src/frames.rs",
    timestamp: at,
    seq: 3,
  },
  {
    type: "text",
    role: "assistant",
    content: "A frame that comes in **two reads** is thrown away: `read_frame` begins anew at every read.",
    timestamp: at,
    seq: 4,
  },
];
