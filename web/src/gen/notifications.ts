// Made by `cargo xtask gen` from crates/proto. Do not edit.

import type { ErrorCode, Retry } from "./error";
import type { ConversationId, DeviceId, RequestId, Timestamp } from "./ids";

/**
 * A notification that was given up.
 */
export type LostNotice = { 
/**
 * What it was about.
 */
kind: NoticeKind, 
/**
 * The host of the push service, or `webhook`.
 */
service: string, 
/**
 * When it was given up.
 */
at: Timestamp, 
/**
 * How often it was tried.
 */
attempts: number, 
/**
 * Why the last try failed.
 */
error: string, 
/**
 * In which conversation.
 */
conversationId?: ConversationId, };

/**
 * What people are told of.
 */
export type NoticeKind = "decision" | "finished" | "failed" | "idle_warning" | "test";

/**
 * How notifications fare, in `pylon_status`.
 */
export type NotificationHealth = { 
/**
 * Still to be delivered.
 */
waiting: number, 
/**
 * Given up.
 */
lost: number, 
/**
 * Why the last one was given up.
 */
error?: string, };

/**
 * Asks how this device is told, and what could not be delivered.
 */
export type NotificationsRequest = { 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * How the device that asks is told, and how the machine fares with it.
 */
export type NotificationsResult = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * The `applicationServerKey` for the browser, base64url.
 */
publicKey: string, 
/**
 * Whether the device is told nothing.
 */
isMuted: boolean, 
/**
 * The conversations it is told nothing of.
 */
mutedConversations: Array<ConversationId>, 
/**
 * All ways to devices.
 */
subscriptions: Array<PushSubscriptionInfo>, 
/**
 * Whether a webhook is configured.
 */
hasWebhook: boolean, 
/**
 * Notifications that are still to be delivered.
 */
waiting: number, 
/**
 * Those that were given up, newest first.
 */
lost: Array<LostNotice>, 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * When the device is left alone.
 */
quietHours?: QuietHours, 
/**
 * Why not, for a person to read; only on failure.
 */
error?: string, 
/**
 * Why not, for a program; only on failure.
 */
errorCode?: ErrorCode, 
/**
 * Whether trying again can help; only on failure.
 */
retry?: Retry, 
/**
 * The `requestId` of the request, if it had one.
 */
requestId?: RequestId, };

/**
 * Changes when this device is told. What is absent stays.
 */
export type NotificationsSet = { 
/**
 * `muted` is about this conversation alone.
 */
conversationId?: ConversationId, 
/**
 * Whether the device is told nothing.
 */
muted?: boolean, 
/**
 * When it is left alone.
 */
quietHours?: QuietHours, 
/**
 * Whether it is left alone at no hour any more.
 */
noQuietHours?: boolean, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Tells this device by Web Push from now on. What the browser's `PushSubscription` says, as it says it.
 */
export type PushSubscribe = { 
/**
 * Where to send.
 */
endpoint: string, 
/**
 * The device's public key, base64url.
 */
p256dh: string, 
/**
 * The device's secret, base64url.
 */
auth: string, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * A way to a device.
 */
export type PushSubscriptionInfo = { 
/**
 * The host of the push service.
 */
service: string, 
/**
 * Whether it is one of the device that asks.
 */
isOwn: boolean, 
/**
 * When it was made.
 */
madeAt: Timestamp, 
/**
 * When something was last delivered.
 */
deliveredAt?: Timestamp, 
/**
 * When a try last failed.
 */
failedAt?: Timestamp, 
/**
 * Why.
 */
error?: string, };

/**
 * Sends a notification to the subscriptions of this device, whatever is muted.
 */
export type PushTest = { 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Takes a subscription of this device away.
 */
export type PushUnsubscribe = { 
/**
 * Which.
 */
endpoint: string, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * A time of the day in which a device is left alone. What waits for a person is told when it is over.
 */
export type QuietHours = { 
/**
 * The first minute, `HH:MM`.
 */
from: string, 
/**
 * The first minute after it, `HH:MM`; before `from` it is of the next day.
 */
until: string, 
/**
 * The time zone, by its name in the tz database: `Europe/Berlin`.
 */
timeZone: string, };
