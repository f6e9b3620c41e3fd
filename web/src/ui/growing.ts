/**
 * Cuts a growing text into blocks, looking again at its end only. Pure.
 *
 * What stands before a blank line cannot change any more by what comes after it, except a list, which goes on behind
 * one. Definitions of links count from where they are on; the complete text is cut as a whole in the end.
 */
import { Lexer, type Token, type TokensList } from "marked";

export interface Grown {
  source: string;
  blocks: readonly Token[];
  /** How many blocks stand for good, and where the text behind them begins. */
  settled: number;
  offset: number;
  links: TokensList["links"];
}

const NOTHING: Grown = { source: "", blocks: [], settled: 0, offset: 0, links: {} };

/** The blocks of `source`, beginning with what is known of its beginning. */
export function grow(known: Grown | null, source: string): Grown {
  const before = known && source.startsWith(known.source) ? known : NOTHING;
  const tail = source.slice(before.offset);
  const lexer = new Lexer({ gfm: true });
  Object.assign(lexer.tokens.links, before.links);
  const fresh = lexer.lex(tail);
  const blocks = [...before.blocks.slice(0, before.settled), ...fresh];
  const { count, length } = settledIn(fresh, tail);
  return {
    source,
    blocks,
    settled: before.settled + count,
    offset: before.offset + length,
    links: fresh.links,
  };
}

/** How many of the blocks cannot change, and how much text they are. */
function settledIn(blocks: readonly Token[], text: string): { count: number; length: number } {
  let settled = { count: 0, length: 0 };
  let length = 0;
  let before: Token | null = null;
  blocks.forEach((block, index) => {
    const isApart = /\n[ \t]*\n$/.test(text.slice(Math.max(0, length - 64), length));
    const goesOn = before === null || before.type === "list" || before.type === "code";
    if (isApart && !goesOn && block.type !== "space") settled = { count: index, length };
    if (block.type !== "space") before = block;
    length += block.raw.length;
  });
  return settled;
}
