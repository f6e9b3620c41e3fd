/**
 * Machines, their workspaces and conversations, as the last list of each machine and later changes tell.
 *
 * A machine that is not connected keeps its last list, marked as old, so that the page shows what was there.
 */
import type {
  ConnectedDevice,
  Conversation,
  ConversationCreateResult,
  ConversationStatus,
  ConversationStatusUpdate,
  PlanLimit,
  PylonStatus,
  TaskListResult,
  Workspace,
  WorkspaceCreateResult,
  WorkspaceListResult,
} from "@/gen";
import { withLimits } from "./plan";

export interface Machine {
  deviceId: number;
  name: string;
  icon: string;
  isOnline: boolean;
  workspaces: readonly Workspace[];
  activeConversationId: string | null;
  /** When the list came; 0 if never. */
  listedAt: number;
  status?: PylonStatus;
  /** The windows of its plan, as far as they were told. */
  limits?: readonly PlanLimit[];
}

export type Fleet = readonly Machine[];

/** A conversation with where it is. */
export interface Place {
  machine: Machine;
  workspace: Workspace;
  conversation: Conversation;
}

export function onDevices(fleet: Fleet, devices: readonly ConnectedDevice[]): Fleet {
  const pylons = devices.filter((device) => device.deviceType === "pylon");
  const known = fleet.map((machine) => {
    const device = pylons.find((one) => one.deviceId === machine.deviceId);
    return device
      ? { ...machine, name: device.name, icon: device.icon, isOnline: true }
      : { ...machine, isOnline: false };
  });
  const fresh = pylons.filter((one) => !fleet.some((machine) => machine.deviceId === one.deviceId)).map(newMachine);
  return [...known, ...fresh].sort((a, b) => a.deviceId - b.deviceId);
}

export function onList(fleet: Fleet, list: WorkspaceListResult, now: number): Fleet {
  if (!list.success) return fleet;
  const fresh = {
    deviceId: list.deviceId,
    name: list.deviceInfo.name,
    icon: list.deviceInfo.icon,
    isOnline: true,
    workspaces: list.workspaces,
    activeConversationId: list.activeConversationId,
    listedAt: now,
  };
  if (!fleet.some((machine) => machine.deviceId === list.deviceId)) {
    return [...fleet, fresh].sort((a, b) => a.deviceId - b.deviceId);
  }
  return fleet.map((machine) => (machine.deviceId === list.deviceId ? { ...machine, ...fresh } : machine));
}

/** A conversation was made; the list that has it may come later than the answer. */
export function onMade(fleet: Fleet, made: ConversationCreateResult, now: number): Fleet {
  const { success, conversation, deviceId, workspaceId } = made;
  if (!success || !conversation || find(fleet, conversation.conversationId)) return fleet;
  const fresh: Conversation = { status: "idle", claudeSessionId: null, updatedAt: now, ...conversation };
  return changeMachine(fleet, deviceId, (machine) => ({
    ...machine,
    workspaces: machine.workspaces.map((one) =>
      one.workspaceId === workspaceId ? { ...one, conversations: [...one.conversations, fresh] } : one,
    ),
  }));
}

/** A workspace was made, with its first conversation. */
export function onWorkspaceMade(fleet: Fleet, made: WorkspaceCreateResult): Fleet {
  const { success, workspace, conversation, deviceId } = made;
  if (!success || !workspace) return fleet;
  const has = (id: string) => workspace.conversations.some((one) => one.conversationId === id);
  const first = conversation && !has(conversation.conversationId) ? [conversation] : [];
  const whole = { ...workspace, conversations: [...workspace.conversations, ...first] };
  return changeMachine(fleet, deviceId, (machine) =>
    machine.workspaces.some((one) => one.workspaceId === workspace.workspaceId)
      ? machine
      : { ...machine, workspaces: [...machine.workspaces, whole] },
  );
}

function changeMachine(fleet: Fleet, deviceId: number, change: (machine: Machine) => Machine): Fleet {
  return fleet.map((machine) => (machine.deviceId === deviceId ? change(machine) : machine));
}

/** The tasks of a workspace, as its machine tells them after every change. */
export function onTasks(fleet: Fleet, list: TaskListResult): Fleet {
  if (!list.success) return fleet;
  const { deviceId, workspaceId, tasks } = list;
  return fleet.map((machine) => {
    if (machine.deviceId !== deviceId) return machine;
    const workspaces = machine.workspaces.map((one) =>
      one.workspaceId === workspaceId ? { ...one, tasks, workerStatus: list.workerStatus ?? one.workerStatus } : one,
    );
    return { ...machine, workspaces };
  });
}

