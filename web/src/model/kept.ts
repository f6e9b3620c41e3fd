/**
 * The end of a conversation as the device keeps it between visits, so that there is something to read at once. Pure.
 *
 * What was kept is shown as old, nothing is folded into it, and the first page of the machine takes its place as a whole:
 * so nothing shows twice, and nothing that changed meanwhile stays as it was.
 */
import type { Entries, Entry } from "./entries";
import { EMPTY, type Transcript } from "./transcript";

/** As much as the machine sends at first, and no more than this many characters as it is kept. */
export const KEPT_ROWS = 60;
export const KEPT_CHARACTERS = 100_000;

export interface Kept {
  /** When it was kept, in Unix milliseconds. */
  at: number;
  top: readonly Entry[];
  below: readonly (readonly [string, readonly Entry[]])[];
  rewound: Transcript["rewound"];
}

/** What is to be kept of a conversation; null if there is nothing. */
export function keptOf({ entries, rewound }: Transcript, at: number): Kept | null {
  const top: Entry[] = [];
  const below: [string, readonly Entry[]][] = [];
  let size = 0;
  for (const entry of entries.top.slice(-KEPT_ROWS).reverse()) {
    const under = belowOf(entries, entry);
    size += JSON.stringify(entry).length + JSON.stringify(under).length;
    if (size > KEPT_CHARACTERS) break;
    top.unshift(entry);
    below.push(...under);
  }
  return top.length === 0 ? null : { at, top, below, rewound };
}

/** Entries of the sub-agents that a call started, and of theirs. */
function belowOf(entries: Entries, entry: Entry): [string, readonly Entry[]][] {
  const id = entry.kind === "tool" ? entry.toolUseId : undefined;
  const list = id === undefined ? undefined : entries.below.get(id);
  if (id === undefined || !list) return [];
  return [[id, list], ...list.flatMap((one) => belowOf(entries, one))];
}

/** A conversation as it was, until its machine says how it is. */
export function fromKept({ at, top, below, rewound }: Kept): Transcript {
  // Without a head it continues nothing, and whether there is more above is for the machine to say.
  return { ...EMPTY, entries: { top, below: new Map(below) }, rewound, hasMore: true, keptAt: at };
}
