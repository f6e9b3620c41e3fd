/** What a person can do. Each act is a request to a machine or to the relay; the world changes when it is answered. */
import { freshId } from "@/api/fresh-id";
import type {
  Answer,
  AppToPylon,
  ControlAction,
  OnBusy,
  PairedDevice,
  PermissionDecision,
  PermissionMode,
  Right,
  SkillType,
  UsageGroup,
  UsageRow,
  WorktreeWish,
} from "@/gen";
import { isRest } from "@/model/connection";
import { changeDecision, type Decision, isSameCall } from "@/model/decisions";
import type { Place } from "@/model/fleet";
import { oldestSeq } from "@/model/history";
import { notice } from "@/model/notices";
import { changeOutgoing, dropOutgoing, type Outgoing } from "@/model/outbox";
import type { Refusal } from "@/model/refusal";
import { view } from "@/model/world";
import { ask, askRelay, change, fallback, flushOutbox, sendTo, turn, useApp } from "./app";
import { loadKept } from "./kept-rows";
import { load, save } from "./storage";

/** Rows asked for at a time when scrolling back: few enough for one short task on a slow phone. */
const PAGE_ROWS = 60;

/** The devices of the realm; needs the right to manage them. */
export function listPaired(): Promise<PairedDevice[]> {
  return askRelay(
    (requestId) => ({ type: "paired_list", payload: { requestId } }),
    (frame) => (frame.type === "paired_list_result" ? { value: frame.payload.devices } : null),
  );
}

export function revokeDevice(deviceKey: string): Promise<void> {
  return askRelay((requestId) => ({ type: "device_revoke", payload: { deviceKey, requestId } }));
}

/** Changes what a device may do, from its next message on. */
export function setRights(deviceKey: string, rights: Right[]): Promise<void> {
  return askRelay((requestId) => ({ type: "device_rights", payload: { deviceKey, rights, requestId } }));
}

export function openConversation(conversationId: string | null): void {
  const { world } = useApp.getState();
  if (world.viewing === conversationId) return;
  if (conversationId) save("last", conversationId);
  const kept = conversationId && !world.transcripts[conversationId] ? loadKept(conversationId) : undefined;
  const transcripts = conversationId && kept ? { ...world.transcripts, [conversationId]: kept } : world.transcripts;
  turn(view({ ...world, transcripts }, conversationId));
}

export function lastConversation(): string | null {
  return load<string | null>("last", null);
}

export function sendMessage(
  place: Place,
  text: string,
  onBusy: OnBusy | undefined,
  files: NonNullable<Outgoing["files"]> = [],
): void {
  const message: Outgoing = {
    clientMessageId: freshId(),
    deviceId: place.machine.deviceId,
    workspaceId: place.workspace.workspaceId,
    conversationId: place.conversation.conversationId,
    text,
    files: files.length > 0 ? files : undefined,
    onBusy,
    writtenAt: Date.now(),
    state: "waiting",
  };
  change((world) => ({ ...world, outbox: [...world.outbox, message] }));
  flushOutbox();
}

export function retryMessage(clientMessageId: string): void {
  change((world) => ({
    ...world,
    outbox: changeOutgoing(world.outbox, clientMessageId, { state: "waiting", refusal: undefined }),
  }));
  flushOutbox();
}

export function dropMessage(clientMessageId: string): void {
  change((world) => ({ ...world, outbox: dropOutgoing(world.outbox, clientMessageId) }));
}

export function decide(decision: Decision, answer: PermissionDecision, message?: string): void {
  const { workspaceId, conversationId, toolUseId, inputHash } = decision;
  if (!isOpen(decision)) return;
  answerWith(
    decision,
    {
      type: "claude_permission",
      payload: { workspaceId, conversationId, toolUseId, decision: answer, message, inputHash },
    },
    () => fallback.decide(decision, answer, message),
  );
  change((world) => ({ ...world, decisions: changeDecision(world.decisions, decision, { answer }) }));
}

export function answerQuestions(decision: Decision, answer: Answer): void {
  const { workspaceId, conversationId, toolUseId, inputHash } = decision;
  if (!isOpen(decision)) return;
  const payload = { workspaceId, conversationId, toolUseId, answer, inputHash };
  answerWith(decision, { type: "claude_answer", payload }, () => fallback.decide(decision, { answer }));
}

