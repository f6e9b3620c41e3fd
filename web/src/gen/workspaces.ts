// Made by `cargo xtask gen` from crates/proto. Do not edit.

import type { Conversation } from "./conversations";
import type { ErrorCode, Retry } from "./error";
import type { ConversationId, DeviceId, Name, PathText, RequestId, Timestamp, WorkspaceId } from "./ids";

/**
 * The task a worker is at.
 */
export type CurrentTask = { 
/**
 * Which task.
 */
id: string, 
/**
 * Its title.
 */
title: string, 
/**
 * When the worker began.
 */
startedAt?: string, };

/**
 * The Pylon, as people see it.
 */
export type PylonInfo = { 
/**
 * Its name.
 */
name: string, 
/**
 * Its icon, an emoji.
 */
icon: string, };

/**
 * Why a worker rests, for programs.
 */
export type RestCause = "usage_limit" | "budget" | "authentication" | "unavailable" | "agent" | "files" | "taken" | "stopped";

/**
 * Tasks of a workspace, counted.
 */
export type TaskQueue = { 
/**
 * Those that wait.
 */
pending: number, 
/**
 * All of them.
 */
total: number, };

/**
 * How far a task is.
 */
export type TaskStatus = "pending" | "running" | "done" | "failed";

/**
 * A task of a workspace, without its text.
 */
export type TaskSummary = { 
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
 * When it was written.
 */
createdAt?: string, 
/**
 * When the worker began.
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
 * Why the file is no task. It then stands as `failed`.
 */
problem?: string, 
/**
 * Where people are warned, in US dollars.
 */
softUsd?: number, 
/**
 * Where it is stopped and fails, in US dollars.
 */
hardUsd?: number, };

/**
 * Why a worker does nothing, though there may be tasks.
 */
export type WorkerRest = { 
/**
 * Why, for programs.
 */
cause: RestCause, 
/**
 * Why, for people.
 */
message: string, 
/**
 * When it tries again; absent if it waits for a person.
 */
until?: string, };

/**
 * What the worker of a workspace does.
 */
export type WorkerStatus = { 
/**
 * Whether it is at a task.
 */
running: boolean, 
/**
 * Which workspace.
 */
workspaceId?: WorkspaceId, 
/**
 * `idle` or `running`.
 */
status?: string, 
/**
 * The task it is at.
 */
currentTask?: CurrentTask, 
/**
 * What waits.
 */
queue?: TaskQueue, 
/**
 * Whether it goes on to the next task by itself.
 */
on?: boolean, 
/**
 * The conversation in which it works.
 */
conversationId?: ConversationId, 
/**
 * Why it does nothing.
 */
rest?: WorkerRest, 
/**
 * Whether each task gets a git worktree of its own, unless its file says otherwise.
 */
worktrees?: boolean, };

/**
 * A folder on the machine with its conversations.
 */
export type Workspace = { 
/**
 * Which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * Its name.
 */
name: Name, 
/**
 * The folder in which the agent works.
 */
workingDir: PathText, 
/**
 * Its conversations, in the order in which they were made.
 */
conversations: Array<Conversation>, 
/**
 * Its tasks, newest first; `task_list` has more than the newest.
 */
tasks: Array<TaskSummary>, 
/**
 * What its worker does.
 */
workerStatus: WorkerStatus, 
/**
 * Whether it is the active one.
 */
isActive?: boolean, 
/**
 * When it was made.
 */
createdAt?: Timestamp, 
/**
 * When it was last used.
 */
lastUsed?: Timestamp, 
/**
 * So many of its conversations, those that rested longest, found no room in the frame. A search finds them.
 */
leftOut?: number, };

/**
 * Makes a workspace with a first conversation and activates both.
 */
export type WorkspaceCreate = { 
/**
 * Its name.
 */
name: Name, 
/**
 * The folder in which the agent will work: an absolute path that exists.
 */
workingDir: PathText, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * The new workspace.
 */
export type WorkspaceCreateResult = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * The workspace; only on success.
 */
workspace?: Workspace, 
/**
 * Its first conversation; only on success.
 */
conversation?: Conversation, 
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
 * Deletes a workspace with its conversations and their history. The folder stays.
 */
export type WorkspaceDelete = { 
/**
 * Which one.
 */
workspaceId: WorkspaceId, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Whether a workspace was deleted.
 */
export type WorkspaceDeleteResult = { 
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
 * Asks for all workspaces.
 */
export type WorkspaceList = { 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * All workspaces of a Pylon. Sent to the asker, and to all clients after every change.
 */
export type WorkspaceListResult = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * The Pylon, as people see it.
 */
deviceInfo: PylonInfo, 
/**
 * All of them, in the order in which they were made.
 */
workspaces: Array<Workspace>, 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * The active one, if there is one.
 */
activeWorkspaceId: WorkspaceId | null, 
/**
 * The active conversation, if there is one.
 */
activeConversationId: ConversationId | null, 
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
 * Renames a workspace.
 */
export type WorkspaceRename = { 
/**
 * Which one.
 */
workspaceId: WorkspaceId, 
/**
 * Its new name.
 */
newName: Name, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Whether a workspace was renamed.
 */
export type WorkspaceRenameResult = { 
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
 * Makes a workspace and one of its conversations the active ones.
 */
export type WorkspaceSwitch = { 
/**
 * Which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * Which conversation; the first one if absent or not there.
 */
conversationId?: ConversationId, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * What is active now.
 */
export type WorkspaceSwitchResult = { 
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
 * Which conversation, if the workspace has one.
 */
conversationId?: ConversationId, 
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
