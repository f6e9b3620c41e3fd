/**
 * The one store of the app: the world as the relay tells it, over the socket that this file owns.
 *
 * Everything that changes the world goes through the pure functions of `model`; this file only carries their requests to
 * the socket and keeps what has to survive a reload. What a person can do is in `acts.ts`.
 */

import { create } from "zustand";
import { Fallback } from "@/api/fallback";
import { freshId } from "@/api/fresh-id";
import { type Offer, pair } from "@/api/pairing";
import { RequestError, Requests } from "@/api/requests";
import { type Connect, Socket } from "@/api/socket";
import type { AppToPylon, DeviceToRelay } from "@/gen";
import { onBatch } from "@/model/batch";
import { isRest, type Phase, UNPAIRED } from "@/model/connection";
import { type Fleet, find } from "@/model/fleet";
import { changeOutgoing, fromOtherTab, type Outgoing, unsent } from "@/model/outbox";
import {
  EMPTY_WORLD,
  type Frame,
  onOffline,
  onOnline,
  onSettled,
  reloading,
  type Turned,
  type World,
} from "@/model/world";
import { shareDrafts } from "./drafts";
import { followOutbox, loadOutbox, saveOutbox } from "./kept-outbox";
import { firstTranscripts, forgetKept, keepRows } from "./kept-rows";
import { clearAll, followOthers, load, save } from "./storage";

export interface AppState {
  world: World;
  phase: Phase;
}

export const useApp = create<AppState>(() => ({
  world: {
    ...EMPTY_WORLD,
    fleet: load<Fleet>("fleet", []).map((machine) => ({ ...machine, isOnline: false })),
    outbox: loadOutbox(),
    transcripts: firstTranscripts(),
  },
  phase: UNPAIRED,
}));

const requests = new Requests();
/** The way over REST, once the socket was given up. */
export const fallback = new Fallback(() => load<string | null>("token", null), onLooked);
let socket: Socket | null = null;
let connection: Connect | null = null;

/** Starts the app on a way to connect. */
export function start(connect: Connect): void {
  connection = connect;
  socket = new Socket(connect, () => load<string | null>("token", null), { phase: onPhase, frames: onFrames });
  if (load<string | null>("token", null) !== null) socket.start();
  shareWithTabs();
  keepRows(
    () => useApp.getState().world,
    (changed) => useApp.subscribe((app, before) => app.world !== before.world && changed(app.world, before.world)),
  );
  addEventListener("online", () => socket?.poke());
  document.addEventListener("visibilitychange", () => document.hidden || socket?.poke());
}

/** What other tabs of this device do concerns this one: messages that wait, and whether the device is known at all. */
function shareWithTabs(): void {
  followOutbox((id, message) => {
    const { world } = useApp.getState();
    useApp.setState({ world: { ...world, outbox: fromOtherTab(world.outbox, id, message) } });
    if (message?.state === "waiting") flushOutbox();
  });
  followOthers<string>("token", (_, token) => (token === null ? location.reload() : socket?.start()));
  shareDrafts();
}

export function retryNow(): void {
  socket?.poke();
}

/** Joins with an offer of a machine; the digits to compare come through `compare`. */
export async function pairDevice(offer: Offer, name: string, compare: (code: string) => void): Promise<void> {
  if (!connection) return;
  save("token", await pair(connection, offer, name, compare));
  socket?.start();
}

/** Signs out: the device forgets its secret and everything it has seen. */
export async function forgetDevice(): Promise<void> {
  socket?.forget();
  useApp.setState({ world: EMPTY_WORLD });
  await clearAll();
  location.reload();
}

/** Takes a frame that it was waiting for; true if nobody else has to see it. */
export type Hear = (frame: Frame) => boolean;
const hearers = new Set<Hear>();

/** Hands frames to a view as they come, for what is no part of the world: the screen of a terminal, say. */
export function listen(hear: Hear): () => void {
  hearers.add(hear);
  return () => void hearers.delete(hear);
}

function isHeard(frame: Frame): boolean {
  let heard = false;
  for (const hear of [...hearers]) heard = hear(frame) || heard;
  return heard;
}

/** Asks a machine, and waits for its answer. */
export function ask<T = void>(
  deviceId: number,
  make: (requestId: string) => AppToPylon,
  read: (frame: Frame) => { value: T } | null = () => ({ value: undefined as T }),
): Promise<T> {
  const requestId = freshId();
  if (!socket?.send({ ...make(requestId), to: { deviceId } })) return Promise.reject(new RequestError("", "offline"));
  return requests.wait(requestId, read);
}

/** Asks the relay itself. */
export function askRelay<T = void>(
  make: (requestId: string) => DeviceToRelay,
  read: (frame: Frame) => { value: T } | null = () => ({ value: undefined as T }),
): Promise<T> {
  const requestId = freshId();
  if (!socket?.send(make(requestId))) return Promise.reject(new RequestError("", "offline"));
  return requests.wait(requestId, read);
}

