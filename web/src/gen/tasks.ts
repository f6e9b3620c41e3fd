// Made by `cargo xtask gen` from crates/proto. Do not edit.

import type { ErrorCode, Retry } from "./error";
import type { DeviceId, Name, RequestId, TaskId, TaskText, WorkspaceId } from "./ids";
import type { TaskStatus, TaskSummary, WorkerStatus } from "./workspaces";

/**
 * A task with its text.
 */
export type Task = { 
/**
 * Which task.
 */
id: string, 
/**
 * Its title.
 */
title: string, 
/**
 * How far it is.
 */
status: TaskStatus, 
/**
 * What stands behind the front matter; all of the file if that is damaged.
 */
content: string, 
/**
 * Whether the text was cut, at 10 000 characters.
 */
truncated?: boolean, 
/**
 * When it was written.
 */
createdAt?: string, 
/**
 * When work on it began.
 */
startedAt?: string, 
/**
 * When it was done or failed.
 */
completedAt?: string, 
/**
 * Why it failed.
 */
error?: string, 
/**
 * The name of its file in the folder `task`.
 */
file?: string, 
/**
 * Why the file is no task.
 */
problem?: string, };

/**
 * Writes a new task, which waits.
 */
export type TaskCreate = { 
/**
 * In which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * Its title, of which the name of its file is made.
 */
title: Name, 
/**
 * What is to be done, in Markdown.
 */
content: TaskText, 
/**
 * Where people are warned, in US dollars.
 */
softUsd?: number, 
/**
 * Where it is stopped and fails, in US dollars.
 */
hardUsd?: number, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * The new task.
 */
export type TaskCreateResult = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * Which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * The task; only on success.
 */
task?: TaskSummary, 
/**
 * Why not, for a person to read; only on failure.
 */
error?: string, 
/**
 * Why not, for a program; only on failure.
 */
errorCode?: ErrorCode, 
/**
 * Whether trying again can help; only on failure.
 */
retry?: Retry, 
/**
 * The `requestId` of the request, if it had one.
 */
requestId?: RequestId, };

/**
 * Asks for one task with its text.
 */
export type TaskGet = { 
/**
 * Which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * Which task.
 */
taskId: TaskId, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * One task.
 */
export type TaskGetResult = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * Which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * The task; only on success.
 */
task?: Task, 
/**
 * Why not, for a person to read; only on failure.
 */
error?: string, 
/**
 * Why not, for a program; only on failure.
 */
errorCode?: ErrorCode, 
/**
 * Whether trying again can help; only on failure.
 */
retry?: Retry, 
/**
 * The `requestId` of the request, if it had one.
 */
requestId?: RequestId, };

/**
 * Asks for the tasks of a workspace, without their texts.
 */
export type TaskList = { 
/**
 * Which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * The tasks of a workspace, newest first. Sent to the asker, and to all clients after every change.
 */
export type TaskListResult = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * Which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * The tasks; at most 500.
 */
tasks: Array<TaskSummary>, 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * Whether there were more.
 */
truncated?: boolean, 
/**
 * What the worker does.
 */
workerStatus?: WorkerStatus, 
/**
 * Why not, for a person to read; only on failure.
 */
error?: string, 
/**
 * Why not, for a program; only on failure.
 */
errorCode?: ErrorCode, 
/**
 * Whether trying again can help; only on failure.
 */
retry?: Retry, 
/**
 * The `requestId` of the request, if it had one.
 */
requestId?: RequestId, };

/**
 * Says how far a task is. `running` sets when it began, once; `done` and `failed` set when it ended.
 */
export type TaskStatusChange = { 
/**
 * In which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * Which task.
 */
taskId: TaskId, 
/**
 * How far it is.
 */
status: TaskStatus, 
/**
 * Why it failed; only with `failed`.
 */
error?: string, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Whether a task has another status.
 */
export type TaskStatusResult = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * Which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * The task as it is now; only on success.
 */
task?: TaskSummary, 
/**
 * Why not, for a person to read; only on failure.
 */
error?: string, 
/**
 * Why not, for a program; only on failure.
 */
errorCode?: ErrorCode, 
/**
 * Whether trying again can help; only on failure.
 */
retry?: Retry, 
/**
 * The `requestId` of the request, if it had one.
 */
requestId?: RequestId, };

/**
 * Lets the worker carry out the tasks that wait.
 */
export type WorkerStart = { 
/**
 * Of which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * Whether each task gets a git worktree and a conversation of its own from now on, unless its file says
 * otherwise; absent means as before.
 */
worktrees?: boolean, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Whether the worker goes on.
 */
export type WorkerStartResult = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * Which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * The task it is at.
 */
taskId?: string, 
/**
 * Its title.
 */
taskTitle?: string, 
/**
 * What it does; only on success.
 */
workerStatus?: WorkerStatus, 
/**
 * Why not, for a person to read; only on failure.
 */
error?: string, 
/**
 * Why not, for a program; only on failure.
 */
errorCode?: ErrorCode, 
/**
 * Whether trying again can help; only on failure.
 */
retry?: Retry, 
/**
 * The `requestId` of the request, if it had one.
 */
requestId?: RequestId, };

/**
 * Asks what the worker does.
 */
export type WorkerStatusRequest = { 
/**
 * Of which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * What the worker does.
 */
export type WorkerStatusResult = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * Which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * What it does; only on success.
 */
workerStatus?: WorkerStatus, 
/**
 * Why not, for a person to read; only on failure.
 */
error?: string, 
/**
 * Why not, for a program; only on failure.
 */
errorCode?: ErrorCode, 
/**
 * Whether trying again can help; only on failure.
 */
retry?: Retry, 
/**
 * The `requestId` of the request, if it had one.
 */
requestId?: RequestId, };

/**
 * Stops the worker.
 */
export type WorkerStop = { 
/**
 * Of which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * Lets it finish the task it is at. Absent means that the task is broken off and waits again.
 */
afterTask?: boolean, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Whether the worker stops.
 */
export type WorkerStopResult = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * Which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * What it does now; only on success.
 */
workerStatus?: WorkerStatus, 
/**
 * Why not, for a person to read; only on failure.
 */
error?: string, 
/**
 * Why not, for a program; only on failure.
 */
errorCode?: ErrorCode, 
/**
 * Whether trying again can help; only on failure.
 */
retry?: Retry, 
/**
 * The `requestId` of the request, if it had one.
 */
requestId?: RequestId, };
