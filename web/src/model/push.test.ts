import { expect, it } from "vitest";
import type { NotificationsResult } from "@/gen";
import { changesTo, isReached } from "./push";

const KNOWN: NotificationsResult = {
  deviceId: 1,
  publicKey: "",
  isMuted: false,
  mutedConversations: ["basil"],
  subscriptions: [{ service: "push.example.org", isOwn: false, madeAt: 1 }],
  hasWebhook: false,
  waiting: 0,
  lost: [],
  success: true,
};
const night = { from: "22:00", until: "07:00" };
const has = (id: string) => id !== "elsewhere";

it("tells a machine of its own conversations alone, and only what it does not know", () => {
  const wishes = { muted: ["mint", "elsewhere"], quiet: null, timeZone: "Europe/Berlin" };
  expect(changesTo(KNOWN, wishes, has)).toEqual([
    { conversationId: "mint", muted: true },
    { conversationId: "basil", muted: false },
  ]);
  expect(changesTo(KNOWN, { ...wishes, muted: ["basil"] }, has)).toEqual([]);
});

it("sets quiet hours with the zone that they are meant in, and takes them away", () => {
  const wishes = { muted: ["basil"], quiet: night, timeZone: "Asia/Seoul" };
  const set = { quietHours: { ...night, timeZone: "Asia/Seoul" } };
  expect(changesTo(KNOWN, wishes, has)).toEqual([set]);
  const known = { ...KNOWN, quietHours: { ...night, timeZone: "Asia/Seoul" } };
  expect(changesTo(known, wishes, has)).toEqual([]);
  expect(changesTo({ ...known, quietHours: { ...night, timeZone: "UTC" } }, wishes, has)).toEqual([set]);
  expect(changesTo(known, { ...wishes, quiet: null }, has)).toEqual([{ noQuietHours: true }]);
});

it("a device is reached by a subscription of its own", () => {
  expect(isReached(KNOWN)).toBe(false);
  expect(isReached({ ...KNOWN, subscriptions: [{ service: "x", isOwn: true, madeAt: 1 }] })).toBe(true);
});
