/**
 * Text and thinking that is being written: pieces with their place, which the complete text replaces.
 *
 * A piece says how long its block was before it. If that is what we have, it is appended; if we have more, we have seen
 * it already; if we have less, something was missed and the conversation must be read again.
 */
import type { OpenBlock, TextDelta } from "@/gen";

export interface OpenText {
  kind: "text" | "thinking";
  parent?: string;
  generation?: number;
  block?: number;
  text: string;
}

export type Placed = { type: "applied"; open: readonly OpenText[] } | { type: "ignored" } | { type: "gap" };

export function place(open: readonly OpenText[], delta: TextDelta, kind: OpenText["kind"] = "text"): Placed {
  const index = open.findIndex((text) => belongs(text, delta, kind));
  const text = open[index];
  if (!text) return begin(open, delta, kind);
  const at = delta.at ?? text.text.length;
  if (at > text.text.length) return { type: "gap" };
  const known = text.text.slice(at);
  if (known !== "" && known.startsWith(delta.content)) return { type: "ignored" };
  // Known in part when a machine reads its journal again; another beginning is a message that was begun anew.
  if (delta.content.startsWith(known) || at === 0)
    return applied(open, index, { ...text, text: text.text.slice(0, at) + delta.content });
  return { type: "gap" };
}

/** The first open text of this writer is complete and goes. */
export function complete(
  open: readonly OpenText[],
  parent: string | undefined,
  kind: OpenText["kind"] = "text",
): readonly OpenText[] {
  const index = open.findIndex((text) => text.parent === parent && text.kind === kind);
  return index < 0 ? open : open.toSpliced(index, 1);
}

/** What is being written, as the machine says it to somebody who begins to look. */
export function fromBlocks(blocks: readonly OpenBlock[]): readonly OpenText[] {
  return blocks.map(({ kind, parentToolUseId: parent, generation, block, content: text }) => ({
    kind: kind === "thinking" ? "thinking" : "text",
    parent,
    generation,
    block,
    text,
  }));
}

function belongs(text: OpenText, delta: TextDelta, kind: OpenText["kind"]): boolean {
  if (text.parent !== delta.parentToolUseId || text.kind !== kind) return false;
  if (text.block === undefined || delta.block === undefined) return true;
  return text.block === delta.block && text.generation === delta.generation;
}

function begin(open: readonly OpenText[], delta: TextDelta, kind: OpenText["kind"]): Placed {
  if (delta.at !== undefined && delta.at > 0) return { type: "gap" };
  const { parentToolUseId: parent, generation, block, content: text } = delta;
  return { type: "applied", open: [...open, { kind, parent, generation, block, text }] };
}

function applied(open: readonly OpenText[], index: number, text: OpenText): Placed {
  return { type: "applied", open: open.with(index, text) };
}
