/**
 * Machines, their workspaces and conversations, as the last list of each machine and later changes tell.
 *
 * A machine that is not connected keeps its last list, marked as old, so that the page shows what was there.
 */
import type {
  ConnectedDevice,
  Conversation,
  ConversationStatusUpdate,
  PylonStatus,
  TaskListResult,
  Workspace,
  WorkspaceListResult,
} from "@/gen";

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
  return changeConversation(fleet, update.conversationId, (conversation) => ({
    ...conversation,
    status: update.status,
    unread: update.unread ?? conversation.unread,
    updatedAt: conversation.status === update.status ? conversation.updatedAt : now,
  }));
}

export function onPylonStatus(fleet: Fleet, status: PylonStatus): Fleet {
  return fleet.map((machine) => (machine.deviceId === status.deviceId ? { ...machine, status } : machine));
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
export type Glance = "needed" | "working" | "unread" | "offline" | "idle";

export function glance(place: Place): Glance {
  if (place.conversation.status === "permission") return "needed";
  if (!place.machine.isOnline) return "offline";
  if (place.conversation.status === "working") return "working";
  return place.conversation.unread ? "unread" : "idle";
}

function newMachine(device: ConnectedDevice): Machine {
  const { deviceId, name, icon } = device;
  return { deviceId, name, icon, isOnline: true, workspaces: [], activeConversationId: null, listedAt: 0 };
}
