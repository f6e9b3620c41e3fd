/**
 * The one store of the app: the world as the relay tells it, over the socket that this file owns.
 *
 * Everything that changes the world goes through the pure functions of `model`; this file only carries their requests to
 * the socket and keeps what has to survive a reload. What a person can do is in `acts.ts`.
 */
import { create } from "zustand";
import { sendInput } from "@/api/http";
import { type Offer, pair } from "@/api/pairing";
import { RequestError, Requests } from "@/api/requests";
import { type Connect, Socket } from "@/api/socket";
import type { AppToPylon, DeviceToRelay } from "@/gen";
import { isRest, type Phase, UNPAIRED } from "@/model/connection";
import { type Fleet, find } from "@/model/fleet";
import { changeOutgoing, type Outgoing, unsent } from "@/model/outbox";
import {
  type Ask,
  EMPTY_WORLD,
  type Frame,
  onFrame,
  onOffline,
  onOnline,
  type Turned,
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
let connection: Connect | null = null;

/** Starts the app on a way to connect. */
export function start(connect: Connect): void {
  connection = connect;
  socket = new Socket(connect, () => load<string | null>("token", null), { phase: onPhase, frames: onFrames });
  if (load<string | null>("token", null) !== null) socket.start();
  addEventListener("online", () => socket?.poke());
  document.addEventListener("visibilitychange", () => document.hidden || socket?.poke());
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

/** Asks a machine, and waits for its answer. */
export function ask<T = void>(
  deviceId: number,
  make: (requestId: string) => AppToPylon,
  read: (frame: Frame) => { value: T } | null = () => ({ value: undefined as T }),
): Promise<T> {
  const requestId = crypto.randomUUID();
  if (!socket?.send({ ...make(requestId), to: { deviceId } })) return Promise.reject(new RequestError("", "offline"));
  return requests.wait(requestId, read);
}

/** Asks the relay itself. */
export function askRelay<T = void>(
  make: (requestId: string) => DeviceToRelay,
  read: (frame: Frame) => { value: T } | null = () => ({ value: undefined as T }),
): Promise<T> {
  const requestId = crypto.randomUUID();
  if (!socket?.send(make(requestId))) return Promise.reject(new RequestError("", "offline"));
  return requests.wait(requestId, read);
}

function onPhase(phase: Phase): void {
  const before = useApp.getState().phase;
  useApp.setState({ phase });
  if (phase.name === "online" && before.name === "online") return;
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

/** Takes the next world, and asks the machines what it wants to know. */
export function turn({ world, asks }: Turned): void {
  change(() => world);
  const isListed = asks.some((one) => one.type === "list");
  if (isListed) socket?.send({ type: "workspace_list", broadcast: "pylons" });
  if (asks.some((one) => one.type === "flush")) flushOutbox();
  for (const one of asks) {
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

/** The only place where the world changes. */
export function change(apply: (world: World) => World): void {
  const before = useApp.getState().world;
  const world = apply(before);
  if (world === before) return;
  useApp.setState({ world });
  if (world.outbox !== before.outbox) save("outbox", world.outbox);
  if (world.fleet !== before.fleet) save("fleet", world.fleet);
}

/** Sends to a machine without waiting; says whether there was a connection. */
export function sendTo(deviceId: number, message: AppToPylon): boolean {
  return socket?.send({ ...message, to: { deviceId } }) ?? false;
}
