/**
 * The one store of the app: the world as the relay tells it, and the acts of the person.
 *
 * Everything that changes the world goes through the pure functions of `model`; this file only carries their requests to
 * the socket and keeps what has to survive a reload.
 */
import { create } from "zustand";
import { pair as pairOverHttp, sendInput } from "@/api/http";
import { RequestError, Requests } from "@/api/requests";
import { type Connect, Socket } from "@/api/socket";
import type { Answer, AppToPylon, ControlAction, OnBusy, PermissionDecision, PermissionMode, SkillType } from "@/gen";
import { isRest, type Phase, UNPAIRED } from "@/model/connection";
import { changeDecision, type Decision } from "@/model/decisions";
import { type Fleet, find, type Place } from "@/model/fleet";
import { oldestSeq } from "@/model/history";
import { changeOutgoing, dropOutgoing, type Outgoing, unsent } from "@/model/outbox";
import {
  type Ask,
  EMPTY_WORLD,
  type Frame,
  notice,
  onFrame,
  onOffline,
  onOnline,
  type Turned,
  view,
  type World,
} from "@/model/world";
import { clearAll, load, save } from "./storage";

export interface AppState {
  world: World;
  phase: Phase;
}

export const useApp = create<AppState>(() => ({
  world: {
    ...EMPTY_WORLD,
    fleet: load<Fleet>("fleet", []).map((machine) => ({ ...machine, isOnline: false })),
    outbox: load("outbox", []),
  },
  phase: UNPAIRED,
}));

const requests = new Requests();
let socket: Socket | null = null;
/** Rows asked for at a time when scrolling back. */
const PAGE_ROWS = 100;

/** Starts the app on a way to connect. */
export function start(connect: Connect): void {
  socket = new Socket(connect, () => load<string | null>("token", null), { phase: onPhase, frames: onFrames });
  if (load<string | null>("token", null) !== null) socket.start();
  addEventListener("online", () => socket?.poke());
  document.addEventListener("visibilitychange", () => document.hidden || socket?.poke());
}

export function retryNow(): void {
  socket?.poke();
}

export async function pairDevice(code: string, name: string): Promise<void> {
  const { token } = await pairOverHttp(code, name);
  save("token", token);
  socket?.start();
}

/** Signs out: the device forgets its secret and everything it has seen. */
export async function forgetDevice(): Promise<void> {
  socket?.forget();
  useApp.setState({ world: EMPTY_WORLD });
  await clearAll();
  location.reload();
}

export function openConversation(conversationId: string | null): void {
  const { world } = useApp.getState();
  if (world.viewing === conversationId) return;
  if (conversationId) save("last", conversationId);
  turn(view(world, conversationId));
}

export function lastConversation(): string | null {
  return load<string | null>("last", null);
}

export function sendMessage(place: Place, text: string, onBusy: OnBusy | undefined): void {
  const message: Outgoing = {
    clientMessageId: crypto.randomUUID(),
    deviceId: place.machine.deviceId,
    workspaceId: place.workspace.workspaceId,
    conversationId: place.conversation.conversationId,
    text,
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
    outbox: changeOutgoing(world.outbox, clientMessageId, { state: "waiting", error: undefined }),
  }));
  flushOutbox();
}

export function dropMessage(clientMessageId: string): void {
  change((world) => ({ ...world, outbox: dropOutgoing(world.outbox, clientMessageId) }));
}

export function decide(decision: Decision, answer: PermissionDecision, message?: string): void {
  const { workspaceId, conversationId, toolUseId } = decision;
  answerWith(decision, {
    type: "claude_permission",
    payload: { workspaceId, conversationId, toolUseId, decision: answer, message },
  });
}

export function answerQuestions(decision: Decision, answer: Answer): void {
  const { workspaceId, conversationId, toolUseId } = decision;
  answerWith(decision, { type: "claude_answer", payload: { workspaceId, conversationId, toolUseId, answer } });
}

