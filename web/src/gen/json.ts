// Made by `cargo xtask gen` from crates/proto. Do not edit.


/**
 * Any JSON value, as its text.
 */
export type Json = unknown;