export function control(place: Place, action: ControlAction): Promise<void> {
  const { conversationId, workspaceId } = ids(place);
  return ask(place.machine.deviceId, (requestId) => ({
    type: "claude_control",
    payload: { workspaceId, conversationId, action, requestId },
  }));
}

/** Takes a message back that waits until the agent is free. Where that is too late, a notice says so. */
export function takeBack(place: Place, clientMessageId: string): Promise<void> {
  const { conversationId, workspaceId } = ids(place);
  return ask(place.machine.deviceId, (requestId) => ({
    type: "claude_control",
    payload: { workspaceId, conversationId, action: "cancel_message", clientMessageId, requestId },
  }));
}

/** Whether a conversation goes on by itself when a limit is over; without a wish it only asks how that stands. */
export function continueLater(place: Place, wish: { enabled?: boolean; cancel?: boolean } = {}): Promise<void> {
  return ask(place.machine.deviceId, (requestId) => ({
    type: "continuation_set",
    payload: { ...ids(place), ...wish, requestId },
  }));
}

export function setMode(place: Place, mode: PermissionMode): Promise<void> {
  const { conversationId } = ids(place);
  return ask(place.machine.deviceId, (requestId) => ({
    type: "claude_set_permission_mode",
    payload: { mode, conversationId, requestId },
  }));
}

export function setModel(place: Place, model: string | undefined): Promise<void> {
  const { conversationId } = ids(place);
  return ask(place.machine.deviceId, (requestId) => ({
    type: "claude_set_model",
    payload: { conversationId, model, requestId },
  }));
}

export async function renameConversation(place: Place, newName: string): Promise<void> {
  const { conversationId, workspaceId } = ids(place);
  await ask(place.machine.deviceId, (requestId) => ({
    type: "conversation_rename",
    payload: { workspaceId, conversationId, newName, requestId },
  }));
}

export async function deleteConversation(place: Place): Promise<void> {
  const { conversationId, workspaceId } = ids(place);
  await ask(place.machine.deviceId, (requestId) => ({
    type: "conversation_delete",
    payload: { workspaceId, conversationId, requestId },
  }));
}

export async function createConversation(
  deviceId: number,
  workspaceId: string,
  name: string,
  skillType: SkillType,
  worktree?: WorktreeWish,
): Promise<string> {
  return ask(
    deviceId,
    (requestId) => ({ type: "conversation_create", payload: { workspaceId, name, skillType, worktree, requestId } }),
    (frame) =>
      frame.type === "conversation_create_result" ? { value: frame.payload.conversation?.conversationId ?? "" } : null,
  );
}

/** Makes a new conversation of everything before a message of a person; the old one stays as it is. */
export function forkConversation(place: Place, beforeSeq: number): Promise<string> {
  const { conversationId, workspaceId } = ids(place);
  return ask(
    place.machine.deviceId,
    (requestId) => ({ type: "conversation_fork", payload: { workspaceId, conversationId, beforeSeq, requestId } }),
    (frame) =>
      frame.type === "conversation_create_result" ? { value: frame.payload.conversation?.conversationId ?? "" } : null,
  );
}

/** Lets a conversation go on from before a message of a person. What came after stays to be seen, marked. */
export function rewindConversation(place: Place, beforeSeq: number): Promise<void> {
  const { conversationId, workspaceId } = ids(place);
  return ask(place.machine.deviceId, (requestId) => ({
    type: "conversation_rewind",
    payload: { workspaceId, conversationId, beforeSeq, requestId },
  }));
}

export async function createWorkspace(deviceId: number, name: string, workingDir: string): Promise<string> {
  return ask(
    deviceId,
    (requestId) => ({ type: "workspace_create", payload: { name, workingDir, requestId } }),
    (frame) =>
      frame.type === "workspace_create_result" ? { value: frame.payload.conversation?.conversationId ?? "" } : null,
  );
}

export function renameWorkspace(deviceId: number, workspaceId: string, newName: string): Promise<void> {
  return ask(deviceId, (requestId) => ({ type: "workspace_rename", payload: { workspaceId, newName, requestId } }));
}

