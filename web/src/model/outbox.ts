/**
 * Messages that were written here and are not in the conversation yet.
 *
 * Each has an id of its own, by which the Pylon runs it once however often it is sent; so everything unconfirmed is sent
 * again after a reconnect. It leaves when the conversation shows it, and not before.
 */
import type { OnBusy } from "@/gen";
import type { Refusal } from "./refusal";

export interface Outgoing {
  clientMessageId: string;
  deviceId: number;
  workspaceId: string;
  conversationId: string;
  text: string;
  /** Files that go with it, which are on the machine already. */
  files?: readonly { fileId: string; name: string; size: number }[];
  onBusy?: OnBusy;
  writtenAt: number;
  /** `waiting` for a connection, `sent` and unconfirmed, `accepted` and durable, or `failed` for a reason. */
  state: "waiting" | "sent" | "accepted" | "failed";
  refusal?: Refusal;
}

export type Outbox = readonly Outgoing[];

export function changeOutgoing(outbox: Outbox, clientMessageId: string, change: Partial<Outgoing>): Outbox {
  return outbox.map((one) => (one.clientMessageId === clientMessageId ? { ...one, ...change } : one));
}

export function dropOutgoing(outbox: Outbox, clientMessageId: string | undefined): Outbox {
  return outbox.some((one) => one.clientMessageId === clientMessageId)
    ? outbox.filter((one) => one.clientMessageId !== clientMessageId)
    : outbox;
}

/** What has to go out now that there is a way to these machines. */
export function unsent(outbox: Outbox, isReachable: (deviceId: number) => boolean): Outbox {
  return outbox.filter((one) => (one.state === "waiting" || one.state === "sent") && isReachable(one.deviceId));
}

/** After a loss nobody knows what arrived: unconfirmed messages wait again. */
export function afterLoss(outbox: Outbox, isGone: (deviceId: number) => boolean): Outbox {
  const isLost = (one: Outgoing) => one.state === "sent" && isGone(one.deviceId);
  return outbox.some(isLost) ? outbox.map((one) => (isLost(one) ? { ...one, state: "waiting" } : one)) : outbox;
}

/** What has to be kept or forgotten on the device when the outbox changes: message by message, because tabs share it. */
export function changesOf(before: Outbox, after: Outbox): { kept: Outgoing[]; gone: string[] } {
  const [known, left] = [new Set(before), new Set(after.map((one) => one.clientMessageId))];
  const gone = before.map((one) => one.clientMessageId).filter((id) => !left.has(id));
  return { kept: after.filter((one) => !known.has(one)), gone };
}

/** Another tab wrote a message, knows more of one, or saw it arrive. */
export function fromOtherTab(outbox: Outbox, clientMessageId: string, message: Outgoing | null): Outbox {
  if (message === null) return dropOutgoing(outbox, clientMessageId);
  const isKnown = outbox.some((one) => one.clientMessageId === clientMessageId);
  return isKnown ? changeOutgoing(outbox, clientMessageId, message) : inOrder([...outbox, message]);
}

/** As they were written. */
export function inOrder(outbox: Outbox): Outbox {
  return [...outbox].sort((a, b) => a.writtenAt - b.writtenAt);
}
