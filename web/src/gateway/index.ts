/** A client for the HTTP and WebSocket interface of a machine. It needs nothing but `fetch`, `WebSocket` and `crypto`. */

export { SessionClient, type SessionEvents, type SessionOptions, type SocketLike, type Way } from "./client.ts";
export { Follower, type FollowerOptions } from "./follower.ts";
export type {
  Cursor,
  Down,
  EventPage,
  Message,
  MessagePage,
  OnBusy,
  Permission,
  Session,
  SessionStatus,
  Up,
} from "./messages.ts";
export { GatewayError, Rest, type RestOptions } from "./rest.ts";
export { DELAYS_MS, FIRST_MS, failuresAfter, JITTER, LASTED_MS, type Wait, waitAfter } from "./retry.ts";
