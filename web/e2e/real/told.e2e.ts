/**
 * Being told while nobody looks: the machine's own memory of it, and the service worker that shows what comes.
 *
 * A push service is a server of somebody else, so the browser's side of it is played; everything else is real.
 */
import { describe, expect, it } from "vitest";
import { seriousFindings } from "../axe";
import { PHONE } from "../browser";
import type { Device } from "./device";
import { hasMachine, script } from "./machine";
import { rig } from "./rig";

/** A push service that takes everything, and never sends. */
function playPushService(): void {
  let kept: PushSubscription | null = null;
  const text = (bytes: Uint8Array) =>
    btoa(String.fromCharCode(...bytes))
      .replaceAll("+", "-")
      .replaceAll("/", "_")
      .replaceAll("=", "");
  PushManager.prototype.subscribe = async () => {
    const pair = await crypto.subtle.generateKey({ name: "ECDH", namedCurve: "P-256" }, true, ["deriveBits"]);
    const p256dh = text(new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey)));
    const auth = text(crypto.getRandomValues(new Uint8Array(16)));
    const endpoint = `https://push.example.org/${crypto.randomUUID()}`;
    const unsubscribe = async () => {
      kept = null;
      return true;
    };
    kept = {
      endpoint,
      unsubscribe,
      toJSON: () => ({ endpoint, keys: { p256dh, auth } }),
    } as unknown as PushSubscription;
    return kept;
  };
  PushManager.prototype.getSubscription = async () => kept;
}

interface Known {
  mutedConversations: string[];
  quietHours?: { from: string; until: string; timeZone: string };
  subscriptions: { service: string; isOwn: boolean }[];
}

/** What the machine itself remembers of a device, asked over a connection of its own. */
function remembered(device: Device, token: string): Promise<Known> {
  return device.page.evaluate(
    (secret) =>
      new Promise<Known>((done) => {
        const socket = new WebSocket(`ws://${location.host}/ws`);
        const say = (message: unknown) => socket.send(JSON.stringify(message));
        socket.onopen = () => say({ type: "auth", payload: { deviceType: "app", token: secret, protocol: 1 } });
        socket.onmessage = ({ data }) => {
          const frame = JSON.parse(data);
          if (frame.type === "auth_result") say({ type: "workspace_list", broadcast: "pylons" });
          if (frame.type === "workspace_list_result")
            say({ type: "notifications_request", payload: {}, to: { deviceId: frame.payload.deviceId } });
          if (frame.type !== "notifications_result") return;
          socket.close();
          done(frame.payload);
        };
      }),
    token,
  );
}

