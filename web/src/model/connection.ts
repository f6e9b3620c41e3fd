/**
 * The connection to the relay as a pure machine: when to open, authenticate, wait, give up on the socket.
 *
 * Time comes in as an argument, effects go out as data; `api/socket.ts` owns the real socket and the timers.
 * A lost connection is tried again at once, then after 1, 2, 4, 8 and 16 seconds; after that the app says so, lets
 * REST take over, and starts again when the person, the network or the page asks for it.
 */
import type { AuthResult, Device, Right } from "@/gen";

/** Waits before the tries after the immediate one, in milliseconds. */
export const BACKOFF_MS = [1_000, 2_000, 4_000, 8_000, 16_000] as const;
/** The first try after a loss comes this soon. */
export const FIRST_RETRY_MS = 50;
/** How often the relay is asked whether it is still there. */
export const PING_MS = 10_000;
/** Without any frame for this long the socket is dead, whatever the browser says. */
export const SILENCE_MS = 30_000;
/** Longest time from opening to a successful `auth`. */
export const OPEN_LIMIT_MS = 10_000;

export type Phase =
  | { name: "unpaired" }
  | { name: "connecting"; tries: number; since: number }
  | { name: "authenticating"; tries: number; since: number }
  | { name: "online"; since: number; heardAt: number; pingedAt: number; device: Device | null; rights: Right[] }
  | { name: "waiting"; tries: number; until: number; lostAt: number }
  | { name: "fallback"; lostAt: number }
  | { name: "refused"; error: string };

export type Input =
  | { type: "start" }
  | { type: "forget" }
  | { type: "opened" }
  | { type: "heard" }
  | { type: "authenticated"; result: AuthResult }
  | { type: "rights"; rights: Right[] }
  | { type: "closed" }
  | { type: "wake" }
  | { type: "poke" };

export type Effect = { type: "open" } | { type: "authenticate" } | { type: "ping" } | { type: "close" };

export interface Step {
  phase: Phase;
  effects: Effect[];
}

export const UNPAIRED: Phase = { name: "unpaired" };

/** What follows from an input. A wrong input changes nothing. */
export function step(phase: Phase, input: Input, now: number): Step {
  switch (input.type) {
    case "start":
      return opening(0, now);
    case "forget":
      return { phase: UNPAIRED, effects: [{ type: "close" }] };
    case "opened":
      return phase.name === "connecting"
        ? { phase: { ...phase, name: "authenticating" }, effects: [{ type: "authenticate" }] }
        : still(phase);
    case "heard":
      return phase.name === "online" ? still({ ...phase, heardAt: now }) : still(phase);
    case "authenticated":
      return onAuthenticated(phase, input.result, now);
    case "rights":
      return phase.name === "online" ? still({ ...phase, rights: input.rights }) : still(phase);
    case "closed":
      return onClosed(phase, now);
    case "wake":
      return onWake(phase, now);
    case "poke":
      return onPoke(phase, now);
  }
}

/** When the machine wants to be woken, if nothing else happens. */
export function wakeAt(phase: Phase): number | null {
  switch (phase.name) {
    case "waiting":
      return phase.until;
    case "connecting":
    case "authenticating":
      return phase.since + OPEN_LIMIT_MS;
    case "online":
      return Math.min(phase.pingedAt + PING_MS, phase.heardAt + SILENCE_MS);
    case "unpaired":
    case "fallback":
    case "refused":
      return null;
  }
}

/** Whether requests must go over REST because the socket was given up. */
export function isRest(phase: Phase): boolean {
  return phase.name === "fallback";
}

function onAuthenticated(phase: Phase, result: AuthResult, now: number): Step {
  if (phase.name !== "authenticating") return still(phase);
  if (result.success) {
    const online: Phase = {
      name: "online",
      since: now,
      heardAt: now,
      pingedAt: now,
      device: result.device ?? null,
      rights: result.rights ?? [],
    };
    return still(online);
  }
  if (result.retry === "now" || result.retry === "later")
    return { ...lost(phase.tries, now), effects: [{ type: "close" }] };
  return { phase: { name: "refused", error: result.error ?? "" }, effects: [{ type: "close" }] };
}

function onClosed(phase: Phase, now: number): Step {
  switch (phase.name) {
    case "online":
      return still({ name: "waiting", tries: 0, until: now + FIRST_RETRY_MS, lostAt: now });
    case "connecting":
    case "authenticating":
      return lost(phase.tries, now);
    case "unpaired":
    case "waiting":
    case "fallback":
    case "refused":
      return still(phase);
  }
}

function onWake(phase: Phase, now: number): Step {
  const due = wakeAt(phase);
  if (due === null || now < due) return still(phase);
  switch (phase.name) {
    case "waiting":
      return opening(phase.tries, now);
    case "connecting":
    case "authenticating":
      return { ...lost(phase.tries, now), effects: [{ type: "close" }] };
    case "online":
      if (now >= phase.heardAt + SILENCE_MS) {
        const waiting: Phase = { name: "waiting", tries: 0, until: now + FIRST_RETRY_MS, lostAt: now };
        return { phase: waiting, effects: [{ type: "close" }] };
      }
      return { phase: { ...phase, pingedAt: now }, effects: [{ type: "ping" }] };
    default:
      return still(phase);
  }
}

/** Somebody came back: the person, the network or the page. What waits does so no longer; what lives proves it. */
function onPoke(phase: Phase, now: number): Step {
  switch (phase.name) {
    case "waiting":
    case "fallback":
      return opening(0, now);
    case "online":
      return { phase: { ...phase, pingedAt: now }, effects: [{ type: "ping" }] };
    case "unpaired":
    case "connecting":
    case "authenticating":
    case "refused":
      return still(phase);
  }
}

function opening(tries: number, now: number): Step {
  return { phase: { name: "connecting", tries, since: now }, effects: [{ type: "open" }] };
}

/** A try failed; `tries` counts those that came before it. */
function lost(tries: number, now: number): Step {
  const wait = BACKOFF_MS[tries];
  if (wait === undefined) return still({ name: "fallback", lostAt: now });
  return still({ name: "waiting", tries: tries + 1, until: now + wait, lostAt: now });
}

function still(phase: Phase): Step {
  return { phase, effects: [] };
}
