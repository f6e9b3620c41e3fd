/**
 * A finger leads from a conversation to the list and back, on a phone: `model/swipe.ts` decides, this listens and moves.
 *
 * What scrolls sideways, holds text that is being selected, or takes fingers for itself keeps them.
 */
import { type RefObject, useEffect } from "react";
import { moved, NO_SWIPE, released, touched } from "@/model/swipe";
import { sizeNow } from "@/store/size";

export interface Ways {
  back: (() => void) | null;
  forth: (() => void) | null;
}

/** The page follows the finger by this part, and no further than this, so that it can still be read. */
const PART = 0.4;
const FARTHEST_PX = 72;

const OWN = "input, textarea, select, dialog, [role=separator], [role=slider], [role=menu], [contenteditable], .xterm";

export function useSwipe(page: RefObject<HTMLElement | null>, { back, forth }: Ways): void {
  useEffect(() => {
    const element = page.current;
    if (!element || (!back && !forth)) return;
    const stop = new AbortController();
    const passive = { passive: true, signal: stop.signal };
    const isStill = matchMedia("(prefers-reduced-motion: reduce)");
    let swipe = NO_SWIPE;
    const draw = (distance: number) => {
      const may = distance > 0 ? back : forth;
      const shift = may && !isStill.matches ? Math.max(-FARTHEST_PX, Math.min(FARTHEST_PX, distance * PART)) : 0;
      element.style.transform = shift === 0 ? "" : `translateX(${shift}px)`;
    };
    const leave = () => {
      swipe = NO_SWIPE;
      draw(0);
    };
    element.addEventListener(
      "touchstart",
      ({ touches, target, timeStamp }) => {
        const [finger, other] = touches;
        leave();
        if (!finger || other || sizeNow() !== "phone" || isKept(target, element)) return;
        swipe = touched(finger.clientX, finger.clientY, timeStamp, innerWidth);
      },
      passive,
    );
    element.addEventListener(
      "touchmove",
      ({ touches, timeStamp }) => {
        const [finger] = touches;
        if (!finger || swipe.name === "none") return;
        swipe = isSelecting() ? NO_SWIPE : moved(swipe, finger.clientX, finger.clientY, timeStamp);
        draw(swipe.name === "swiping" ? swipe.distance : 0);
      },
      passive,
    );
    element.addEventListener(
      "touchend",
      ({ timeStamp }) => {
        const way = isSelecting() ? null : released(swipe, timeStamp);
        leave();
        if (way === "back") back?.();
        if (way === "forth") forth?.();
      },
      passive,
    );
    element.addEventListener("touchcancel", leave, passive);
    return () => {
      stop.abort();
      leave();
    };
  }, [page, back, forth]);
}

/** Whether a finger there does something else: it is on what takes fingers itself, or on what scrolls sideways. */
function isKept(target: EventTarget | null, page: Element): boolean {
  if (!(target instanceof Element) || target.closest(OWN) || isSelecting()) return true;
  for (let one: Element | null = target; one && one !== page; one = one.parentElement) {
    if (one.scrollWidth > one.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(one).overflowX)) return true;
  }
  return false;
}

function isSelecting(): boolean {
  return getSelection()?.isCollapsed === false;
}
