/**
 * Text that is being written: pieces with their place, which a complete text replaces.
 *
 * A piece says how long its block was before it. If that is what we have, it is appended; if we have more, we have seen
 * it already; if we have less, something was missed and the conversation must be read again.
 */
import type { TextDelta } from "@/gen";

export interface OpenText {
  parent?: string;
  generation?: number;
  block?: number;
  /** Length of what precedes the block in `text`, where a snapshot gave more than one block. */
  base: number;
  text: string;
}

export type Placed = { type: "applied"; open: readonly OpenText[] } | { type: "ignored" } | { type: "gap" };

export function place(open: readonly OpenText[], delta: TextDelta): Placed {
  const index = open.findIndex((text) => belongs(text, delta));
  const text = open[index];
  if (!text) return begin(open, delta);
  if (delta.at === undefined) return applied(open, index, { ...text, text: text.text + delta.content });
  if (text.block === undefined) return adopt(open, index, text, delta, delta.at);
  const length = text.text.length - text.base;
  if (delta.at < length) return { type: "ignored" };
  if (delta.at > length) return { type: "gap" };
  return applied(open, index, { ...text, text: text.text + delta.content });
}

/** The first open text of this writer is complete and goes. */
export function complete(open: readonly OpenText[], parent: string | undefined): readonly OpenText[] {
  const index = open.findIndex((text) => text.parent === parent);
  return index < 0 ? open : open.toSpliced(index, 1);
}

/** Text that a snapshot gives, whose place the next piece tells. */
export function fromSnapshot(open: readonly OpenText[], parent: string | undefined, text: string): readonly OpenText[] {
  if (text === "" || open.some((known) => known.parent === parent)) return open;
  return [...open, { parent, base: 0, text }];
}

function belongs(text: OpenText, delta: TextDelta): boolean {
  if (text.parent !== delta.parentToolUseId) return false;
  if (text.block === undefined || delta.block === undefined) return true;
  return text.block === delta.block && text.generation === delta.generation;
}

function begin(open: readonly OpenText[], delta: TextDelta): Placed {
  if (delta.at !== undefined && delta.at > 0) return { type: "gap" };
  const text = {
    parent: delta.parentToolUseId,
    generation: delta.generation,
    block: delta.block,
    base: 0,
    text: delta.content,
  };
  return { type: "applied", open: [...open, text] };
}

/** The first piece after a snapshot: it tells where its block begins in the text we were given. */
function adopt(open: readonly OpenText[], index: number, text: OpenText, delta: TextDelta, at: number): Placed {
  if (at > text.text.length) return { type: "gap" };
  if (text.text.slice(at, at + delta.content.length) === delta.content) return { type: "ignored" };
  const base = text.text.length - at;
  return applied(open, index, {
    ...text,
    base,
    generation: delta.generation,
    block: delta.block,
    text: text.text + delta.content,
  });
}

function applied(open: readonly OpenText[], index: number, text: OpenText): Placed {
  return { type: "applied", open: open.with(index, text) };
}