describe.skipIf(!hasMachine)("being told by a real machine", () => {
  const stage = rig({ workspace: "garden" });

  /** A phone that may be told, in a conversation of its own. */
  async function phoneIn(name: string): Promise<{ phone: Device; token: string }> {
    const { machine } = stage;
    const token = machine.device(`Phone of ${name}`);
    const phone = await stage.come("phone", { size: PHONE, token, before: playPushService, at: "list" });
    await phone.page.context().grantPermissions(["notifications"], { origin: machine.address });
    await phone.makeConversation(name);
    return { phone, token };
  }

  /** Wishes to be told, and waits until the machine has agreed: the box follows it a moment after the click. */
  async function wish({ page }: Device): Promise<void> {
    await page.goto(`${stage.machine.address}/#/settings`);
    await page.getByLabel(/^Tell me when/).click();
    await page.getByText("tells this device, also while the page is closed · push.example.org").waitFor();
  }

  it("lets the machine reach the device, and know what is muted and when it is quiet", async () => {
    const { phone, token } = await phoneIn("Quiet basil");
    const { page } = phone;
    const chat = page.url();
    await wish(phone);
    await page.getByLabel("Quiet hours").click();
    const zone = await page.evaluate(() => Intl.DateTimeFormat().resolvedOptions().timeZone);
    const night = { from: "22:00", until: "07:00", timeZone: zone };
    await expect.poll(async () => (await remembered(phone, token)).quietHours).toEqual(night);
    expect(await seriousFindings(page)).toEqual([]);
    await page.goto(chat);
    await page.getByRole("button", { name: "Actions", exact: true }).click();
    await page.getByRole("menuitem", { name: /^Mute/ }).click();
    await expect.poll(async () => (await remembered(phone, token)).mutedConversations.length).toBe(1);
    await page.getByRole("button", { name: "Actions", exact: true }).click();
    await page.getByRole("menuitem", { name: /^Unmute/ }).click();
    await expect.poll(async () => (await remembered(phone, token)).mutedConversations).toEqual([]);
  });

  it("shows what is pushed under the name that the person knows, and leads there", async () => {
    const { machine } = stage;
    const { phone } = await phoneIn("Water the basil");
    const { page } = phone;
    const conversationId = decodeURIComponent(new URL(page.url()).hash.replace("#/c/", ""));
    await wish(phone);
    await page.goto(`${machine.address}/#/inbox`);
    const context = page.context();
    const wire = await context.newCDPSession(page);
    const found = new Promise<string>((done) => {
      wire.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
        const ours = registrations.find((one) => one.scopeURL.includes("/push/"));
        if (ours) done(ours.registrationId);
      });
    });
    await wire.send("ServiceWorker.enable");
    const registrationId = await found;
    const push = (data: string) =>
      wire.send("ServiceWorker.deliverPushMessage", { origin: machine.address, registrationId, data });
    const shown = () =>
      page.evaluate(async () => {
        const all = await navigator.serviceWorker.getRegistrations();
        const ours = all.find((one) => one.scope.includes("/push/"));
        return (await ours?.getNotifications())?.map(({ title, body }) => ({ title, body })) ?? [];
      });
    const told = { id: "n1", kind: "decision", deviceId: 1, conversationId, at: Date.now() };
    // The name is left for the worker a moment after the page knows it.
    await expect
      .poll(async () => {
        await push(JSON.stringify(told));
        return (await shown())[0]?.title;
      })
      .toBe("Water the basil");
    expect(await shown()).toMatchObject([{ body: "Waiting for you" }]);
    // One that makes no sense is shown as well, and breaks nothing.
    await push("no json");
    await expect.poll(async () => (await shown()).map((one) => one.title)).toContain("Estelle");
    const worker = context.serviceWorkers().find((one) => one.url().endsWith("/sw.js"));
    expect(worker).toBeDefined();
    const click = async (id: string) => {
      const scope = globalThis as unknown as {
        registration: ServiceWorkerRegistration;
        dispatchEvent(event: Event): void;
      };
      const all = await scope.registration.getNotifications();
      const one = all.find((notification) => notification.tag === id);
      if (!one) return false;
      const Clicked = (globalThis as unknown as { NotificationEvent: new (name: string, init: object) => Event })
        .NotificationEvent;
      scope.dispatchEvent(new Clicked("notificationclick", { notification: one }));
      return true;
    };
    const clicked = await Promise.all(context.serviceWorkers().map((one) => one.evaluate(click, conversationId)));
    expect(clicked).toContain(true);
    await page.waitForURL((url) => url.hash === `#/c/${encodeURIComponent(conversationId)}`);
  });

  it("takes the way back when it is not wanted any more", async () => {
    const { phone, token } = await phoneIn("No more basil");
    await wish(phone);
    // The machine tells of all; those of other devices stay.
    const own = async () => (await remembered(phone, token)).subscriptions.filter((one) => one.isOwn);
    await expect.poll(async () => (await own()).length).toBe(1);
    const box = phone.page.getByLabel(/^Tell me when/);
    await expect.poll(() => box.isChecked()).toBe(true);
    await box.click();
    await expect.poll(own).toEqual([]);
  });

  it("offers it once, when something works for a while", async () => {
    const fresh = await stage.open("Tablet", { before: playPushService });
    await fresh.page.evaluate(() =>
      Object.defineProperty(Notification, "permission", { get: () => "default", configurable: true }),
    );
    await fresh.makeConversation("Slow basil");
    await fresh.send(script("Slowly.", { say: "eins zwei", chunks: 2, gate: "slow", gate_at: 1 }));
    await fresh.page.getByText("Shall this device tell you").waitFor();
    await fresh.page.getByRole("button", { name: "Not now" }).click();
    await fresh.page.getByText("Shall this device tell you").waitFor({ state: "detached" });
    stage.machine.openGate("slow");
    await fresh.said("eins zwei").waitFor();
    expect(await fresh.page.evaluate(() => localStorage.getItem("estelle.settings"))).toContain('"declined":true');
  });
});