export function onStatus(fleet: Fleet, update: ConversationStatusUpdate, now: number): Fleet {
  const { conversationId, status, process, activity } = update;
  return changeConversation(onState(fleet, conversationId, status, now), conversationId, (conversation) => ({
    ...conversation,
    process,
    activity,
    unread: update.unread ?? conversation.unread,
  }));
}

/** The coarse state changed; what is known of the process beside it follows in a message of its own. */
export function onState(fleet: Fleet, conversationId: string, status: ConversationStatus, now: number): Fleet {
  return changeConversation(fleet, conversationId, (conversation) => ({
    ...conversation,
    status,
    updatedAt: conversation.status === status ? conversation.updatedAt : now,
  }));
}

export function onPylonStatus(fleet: Fleet, status: PylonStatus): Fleet {
  const told = fleet.map((machine) => (machine.deviceId === status.deviceId ? { ...machine, status } : machine));
  return status.limits ? onLimits(told, status.deviceId, status.limits) : told;
}

/** A machine says how windows of its plan are. */
export function onLimits(fleet: Fleet, deviceId: number, news: readonly PlanLimit[]): Fleet {
  return fleet.map((one) => (one.deviceId === deviceId ? { ...one, limits: withLimits(one.limits, news) } : one));
}

export function allOffline(fleet: Fleet): Fleet {
  return fleet.map((machine) => ({ ...machine, isOnline: false }));
}

export function changeConversation(
  fleet: Fleet,
  conversationId: string,
  change: (conversation: Conversation) => Conversation,
): Fleet {
  const found = find(fleet, conversationId);
  if (!found) return fleet;
  const workspace = {
    ...found.workspace,
    conversations: found.workspace.conversations.map((one) =>
      one.conversationId === conversationId ? change(one) : one,
    ),
  };
  const workspaces = found.machine.workspaces.map((one) =>
    one.workspaceId === workspace.workspaceId ? workspace : one,
  );
  return fleet.map((machine) => (machine.deviceId === found.machine.deviceId ? { ...machine, workspaces } : machine));
}

export function find(fleet: Fleet, conversationId: string): Place | undefined {
  for (const machine of fleet) {
    for (const workspace of machine.workspaces) {
      const conversation = workspace.conversations.find((one) => one.conversationId === conversationId);
      if (conversation) return { machine, workspace, conversation };
    }
  }
  return undefined;
}

export function places(fleet: Fleet): Place[] {
  return fleet.flatMap((machine) =>
    machine.workspaces.flatMap((workspace) =>
      workspace.conversations.map((conversation) => ({ machine, workspace, conversation })),
    ),
  );
}

/** Which conversation to show at the start: the last one here, else the machine's active one, else the first. */
export function startingPlace(fleet: Fleet, last: string | null): Place | undefined {
  const online = fleet.filter((machine) => machine.isOnline);
  const active = online.map((machine) => machine.activeConversationId).find((id) => id !== null && find(fleet, id));
  return (last ? find(fleet, last) : undefined) ?? (active ? find(fleet, active) : undefined) ?? places(online)[0];
}

/** What stands for a conversation at a glance; the order is that of urgency. */
export type Glance = "needed" | "error" | "suspect" | "working" | "unread" | "offline" | "stopped" | "idle";

export function glance({ conversation, machine }: Place): Glance {
  const { status, process, unread } = conversation;
  if (status === "permission") return "needed";
  if (!machine.isOnline) return "offline";
  if (process?.status === "suspect") return "suspect";
  if (status === "working") return "working";
  // A process that ended is the state of a conversation only until the next message is under way.
  if (process?.status === "error") return "error";
  if (unread) return "unread";
  return process?.status === "stopped" ? "stopped" : "idle";
}

/** The folder in which the agent of a conversation works: that of its worktree, if it has one. */
export function folderOf({ conversation, workspace }: Pick<Place, "conversation" | "workspace">): string {
  return conversation.workingDir ?? workspace.workingDir;
}

function newMachine(device: ConnectedDevice): Machine {
  const { deviceId, name, icon } = device;
  return { deviceId, name, icon, isOnline: true, workspaces: [], activeConversationId: null, listedAt: 0 };
}
