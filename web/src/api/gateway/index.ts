/** A client for the HTTP and WebSocket interface of a machine. It needs nothing but `fetch` and `WebSocket`. */
export { SessionClient, type SessionEvents, type SessionOptions, type SocketLike, type Way } from "./client";
export type { Down, Message, MessagePage, Permission, Session, SessionStatus, Up } from "./messages";
export { GatewayError, Rest, type RestOptions } from "./rest";
export { DELAYS_MS, FIRST_MS, waitAfter } from "./retry";
