/**
 * The connection to the relay as a pure machine: when to open, authenticate, wait, give up on the socket.
 *
 * Time comes in as an argument, effects go out as data; `api/socket.ts` owns the real socket and the timers.
 * When a lost connection is tried again is in `gateway/retry.ts`; after the last try the app says so, lets REST take over, and
 * starts again when the person, the network or the page asks for it.
 */

import { failuresAfter, JITTER, waitAfter } from "@/gateway/index";
import type { AuthResult, Device, Right } from "@/gen";

/** How often the relay is asked whether it is still there. */
export const PING_MS = 10_000;
/** Without any frame for this long the socket is dead, whatever the browser says. */
export const SILENCE_MS = 30_000;
/** Longest time from opening to a successful `auth`. */
export const OPEN_LIMIT_MS = 10_000;

/** What the relay says of this device. */
interface Standing {
  device: Device | null;
  /** Names this device, the same on every connection. */
  deviceKey?: string;
  rights: Right[];
}

/** Failures are those in a row: a connection that does not last is one too. */
export type Phase =
  | { name: "unpaired" }
  | { name: "connecting"; failures: number; since: number }
  | { name: "authenticating"; failures: number; since: number }
  | ({ name: "online"; failures: number; since: number; heardAt: number; pingedAt: number } & Standing)
  | { name: "waiting"; failures: number; until: number; lostAt: number }
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

/** What follows from an input. A wrong input changes nothing. `chance`, from 0 to 1, makes a wait that begins shorter. */
export function step(phase: Phase, input: Input, now: number, chance = 0): Step {
  const next = follow(phase, input, now);
  if (next.phase === phase || next.phase.name !== "waiting") return next;
  const until = now + (next.phase.until - now) * (1 - JITTER * chance);
  return { ...next, phase: { ...next.phase, until } };
}

function follow(phase: Phase, input: Input, now: number): Step {
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
      failures: phase.failures,
      since: now,
      heardAt: now,
      pingedAt: now,
      device: result.device ?? null,
      deviceKey: result.deviceKey,
      rights: result.rights ?? [],
    };
    return still(online);
  }
  if (result.retry === "now" || result.retry === "later")
    return { ...lost(phase.failures, null, now), effects: [{ type: "close" }] };
  return { phase: { name: "refused", error: result.error ?? "" }, effects: [{ type: "close" }] };
}

function onClosed(phase: Phase, now: number): Step {
  switch (phase.name) {
    case "online":
      return lost(phase.failures, phase.since, now);
    case "connecting":
    case "authenticating":
      return lost(phase.failures, null, now);
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
      return opening(phase.failures, now);
    case "connecting":
    case "authenticating":
      return { ...lost(phase.failures, null, now), effects: [{ type: "close" }] };
    case "online":
      if (now >= phase.heardAt + SILENCE_MS)
        return { ...lost(phase.failures, phase.since, now), effects: [{ type: "close" }] };
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

function opening(failures: number, now: number): Step {
  return { phase: { name: "connecting", failures, since: now }, effects: [{ type: "open" }] };
}

/** It is gone, after it stood since then; it never did if that is null. `before` are the failures before this one. */
function lost(before: number, stoodSince: number | null, now: number): Step {
  const failures = failuresAfter(before, stoodSince === null ? null : now - stoodSince);
  const wait = waitAfter(failures);
  if (wait === "rest") return still({ name: "fallback", lostAt: now });
  return still({ name: "waiting", failures, until: now + wait.after, lostAt: now });
}

function still(phase: Phase): Step {
  return { phase, effects: [] };
}
