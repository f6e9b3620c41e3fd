/**
 * Whether a reader is at the end of a growing list. Pure.
 *
 * A list that measures its rows moves by thousands of pixels by itself. Therefore only a hand leaves the end: a wheel,
 * a finger, a key, the bar. A hand counts from its first sign until the movement it began has come to rest, which is
 * told by pictures that pass without a further movement, not by time: a busy page draws late.
 */

/** This near to the end counts as being there, in pixels. */
const NEAR_PX = 64;

/** So many pictures without a movement, and the hand is at rest. */
const REST_FRAMES = 12;

export interface Following {
  isAtEnd: boolean;
  /** Pictures after which the hand counts as gone; 0 without a hand. */
  left: number;
  /** Something is pressed: no rest before it is let go. */
  isHeld: boolean;
}

export const AT_END: Following = { isAtEnd: true, left: 0, isHeld: false };

export function handMoved(following: Following): Following {
  return { ...following, left: REST_FRAMES };
}

export function pressed(following: Following, isHeld: boolean): Following {
  return { ...following, isHeld };
}

/** The list is at another place, this far from its end. */
export function scrolled(following: Following, distance: number): Following {
  const isByHand = hasHand(following);
  const left = following.left > 0 ? REST_FRAMES : 0;
  if (distance < NEAR_PX) return { ...following, left, isAtEnd: true };
  return isByHand ? { ...following, left, isAtEnd: false } : following;
}

/** A picture was drawn. */
export function drawn(following: Following): Following {
  return { ...following, left: Math.max(0, following.left - 1) };
}

export function hasHand({ left, isHeld }: Following): boolean {
  return left > 0 || isHeld;
}

/** Whether growth takes the list along. Nobody is pulled back who is just leaving. */
export function followsGrowth(following: Following): boolean {
  return following.isAtEnd && !hasHand(following);
}
