/** What people call the device that did something: this one is "you", one that nobody knows any more is "a device". */
import type { Author } from "@/gen";
import { type Who, whoIs } from "@/model/authors";
import { useApp } from "./app";
import { useText } from "./text";

export interface Done {
  author?: Author;
  deviceId?: number;
}

/** Nothing if no device did it. */
export function useDeviceName(done: Done | undefined): string | undefined {
  const text = useText();
  const who = useWho(done);
  if (who === undefined) return undefined;
  if (who.type === "me") return text.tool.you;
  return who.type === "named" ? who.name : text.tool.someDevice;
}

export function useWho(done: Done | undefined): Who | undefined {
  const myKey = useApp((app) => app.world.myKey);
  const machines = useApp((app) => app.world.fleet);
  return done && whoIs(done, { myKey, machines });
}
