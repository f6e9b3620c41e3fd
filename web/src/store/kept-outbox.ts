/**
 * The outbox as the device keeps it: a name for each message, so that tabs add to it and never write over each other.
 *
 * A message that waits is known to every tab; whichever has a connection sends it, and the Pylon runs it once.
 */
import { changesOf, inOrder, type Outbox, type Outgoing } from "@/model/outbox";
import { followOthers, load, loadEach, save } from "./storage";

const NAME = "outbox.";

export function loadOutbox(): Outbox {
  // Once all of them were kept under one name.
  for (const message of load<Outbox>("outbox", [])) save(NAME + message.clientMessageId, message);
  save("outbox", null);
  return inOrder([...loadEach<Outgoing>(NAME).values()]);
}

export function saveOutbox(before: Outbox, after: Outbox): void {
  const { kept, gone } = changesOf(before, after);
  for (const message of kept) save(NAME + message.clientMessageId, message);
  for (const id of gone) save(NAME + id, null);
}

/** Hears of messages that other tabs write, and of those that they saw arrive (`null`). */
export function followOutbox(hear: (clientMessageId: string, message: Outgoing | null) => void): () => void {
  return followOthers<Outgoing>(NAME, hear);
}
