// Made by `cargo xtask gen` from crates/proto. Do not edit.

import type { ErrorReport } from "./error";
import type { TerminalSize, TerminalState } from "./terminals";

/**
 * Everything up to an output was shown.
 */
export type Ack = { 
/**
 * Up to which.
 */
frame: number, };

/**
 * Begins to look.
 */
export type Attach = { 
/**
 * The terminal gets this size.
 */
size?: TerminalSize, };

/**
 * Ends everything in the terminal.
 */
export type Close = { 
/**
 * How long the program has to end after it was asked to, in milliseconds; absent means 2000.
 */
graceMs?: number, };

/**
 * Types something.
 */
export type Input = { 
/**
 * What: at most 65536 bytes.
 */
data: string, 
/**
 * It was pasted.
 */
paste?: boolean, };

/**
 * The program ended.
 */
export type KeeperEnded = { 
/**
 * How the terminal is.
 */
state: TerminalState, 
/**
 * What the program returned.
 */
exitCode?: number, 
/**
 * The signal that ended it.
 */
signal?: number, };

/**
 * Who keeps the terminal.
 */
export type KeeperHello = { 
/**
 * The protocol version.
 */
protocol: number, 
/**
 * The process of the keeper.
 */
pid: number, 
/**
 * The process in the terminal.
 */
programPid?: number, };

/**
 * What the terminal shows.
 */
export type KeeperOutput = { 
/**
 * The number of this output for this viewer, from 1.
 */
frame: number, 
/**
 * The text, with control sequences. Each output ends between two sequences.
 */
data: string, 
/**
 * This is the whole screen, of this size.
 */
screen?: TerminalSize, };

/**
 * What a keeper says.
 */
export type KeeperToViewer = { "type": "hello" } & KeeperHello | { "type": "output" } & KeeperOutput | { "type": "ended" } & KeeperEnded | { "type": "error" } & ErrorReport;

/**
 * Changes the size, for everybody.
 */
export type Resize = { 
/**
 * To which.
 */
size: TerminalSize, };

/**
 * What a viewer says to a keeper.
 */
export type ViewerToKeeper = { "type": "attach" } & Attach | { "type": "input" } & Input | { "type": "resize" } & Resize | { "type": "ack" } & Ack | { "type": "close" } & Close;
