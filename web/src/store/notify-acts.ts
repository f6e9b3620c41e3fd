/** Being told by machines while the page is closed: what they know of this device, and what the person wants of them. */
import { create } from "zustand";
import type { AppToPylon, NotificationsResult } from "@/gen";
import { find } from "@/model/fleet";
import { changesTo, isReached } from "@/model/push";
import { ask, useApp } from "./app";
import { useSettings } from "./settings";

export interface Telling {
  /** What each machine said last. */
  known: Readonly<Record<number, NotificationsResult>>;
  /** Why this device cannot be reached by a machine. */
  troubles: Readonly<Record<number, unknown>>;
}

export const useTelling = create<Telling>(() => ({ known: {}, troubles: {} }));

/** Whether a machine tells this device itself, so that the page need not. */
export function isTold(deviceId: number): boolean {
  const known = useTelling.getState().known[deviceId];
  return known !== undefined && isReached(known);
}

export function setTrouble(deviceId: number, error: unknown): void {
  useTelling.setState(({ troubles }) => ({ troubles: { ...troubles, [deviceId]: error } }));
}

async function say(deviceId: number, make: (requestId: string) => AppToPylon): Promise<NotificationsResult> {
  const result = await ask(deviceId, make, (frame) =>
    frame.type === "notifications_result" ? { value: frame.payload } : null,
  );
  useTelling.setState(({ known }) => ({ known: { ...known, [deviceId]: result } }));
  return result;
}

export function loadNotifications(deviceId: number): Promise<NotificationsResult> {
  return say(deviceId, (requestId) => ({ type: "notifications_request", payload: { requestId } }));
}

export interface Endpoint {
  endpoint: string;
  p256dh: string;
  auth: string;
}

export function subscribe(deviceId: number, way: Endpoint): Promise<NotificationsResult> {
  return say(deviceId, (requestId) => ({ type: "push_subscribe", payload: { ...way, requestId } }));
}

export function unsubscribe(deviceId: number, endpoint: string): Promise<NotificationsResult> {
  return say(deviceId, (requestId) => ({ type: "push_unsubscribe", payload: { endpoint, requestId } }));
}

export function sendTest(deviceId: number): Promise<NotificationsResult> {
  return say(deviceId, (requestId) => ({ type: "push_test", payload: { requestId } }));
}

const turns = new Map<number, Promise<void>>();

/** Lets a machine know what is muted and when it is quiet. One at a time, so that the last wish is the one that stands. */
export function tellWishes(deviceId: number): Promise<void> {
  const before = turns.get(deviceId) ?? Promise.resolve();
  const turn = before.catch(() => undefined).then(() => tellNow(deviceId));
  turns.set(deviceId, turn);
  return turn;
}

async function tellNow(deviceId: number): Promise<void> {
  const known = await loadNotifications(deviceId);
  if (!isReached(known)) return;
  const { muted, quiet } = useSettings.getState();
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const { fleet } = useApp.getState().world;
  const has = (id: string) => find(fleet, id)?.machine.deviceId === deviceId;
  for (const change of changesTo(known, { muted, quiet, timeZone }, has)) {
    await say(deviceId, (requestId) => ({ type: "notifications_set", payload: { ...change, requestId } }));
  }
}
