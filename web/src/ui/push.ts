/**
 * The browser's side of being told by push: one registration for each machine, because each signs with a key of its own.
 *
 * All use the one service worker of the app, under a scope that no page is in.
 */
import type { NotificationsResult } from "@/gen";
import { isReached } from "@/model/push";
import { useApp } from "@/store/app";
import { loadNotifications, sendTest, setTrouble, subscribe, tellWishes, unsubscribe } from "@/store/notify-acts";
import { changeSettings, useSettings } from "@/store/settings";
import { scriptUrl } from "./trusted";

/** Whether the browser can be told of anything while the page is closed. */
export function canPush(): boolean {
  return "serviceWorker" in navigator && "PushManager" in globalThis && "Notification" in globalThis;
}

function isAllowed(): boolean {
  return "Notification" in globalThis && Notification.permission === "granted";
}

/** Asks the browser, if it was not asked yet, and says whether it allows notifications. */
export async function wantTelling(): Promise<boolean> {
  const isGranted = (await Notification.requestPermission()) === "granted";
  changeSettings({ notifies: isGranted });
  if (isGranted) await Promise.all(online().map(reach));
  return isGranted;
}

export async function stopTelling(): Promise<void> {
  changeSettings({ notifies: false });
  await Promise.all(online().map(leave));
}

function online(): number[] {
  return useApp.getState().world.fleet.flatMap((machine) => (machine.isOnline ? [machine.deviceId] : []));
}

/** Lets a machine reach this device, and know what the person wants. What fails is kept to be shown. */
async function reach(deviceId: number): Promise<void> {
  try {
    const known = await loadNotifications(deviceId);
    if (canPush() && !isReached(known)) await subscribeAt(deviceId, known);
    setTrouble(deviceId, undefined);
    await tellWishes(deviceId);
  } catch (error) {
    setTrouble(deviceId, error);
  }
}

async function subscribeAt(deviceId: number, { publicKey }: NotificationsResult): Promise<void> {
  const scope = `/push/${deviceId}/`;
  const registration = await navigator.serviceWorker.register(scriptUrl("/sw.js"), { scope });
  await isActive(registration);
  const options = { userVisibleOnly: true, applicationServerKey: publicKey };
  const subscription = await registration.pushManager.subscribe(options).catch(async () => {
    // It was made for a key that the machine no longer has.
    await (await registration.pushManager.getSubscription())?.unsubscribe();
    return registration.pushManager.subscribe(options);
  });
  const { endpoint, keys } = subscription.toJSON();
  await subscribe(deviceId, { endpoint: endpoint ?? "", p256dh: keys?.p256dh ?? "", auth: keys?.auth ?? "" });
}

function isActive(registration: ServiceWorkerRegistration): Promise<void> {
  const worker = registration.installing ?? registration.waiting;
  if (registration.active || !worker) return Promise.resolve();
  return new Promise((done) => {
    worker.addEventListener("statechange", () => worker.state === "activated" && done());
  });
}

async function leave(deviceId: number): Promise<void> {
  const registration = await navigator.serviceWorker?.getRegistration(`/push/${deviceId}/`);
  const subscription = await registration?.pushManager.getSubscription();
  if (!registration?.scope.includes("/push/") || !subscription) return;
  await subscription.unsubscribe();
  // A machine that does not answer finds out by itself that the way is gone.
  await unsubscribe(deviceId, subscription.endpoint).catch(() => undefined);
}

/** A notification from a machine to this device, to see whether it comes. */
export function testTelling(deviceId: number): Promise<NotificationsResult> {
  return sendTest(deviceId);
}

/** Keeps machines in step with what the person wants, for as long as the app lives. */
export function followWishes(): void {
  let reached = new Set<number>();
  const look = () => {
    if (!useSettings.getState().notifies || !isAllowed()) {
      reached = new Set();
      return;
    }
    const now = online();
    for (const id of now) if (!reached.has(id)) void reach(id);
    reached = new Set(now);
  };
  useApp.subscribe((app, before) => app.world.fleet !== before.world.fleet && look());
  useSettings.subscribe((now, before) => {
    if (now.muted === before.muted && now.quiet === before.quiet) return;
    if (now.notifies && isAllowed()) for (const id of online()) void tellWishes(id).catch(() => undefined);
  });
}
