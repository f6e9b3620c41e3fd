/**
 * Text and thinking that is being written: pieces with their place, which the complete text replaces.
 *
 * A piece says how long its block was before it. If that is what we have, it is appended; if we have more, we have seen
 * it already; if we have less, something was missed and the conversation must be read again.
 */
import type { OpenBlock, TextDelta } from "@/gen";

export interface OpenText {
  /** Stable from the first piece on; the entry of the complete text inherits it, so that its row stays what it is. */
  key: string;
  kind: "text" | "thinking";
  parent?: string;
  generation?: number;
  block?: number;
  text: string;
}

export type Placed = { type: "applied"; open: readonly OpenText[] } | { type: "ignored" } | { type: "gap" };

/** `head` is the number of the newest event: no other text began after it with the same number. */
export function place(
  open: readonly OpenText[],
  delta: TextDelta,
  head: number,
  kind: OpenText["kind"] = "text",
): Placed {
  const index = open.findIndex((text) => belongs(text, delta, kind));
  const text = open[index];
  if (!text) return begin(open, delta, head, kind);
  const at = delta.at ?? text.text.length;
  if (at > text.text.length) return { type: "gap" };
  const known = text.text.slice(at);
  if (known !== "" && known.startsWith(delta.content)) return { type: "ignored" };
  // Known in part when a machine reads its journal again; another beginning is a message that was begun anew.
  if (delta.content.startsWith(known) || at === 0)
    return applied(open, index, { ...text, text: text.text.slice(0, at) + delta.content });
  return { type: "gap" };
}

/** The first open text of this writer is complete and goes; its key stays in use. */
export function complete(
  open: readonly OpenText[],
  parent: string | undefined,
  kind: OpenText["kind"] = "text",
): { open: readonly OpenText[]; key?: string } {
  const index = open.findIndex((text) => text.parent === parent && text.kind === kind);
  return index < 0 ? { open } : { open: open.toSpliced(index, 1), key: open[index]?.key };
}

/** What is being written, as the machine says it to somebody who begins to look. What we have of it keeps its key. */
export function fromBlocks(
  blocks: readonly OpenBlock[],
  head: number,
  known: readonly OpenText[] = [],
): readonly OpenText[] {
  return blocks.map((one) => {
    const { parentToolUseId: parent, generation, block, content: text } = one;
    const kind = one.kind === "thinking" ? "thinking" : "text";
    const same = known.find((open) => belongs(open, one, kind));
    return { key: same?.key ?? keyOf(one, head, kind), kind, parent, generation, block, text };
  });
}

type Position = Pick<TextDelta, "parentToolUseId" | "generation" | "block">;

function keyOf(
  { parentToolUseId: parent = "", generation = 0, block = 0 }: Position,
  head: number,
  kind: string,
): string {
  return `w${head}-${kind}-${generation}-${block}-${parent}`;
}

function belongs(text: OpenText, delta: Position, kind: OpenText["kind"]): boolean {
  if (text.parent !== delta.parentToolUseId || text.kind !== kind) return false;
  if (text.block === undefined || delta.block === undefined) return true;
  return text.block === delta.block && text.generation === delta.generation;
}

function begin(open: readonly OpenText[], delta: TextDelta, head: number, kind: OpenText["kind"]): Placed {
  if (delta.at !== undefined && delta.at > 0) return { type: "gap" };
  const { parentToolUseId: parent, generation, block, content: text } = delta;
  const key = keyOf(delta, head, kind);
  return { type: "applied", open: [...open, { key, kind, parent, generation, block, text }] };
}

function applied(open: readonly OpenText[], index: number, text: OpenText): Placed {
  return { type: "applied", open: open.with(index, text) };
}
