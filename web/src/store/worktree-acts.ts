/** Worktrees: a folder and a branch of its own for a conversation; looking at them, merging and removing them. */
import type { Worktree } from "@/gen";
import { ask } from "./app";

/** All worktrees of a machine, all pages of them. */
export async function listWorktrees(deviceId: number): Promise<Worktree[]> {
  const all: Worktree[] = [];
  let cursor: string | undefined;
  do {
    const after = cursor;
    const page = await ask(
      deviceId,
      (requestId) => ({ type: "worktree_list", payload: { cursor: after, requestId } }),
      (frame) => (frame.type === "worktree_list_result" ? { value: frame.payload } : null),
    );
    all.push(...page.worktrees);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return all;
}

/** Merges a branch into the one it began from, and gives how many commits came. */
export function mergeWorktree(deviceId: number, { workspaceId, conversationId }: Worktree): Promise<number> {
  return ask(
    deviceId,
    (requestId) => ({ type: "worktree_merge", payload: { workspaceId, conversationId, requestId } }),
    (frame) => (frame.type === "worktree_merge_result" ? { value: frame.payload.commits ?? 0 } : null),
  );
}

/** Takes a folder away, and gives the branches that stay because their commits are merged nowhere. */
export function removeWorktree(
  deviceId: number,
  { workspaceId, conversationId }: Worktree,
  discard: boolean,
): Promise<string[]> {
  return ask(
    deviceId,
    (requestId) => ({ type: "worktree_remove", payload: { workspaceId, conversationId, discard, requestId } }),
    (frame) => (frame.type === "worktree_remove_result" ? { value: frame.payload.keptBranches ?? [] } : null),
  );
}
