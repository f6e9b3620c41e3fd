// Made by `cargo xtask gen` from crates/proto. Do not edit.

export type * from "./address";
export type * from "./answer";
export type * from "./auth";
export type * from "./bugs";
export type * from "./claude";
export type * from "./conversations";
export type * from "./decisions";
export type * from "./deploy";
export type * from "./devices";
export type * from "./directions";
export type * from "./envelope";
export type * from "./error";
export type * from "./events";
export type * from "./folders";
export type * from "./history";
export type * from "./ids";
export type * from "./ipc";
export type * from "./json";
export type * from "./lookup";
export type * from "./pairing";
export type * from "./runs";
export type * from "./usage";
export type * from "./version";
export type * from "./waiting";
export type * from "./workspaces";
export type * from "./writing";
