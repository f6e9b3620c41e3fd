/**
 * Who said or answered something: this device, another one, or nobody that is known any more.
 *
 * The number of a connection is another one after every reconnect, so it names nobody later; the key of the paired device
 * does, and its name stands beside it. Only machines keep their numbers.
 */
import type { Author } from "@/gen";

export interface Known {
  myKey?: string;
  /** The machines by number, with their names. */
  machines: readonly { deviceId: number; name: string }[];
}

export type Who = { type: "me" } | { type: "named"; name: string } | { type: "unknown" };

/** Nothing for what no device did. */
export function whoIs(
  { author, deviceId }: { author?: Author; deviceId?: number },
  { myKey, machines }: Known,
): Who | undefined {
  if (author) return author.deviceKey === myKey ? { type: "me" } : { type: "named", name: author.name };
  if (deviceId === undefined) return undefined;
  const machine = machines.find((one) => one.deviceId === deviceId);
  return machine ? { type: "named", name: machine.name } : { type: "unknown" };
}
