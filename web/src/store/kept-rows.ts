/**
 * The ends of the conversations that were looked at last, on the device, so that a visit begins with something to read.
 *
 * Bounded in number and size; gone with the conversation, with the device's rights, and with everything when it signs out.
 */
import { find } from "@/model/fleet";
import { fromKept, type Kept, keptOf } from "@/model/kept";
import type { Transcript } from "@/model/transcript";
import type { World } from "@/model/world";
import { load, save } from "./storage";

const NAME = "rows.";
/** Which conversations are kept, the one that was kept last first. */
const INDEX = "rows";
const MOST = 4;
/** What changes often is kept this long after its first change. */
const DELAY_MS = 1_500;

export function loadKept(conversationId: string): Transcript | undefined {
  const kept = load<Kept | null>(NAME + conversationId, null);
  return kept?.top && kept.below ? fromKept(kept) : undefined;
}

/** The conversations of a page that begins: the one that was looked at last, as it was. */
export function firstTranscripts(): Record<string, Transcript> {
  const last = load<string | null>("last", null);
  const kept = last === null ? undefined : loadKept(last);
  return last !== null && kept ? { [last]: kept } : {};
}

export function forgetKept(): void {
  for (const id of load<string[]>(INDEX, [])) save(NAME + id, null);
  save(INDEX, null);
}

function keep(conversationId: string, transcript: Transcript): void {
  const kept = keptOf(transcript, Date.now());
  const others = load<string[]>(INDEX, []).filter((id) => id !== conversationId);
  const ids = kept ? [conversationId, ...others] : others;
  save(NAME + conversationId, kept);
  for (const id of ids.slice(MOST)) save(NAME + id, null);
  save(INDEX, ids.slice(0, MOST));
}

/** Conversations that are no more leave nothing here. */
function forgetGone({ fleet }: World): void {
  const ids = load<string[]>(INDEX, []);
  const there = ids.filter((id) => find(fleet, id));
  if (there.length === ids.length) return;
  for (const id of ids) if (!there.includes(id)) save(NAME + id, null);
  save(INDEX, there);
}

/** Keeps what is looked at, a moment after it changed; what `hear` is given is told of every change of the world. */
export function keepRows(now: () => World, hear: (changed: (world: World, before: World) => void) => void): void {
  const unsaved = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    const { transcripts } = now();
    for (const id of unsaved) {
      const transcript = transcripts[id];
      if (transcript?.load === "loading") continue;
      unsaved.delete(id);
      if (transcript?.load === "ready") keep(id, transcript);
    }
  };
  hear((world, before) => {
    if (world.fleet !== before.fleet) forgetGone(world);
    const id = world.viewing;
    const transcript = id === null ? undefined : world.transcripts[id];
    if (id === null || transcript === before.transcripts[id]) return;
    // A machine that refuses it has a reason, which is not ours to go around.
    if (transcript?.load === "failed") save(NAME + id, null);
    if (transcript?.load !== "ready" || transcript.entries === before.transcripts[id]?.entries) return;
    unsaved.add(id);
    timer ??= setTimeout(flush, DELAY_MS);
  });
  addEventListener("pagehide", flush);
  document.addEventListener("visibilitychange", () => document.hidden && flush());
}
