/**
 * Which rows exist beside those on the screen, so that a quick hand never finds an empty place.
 *
 * The list's own buffer drops everything behind the direction of travel, so that whoever turns round looks at nothing,
 * and it is wrong for a moment when older rows are put before the others. So the rows that exist are named here, counted
 * from the end. What exists at first is what is needed to show the end soon; the rest is made little by little when the
 * page has nothing else to do.
 */
import { type RefObject, useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { VirtualizerHandle } from "virtua";

/** What exists at once on either side, in pixels, and what in the end in the direction of travel and behind it. */
const FIRST_PX = 400;
const AHEAD_PX = 3_200;
const BEHIND_PX = 1_600;
/** So much is added at a time: few enough rows for one short task, also on a slow phone. */
const STEP_PX = 200;
/** A page that is never idle still gets its rows, each step this late; in milliseconds. */
const STEP_LIMIT_MS = 300;

/** What exists changes by so many rows at a time: each change looks at every row. */
const STRIDE = 4;

export interface Nearby {
  /** The numbers of the rows that exist. */
  keepMounted: readonly number[];
  /** To be told of every movement of the list. */
  moved: () => void;
}

export function useNearby(list: RefObject<VirtualizerHandle | null>, count: number): Nearby {
  const most = useGrowing(count > 0);
  const [range, setRange] = useState<Stretch>(NONE);
  const last = useRef({ count, offset: 0, isUp: true });
  last.current.count = count;
  const moved = useCallback(() => {
    const handle = list.current;
    if (!handle || handle.viewportSize === 0) return;
    const { scrollOffset: offset, viewportSize, scrollSize } = handle;
    const { offset: before, count: rows } = last.current;
    // From the end there is one way only.
    const isAtEnd = offset + viewportSize + BEHIND_PX > scrollSize;
    const isUp = isAtEnd || (offset === before ? last.current.isUp : offset < before);
    Object.assign(last.current, { offset, isUp });
    const above = Math.min(most, isUp ? AHEAD_PX : BEHIND_PX);
    const below = Math.min(most, isUp ? BEHIND_PX : AHEAD_PX);
    const from = handle.findItemIndex(offset - above);
    const to = handle.findItemIndex(offset + viewportSize + below);
    const next = strided(rows - 1 - to, rows - 1 - from);
    setRange((known) => (known[0] === next[0] && known[1] === next[1] ? known : next));
  }, [list, most]);
  useEffect(moved, [moved]);
  const keepMounted = useMemo(() => numbersOf(range, count), [range, count]);
  return { keepMounted, moved };
}

/** First and last row of a stretch, counted from the end of the list. */
type Stretch = readonly [number, number];

const NONE: Stretch = [0, -1];

/** The stretch in whole strides, which holds at least what is wanted. */
export function strided(from: number, to: number): Stretch {
  return [Math.floor(from / STRIDE) * STRIDE, Math.ceil((to + 1) / STRIDE) * STRIDE - 1];
}

/** The numbers of the rows of a stretch, in the order of the list. */
export function numbersOf([from, to]: Stretch, count: number): readonly number[] {
  const first = Math.max(0, count - 1 - to);
  return Array.from({ length: Math.max(0, count - Math.max(0, from) - first) }, (_, index) => first + index);
}

/** Grows from what the first picture needs to what a quick hand needs. */
function useGrowing(isShown: boolean): number {
  const [size, setSize] = useState(FIRST_PX);
  useEffect(() => {
    if (!isShown || size >= AHEAD_PX) return;
    const grow = () => setSize((known) => known + STEP_PX);
    if (typeof requestIdleCallback === "undefined") {
      const timer = setTimeout(grow, STEP_LIMIT_MS / 3);
      return () => clearTimeout(timer);
    }
    const idle = requestIdleCallback(grow, { timeout: STEP_LIMIT_MS });
    return () => cancelIdleCallback(idle);
  }, [isShown, size]);
  return size;
}