export function control(place: Place, action: ControlAction): Promise<void> {
  const { conversationId, workspaceId } = ids(place);
  return ask(place.machine.deviceId, (requestId) => ({
    type: "claude_control",
    payload: { workspaceId, conversationId, action, requestId },
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
): Promise<string> {
  return ask(
    deviceId,
    (requestId) => ({ type: "conversation_create", payload: { workspaceId, name, skillType, requestId } }),
    (frame) =>
      frame.type === "conversation_create_result" ? { value: frame.payload.conversation?.conversationId ?? "" } : null,
  );
}

export async function createWorkspace(deviceId: number, name: string, workingDir: string): Promise<string> {
  return ask(
    deviceId,
    (requestId) => ({ type: "workspace_create", payload: { name, workingDir, requestId } }),
    (frame) =>
      frame.type === "workspace_create_result" ? { value: frame.payload.conversation?.conversationId ?? "" } : null,
  );
}

export function listFolders(
  deviceId: number,
  path: string | undefined,
): Promise<{ path: string; folders: string[]; truncated: boolean }> {
  return ask(
    deviceId,
    (requestId) => ({ type: "folder_list", payload: { path, requestId } }),
    (frame) =>
      frame.type === "folder_list_result"
        ? {
            value: {
              path: frame.payload.path,
              folders: frame.payload.folders,
              truncated: frame.payload.truncated === true,
            },
          }
        : null,
  );
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

/** The whole input and output of a call, which live events cut. */
export function toolDetail(place: Place, toolUseId: string): Promise<{ input: string; output: string }> {
  const { conversationId } = ids(place);
  const parts = { input: "", output: "" };
  return ask(
    place.machine.deviceId,
    (requestId) => ({ type: "tool_detail", payload: { conversationId, toolUseId, requestId } }),
    (frame) => {
      if (frame.type !== "tool_detail_result") return null;
      const { part, chunk, last } = frame.payload;
      if (part && chunk) parts[part] += chunk;
      return last ? { value: parts } : null;
    },
  );
}

export interface Hit {
  deviceId: number;
  conversationId: string;
  seq: number;
  snippet: string;
  timestamp: number;
}

export function searchHistory(deviceId: number, query: string): Promise<Hit[]> {
  return ask(
    deviceId,
    (requestId) => ({ type: "history_search", payload: { query, limit: 20, requestId } }),
    (frame) =>
      frame.type === "history_search_result"
        ? { value: frame.payload.hits.map((hit) => ({ deviceId, ...hit })) }
        : null,
  );
}

export function reportBug(deviceId: number, message: string): Promise<void> {
  return ask(deviceId, (requestId) => ({
    type: "bug_report",
    payload: { message, timestamp: new Date().toISOString(), requestId },
  }));
}

export function dismissNotice(id: number): void {
  change((world) => ({ ...world, notices: world.notices.filter((one) => one.id !== id) }));
}

function answerWith(decision: Decision, message: AppToPylon): void {
  const isSent = socket?.send({ ...message, to: { deviceId: decision.deviceId } }) ?? false;
  change((world) => ({
    ...world,
    decisions: changeDecision(
      world.decisions,
      decision.toolUseId,
      isSent ? { sent: true, error: undefined } : { error: "offline" },
    ),
  }));
}

function ask<T = void>(
  deviceId: number,
  make: (requestId: string) => AppToPylon,
  read: (frame: Frame) => { value: T } | null = () => ({ value: undefined as T }),
): Promise<T> {
  const requestId = crypto.randomUUID();
  if (!socket?.send({ ...make(requestId), to: { deviceId } })) return Promise.reject(new RequestError("", "offline"));
  return requests.wait(requestId, read);
}

function ids(place: Place): { conversationId: string; workspaceId: string } {
  return { conversationId: place.conversation.conversationId, workspaceId: place.workspace.workspaceId };
}

function onPhase(phase: Phase): void {
  const before = useApp.getState().phase;
  useApp.setState({ phase });
  if (phase.name === "online") {
    turn(onOnline(useApp.getState().world, phase.device));
    flushOutbox();
  } else if (before.name === "online") {
    requests.failAll();
    change(onOffline);
  } else if (isRest(phase)) {
    flushOutbox();
  }
}

function onFrames(frames: Frame[]): void {
  const now = Date.now();
  let world = useApp.getState().world;
  const asks: Ask[] = [];
  for (const frame of frames) {
    if (requests.offer(frame)) continue;
    const turned = onFrame(world, frame, now);
    world = turned.world;
    asks.push(...turned.asks);
  }
  turn({ world, asks });
}

function turn({ world, asks }: Turned): void {
  change(() => world);
  const isListed = asks.some((one) => one.type === "list");
  if (isListed) socket?.send({ type: "workspace_list", broadcast: "pylons" });
  for (const one of asks) {
    if (one.type !== "select") continue;
    const place = find(world.fleet, one.conversationId);
    if (!place) continue;
    socket?.send({ type: "conversation_select", payload: ids(place), to: { deviceId: place.machine.deviceId } });
  }
}

function flushOutbox(): void {
  const { world, phase } = useApp.getState();
  for (const one of unsent(world.outbox)) {
    const { workspaceId, conversationId, text: message, clientMessageId, onBusy, deviceId } = one;
    if (isRest(phase)) {
      void sendOverRest(one);
      continue;
    }
    const payload = { workspaceId, conversationId, message, clientMessageId, onBusy };
    const isSent = socket?.send({ type: "claude_send", payload, to: { deviceId } }) ?? false;
    if (isSent) change((now) => ({ ...now, outbox: changeOutgoing(now.outbox, clientMessageId, { state: "sent" }) }));
  }
}

async function sendOverRest(message: Outgoing): Promise<void> {
  const id = message.clientMessageId;
  try {
    await sendInput(load<string | null>("token", null), message.conversationId, message.text, id);
    change((world) => ({ ...world, outbox: changeOutgoing(world.outbox, id, { state: "accepted" }) }));
  } catch {
    // It stays waiting and visible; the next connection sends it.
  }
}

function change(apply: (world: World) => World): void {
  const before = useApp.getState().world;
  const world = apply(before);
  if (world === before) return;
  useApp.setState({ world });
  if (world.outbox !== before.outbox) save("outbox", world.outbox);
  if (world.fleet !== before.fleet) save("fleet", world.fleet);
}

export function tell(text: string): void {
  change((world) => notice(world, text));
}
