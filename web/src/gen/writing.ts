// Made by `cargo xtask gen` from crates/proto. Do not edit.

import type { Generation, ToolUseId } from "./ids";

/**
 * What a block is made of.
 */
export type BlockKind = "text" | "thinking";

/**
 * A block that is being written, as far as it is.
 */
export type OpenBlock = { 
/**
 * What it is made of.
 */
kind: BlockKind, 
/**
 * Which run.
 */
generation: Generation, 
/**
 * Which block of the open message.
 */
block: number, 
/**
 * All pieces so far.
 */
content: string, 
/**
 * The call of the sub-agent it belongs to.
 */
parentToolUseId?: ToolUseId, };

/**
 * A thought is complete and replaces its pieces.
 */
export type ThinkingComplete = { 
/**
 * All of it.
 */
text: string, 
/**
 * The call of the sub-agent it belongs to.
 */
parentToolUseId?: ToolUseId, };

/**
 * A piece of thinking.
 */
export type ThinkingDelta = { 
/**
 * The piece.
 */
content: string, 
/**
 * Which run.
 */
generation?: Generation, 
/**
 * Which block of the open message.
 */
block?: number, 
/**
 * Length of the block before this piece, in UTF-16 code units.
 */
at?: number, 
/**
 * The call of the sub-agent it belongs to.
 */
parentToolUseId?: ToolUseId, };