function onPhase(phase: Phase): void {
  const before = useApp.getState().phase;
  useApp.setState({ phase });
  // Who was turned away has nothing to read here any more.
  if (phase.name === "refused") forgetKept();
  if (phase.name === "online" && before.name === "online") return;
  if (phase.name === "online") {
    turn(onOnline(useApp.getState().world, phase.device, phase.deviceKey));
    flushOutbox();
  } else if (before.name === "online") {
    requests.failAll();
    change(onOffline);
  } else if (isRest(phase)) {
    flushOutbox();
  }
  lookOverRest();
}

/** Without a socket the conversation that is shown is looked at over REST. */
function lookOverRest(): void {
  const { world, phase } = useApp.getState();
  const place = isRest(phase) && world.viewing ? find(world.fleet, world.viewing) : undefined;
  if (!place) {
    fallback.look(null);
    return;
  }
  const { conversationId } = place.conversation;
  fallback.look({ conversationId, workspaceId: place.workspace.workspaceId, deviceId: place.machine.deviceId });
}

/** What was seen over REST, as if a Pylon had answered to selecting the conversation. */
function onLooked(frames: Frame[]): void {
  change((world) => onBatch(reloading(world), frames, Date.now()).world);
  // The machine is reached: what did not get through before does so now.
  flushOutbox();
}

function onFrames(frames: Frame[]): void {
  const isTaken = (frame: Frame) => requests.offer(frame) || isHeard(frame);
  turn(onBatch(useApp.getState().world, frames, Date.now(), isTaken));
}

/** How long a machine may take to name all decisions of a conversation, once it has begun to. */
const SETTLE_MS = 2_000;

/** Takes the next world, and asks the machines what it wants to know. */
export function turn({ world, asks }: Turned): void {
  const before = useApp.getState().world.viewing;
  change(() => world);
  if (world.viewing !== before) lookOverRest();
  const isListed = asks.some((one) => one.type === "list");
  if (isListed) socket?.send({ type: "workspace_list", broadcast: "pylons" });
  if (asks.some((one) => one.type === "flush")) flushOutbox();
  for (const one of asks) {
    if (one.type === "settle") setTimeout(() => change((now) => onSettled(now, one.conversationId, one.at)), SETTLE_MS);
    if (one.type !== "select") continue;
    const place = find(world.fleet, one.conversationId);
    if (!place) continue;
    socket?.send({
      type: "conversation_select",
      payload: { conversationId: one.conversationId, workspaceId: place.workspace.workspaceId },
      to: { deviceId: place.machine.deviceId },
    });
  }
}

/** Sends every message that waits, if there is a way to its machine. */
export function flushOutbox(): void {
  const { world, phase } = useApp.getState();
  const isThere = (id: number) => world.fleet.some((machine) => machine.deviceId === id && machine.isOnline);
  for (const one of unsent(world.outbox, isRest(phase) ? () => true : isThere)) {
    const { workspaceId, conversationId, text: message, clientMessageId, onBusy, deviceId } = one;
    const attachedFileIds = one.files?.map((file) => file.fileId);
    if (isRest(phase)) {
      // This way knows of no files; with them a message waits for the other one.
      if (attachedFileIds === undefined) void sendOverRest(one);
      continue;
    }
    const payload = { workspaceId, conversationId, message, clientMessageId, onBusy, attachedFileIds };
    const isSent = socket?.send({ type: "claude_send", payload, to: { deviceId } }) ?? false;
    if (isSent) change((now) => ({ ...now, outbox: changeOutgoing(now.outbox, clientMessageId, { state: "sent" }) }));
  }
}

/** What is on its way over REST. */
const underWay = new Set<string>();

async function sendOverRest(message: Outgoing): Promise<void> {
  const id = message.clientMessageId;
  if (underWay.has(id)) return;
  underWay.add(id);
  // What does not get through stays waiting and visible; the next look or connection sends it.
  const reached = await fallback.send(message).finally(() => underWay.delete(id));
  if (reached === false) return;
  const became = reached === true ? { state: "accepted" as const } : { state: "failed" as const, refusal: reached };
  change((world) => ({ ...world, outbox: changeOutgoing(world.outbox, id, became) }));
}

/** The only place where the world changes. */
export function change(apply: (world: World) => World): void {
  const before = useApp.getState().world;
  const world = apply(before);
  if (world === before) return;
  useApp.setState({ world });
  if (world.outbox !== before.outbox) saveOutbox(before.outbox, world.outbox);
  if (world.fleet !== before.fleet) save("fleet", world.fleet);
}

/** Sends to a machine without waiting; says whether there was a connection. */
export function sendTo(deviceId: number, message: AppToPylon): boolean {
  return socket?.send({ ...message, to: { deviceId } }) ?? false;
}