/** Deletes a workspace with everything that was said in it. Its folder stays. */
export function deleteWorkspace(deviceId: number, workspaceId: string): Promise<void> {
  return ask(deviceId, (requestId) => ({ type: "workspace_delete", payload: { workspaceId, requestId } }));
}

export async function loadOlder(place: Place): Promise<void> {
  const { conversationId, workspaceId } = ids(place);
  const transcript = useApp.getState().world.transcripts[conversationId];
  if (!transcript?.hasMore || transcript.load !== "ready") return;
  const beforeSeq = oldestSeq(transcript);
  const offset = transcript.entries.top.length;
  const { epoch } = transcript;
  await ask(place.machine.deviceId, (requestId) => ({
    type: "history_request",
    payload: { workspaceId, conversationId, limit: PAGE_ROWS, offset, beforeSeq, epoch, requestId },
  }));
}

export interface WholeCall {
  input: string;
  output: string;
  image: string;
}

/**
 * The whole input and output of a call, which live events cut, or one of its pictures alone, in Base64: chunk by chunk, as
 * fast as they can be read here.
 */
export async function toolDetail(place: Place, toolUseId: string, image?: number): Promise<WholeCall> {
  const { conversationId } = ids(place);
  const parts = { input: "", output: "", image: "" };
  let cursor: string | undefined = "";
  do {
    const page = await ask(
      place.machine.deviceId,
      (requestId) => ({ type: "tool_detail", payload: { conversationId, toolUseId, cursor, image, requestId } }),
      (frame) => {
        if (frame.type !== "tool_detail_result") return null;
        const { part, chunk, last, nextCursor } = frame.payload;
        if (part && chunk) parts[part] += chunk;
        return last || nextCursor !== undefined ? { value: frame.payload } : null;
      },
    );
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return parts;
}

export interface Hit {
  deviceId: number;
  conversationId: string;
  seq: number;
  snippet: string;
  timestamp: number;
}

/** Where words were said on a machine, or in one of its conversations; the newest first. */
export function searchHistory(deviceId: number, query: string, conversationId?: string): Promise<Hit[]> {
  return ask(
    deviceId,
    (requestId) => ({
      type: "history_search",
      payload: { query, conversationId, limit: conversationId ? 100 : 20, requestId },
    }),
    (frame) =>
      frame.type === "history_search_result"
        ? { value: frame.payload.hits.map((hit) => ({ deviceId, ...hit })) }
        : null,
  );
}

/** What a machine has used, page by page. */
export async function loadUsage(deviceId: number, groupBy: UsageGroup): Promise<UsageRow[]> {
  const rows: UsageRow[] = [];
  let cursor: string | undefined;
  do {
    const page = await ask(
      deviceId,
      (requestId) => ({ type: "usage_request", payload: { groupBy, cursor, requestId } }),
      (frame) => (frame.type === "usage_result" ? { value: frame.payload } : null),
    );
    rows.push(...page.rows);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return rows;
}

export function dismissNotice(id: number): void {
  change((world) => ({ ...world, notices: world.notices.filter((one) => one.id !== id) }));
}

/** Whether what somebody saw is still what is asked: an answer is for this very call, and is given once. */
function isOpen(shown: Decision): boolean {
  return useApp.getState().world.decisions.some((one) => isSameCall(one, shown) && !one.sent);
}

function answerWith(decision: Decision, message: AppToPylon, overRest: () => Promise<boolean | Refusal>): void {
  const mark = (reached: boolean | Refusal) => {
    const refusal: Refusal | undefined =
      typeof reached === "object" ? reached : reached ? undefined : { code: "offline", words: "" };
    const became = { sent: refusal === undefined, refusal };
    change((world) => ({ ...world, decisions: changeDecision(world.decisions, decision, became) }));
  };
  const isByRest = isRest(useApp.getState().phase);
  mark(isByRest || sendTo(decision.deviceId, message));
  if (isByRest) void overRest().then(mark);
}

function ids(place: Place): { conversationId: string; workspaceId: string } {
  return { conversationId: place.conversation.conversationId, workspaceId: place.workspace.workspaceId };
}

/** Says something that belongs to no place of its own. */
export function tell(words: string): void {
  change((world) => notice(world, { words }));
}
