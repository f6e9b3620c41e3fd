// Made by `cargo xtask gen` from crates/proto. Do not edit.


/**
 * The answers to the questions of one call.
 */
export type Answer = string | Array<Choice> | { [key in string]: Choice };

/**
 * What was chosen for one question: one thing or several.
 */
export type Choice = string | Array<string>;
