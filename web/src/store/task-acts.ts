/** What a person does with the tasks of a workspace. Whatever changes comes back to all devices as a list. */
import type { Task, TaskStatus } from "@/gen";
import { ask } from "./app";

export interface TaskPlace {
  deviceId: number;
  workspaceId: string;
}

/** A task with its text. */
export function loadTask({ deviceId, workspaceId }: TaskPlace, taskId: string): Promise<Task | null> {
  return ask(
    deviceId,
    (requestId) => ({ type: "task_get", payload: { workspaceId, taskId, requestId } }),
    (frame) => (frame.type === "task_get_result" ? { value: frame.payload.task ?? null } : null),
  );
}

export function createTask({ deviceId, workspaceId }: TaskPlace, title: string, content: string): Promise<void> {
  return ask(deviceId, (requestId) => ({
    type: "task_create",
    payload: { workspaceId, title, content, requestId },
  }));
}

export function markTask({ deviceId, workspaceId }: TaskPlace, taskId: string, status: TaskStatus): Promise<void> {
  return ask(deviceId, (requestId) => ({
    type: "task_status",
    payload: { workspaceId, taskId, status, requestId },
  }));
}

/**
 * Lets the worker of a workspace begin, or go on at once when it rests. Whether each task gets a worktree of its own from
 * now on; absent means as before.
 */
export function startWorker({ deviceId, workspaceId }: TaskPlace, worktrees?: boolean): Promise<void> {
  return ask(deviceId, (requestId) => ({ type: "worker_start", payload: { workspaceId, worktrees, requestId } }));
}

/** Stops it: at once, so that its task waits again, or after the task that it is at. */
export function stopWorker({ deviceId, workspaceId }: TaskPlace, afterTask: boolean): Promise<void> {
  return ask(deviceId, (requestId) => ({ type: "worker_stop", payload: { workspaceId, afterTask, requestId } }));
}
