/**
 * A finger that goes sideways over the page, between list and conversation. Pure.
 *
 * It becomes a swipe only when it goes clearly sideways from its beginning; once it went another way it is none, so that
 * scrolling and pressing are what they were.
 */

/** What goes on with a finger: not decided yet, a swipe, or something else. */
export type Swipe =
  | { name: "none" }
  | { name: "begun"; x: number; y: number; at: number }
  | { name: "swiping"; x: number; at: number; distance: number };

export const NO_SWIPE: Swipe = { name: "none" };

/** The edges belong to the system's own gestures; in pixels. */
const EDGE_PX = 24;
/** Before it went so far, nobody can tell where it goes. */
const DECIDE_PX = 12;
/** How much more sideways than up or down it has to be. */
const SIDEWAYS = 1.8;
/** So far it counts; less is enough for a quick one. */
const FAR_PX = 90;
const QUICK_PX = 40;
const QUICK_MS = 250;
/** A finger that rests does something else: it selects text, say. */
const REST_MS = 400;

export function touched(x: number, y: number, at: number, width: number): Swipe {
  return x < EDGE_PX || x > width - EDGE_PX ? NO_SWIPE : { name: "begun", x, y, at };
}

export function moved(swipe: Swipe, x: number, y: number, at: number): Swipe {
  if (swipe.name === "swiping") return { ...swipe, distance: x - swipe.x };
  if (swipe.name === "none") return swipe;
  const [across, along] = [Math.abs(x - swipe.x), Math.abs(y - swipe.y)];
  if (Math.max(across, along) < DECIDE_PX) return swipe;
  if (across < along * SIDEWAYS || at - swipe.at > REST_MS) return NO_SWIPE;
  return { name: "swiping", x: swipe.x, at: swipe.at, distance: x - swipe.x };
}

/** Where a finger that left the page wanted to go. */
export function released(swipe: Swipe, at: number): "back" | "forth" | null {
  if (swipe.name !== "swiping") return null;
  const least = at - swipe.at < QUICK_MS ? QUICK_PX : FAR_PX;
  if (Math.abs(swipe.distance) < least) return null;
  return swipe.distance > 0 ? "back" : "forth";
}
