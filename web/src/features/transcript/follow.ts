/**
 * Follows the end of a growing list, as long as the reader is there.
 *
 * Whoever scrolled up, or is selecting text, is left alone; nothing ever moves under their eyes. What counts as a hand
 * is told to the machine of `model/following.ts`, which decides.
 */
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { AT_END, drawn, followsGrowth, handMoved, hasHand, pressed, scrolled } from "@/model/following";

/** Keys that move a page up, or to something further up. */
const UP_KEYS = new Set(["ArrowUp", "PageUp", "Home", " ", "Tab"]);

export interface Follow {
  isAtEnd: boolean;
  toEnd(): void;
  /** What is wanted is somewhere else. */
  leaveEnd(): void;
}

export function useFollow(
  scroller: RefObject<HTMLElement | null>,
  content: RefObject<HTMLElement | null>,
  resetKey: string,
): Follow {
  const following = useRef(AT_END);
  const [isAtEnd, setAtEnd] = useState(true);

  const toEnd = useCallback(() => {
    following.current = AT_END;
    setAtEnd(true);
    const element = scroller.current;
    if (element) element.scrollTop = element.scrollHeight;
  }, [scroller]);

  const leaveEnd = useCallback(() => {
    following.current = { ...following.current, isAtEnd: false };
    setAtEnd(false);
  }, []);

  // Another conversation begins at its end.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key is the reason to run.
  useLayoutEffect(() => toEnd(), [resetKey, toEnd]);

  useEffect(() => {
    const element = scroller.current;
    const inner = content.current;
    if (!element || !inner) return;
    const pull = () => {
      if (followsGrowth(following.current) && !isSelecting(element)) element.scrollTop = element.scrollHeight;
    };
    const forget = listenForHands(element, (next) => {
      following.current = next(following.current);
    });
    let picture = 0;
    const onPicture = () => {
      following.current = drawn(following.current);
      picture = 0;
      if (hasHand(following.current)) watch();
      else pull();
    };
    const watch = () => {
      if (picture === 0) picture = requestAnimationFrame(onPicture);
    };
    const onScroll = () => {
      const distance = element.scrollHeight - element.scrollTop - element.clientHeight;
      following.current = scrolled(following.current, distance);
      setAtEnd(following.current.isAtEnd);
    };
    const grown = new ResizeObserver(pull);
    element.addEventListener("scroll", onScroll, { passive: true });
    for (const sign of SIGNS) addEventListener(sign, watch, { passive: true });
    grown.observe(inner);
    grown.observe(element);
    return () => {
      forget();
      cancelAnimationFrame(picture);
      element.removeEventListener("scroll", onScroll);
      for (const sign of SIGNS) removeEventListener(sign, watch);
      grown.disconnect();
    };
  }, [scroller, content]);

  return { isAtEnd, toEnd, leaveEnd };
}

const SIGNS = ["wheel", "touchmove", "keydown", "pointerdown", "pointerup", "pointercancel"] as const;

type Tell = (next: (following: typeof AT_END) => typeof AT_END) => void;

/** Tells of every sign of a hand that can move the list away from its end. */
function listenForHands(element: HTMLElement, tell: Tell): () => void {
  const stop = new AbortController();
  const passive = { passive: true, signal: stop.signal };
  let finger: number | null = null;
  element.addEventListener("wheel", (event) => event.deltaY < 0 && tell(handMoved), passive);
  element.addEventListener(
    "touchmove",
    ({ touches }) => {
      const at = touches[0]?.clientY ?? null;
      if (at !== null && finger !== null && at > finger) tell(handMoved);
      finger = at;
    },
    passive,
  );
  element.addEventListener(
    "touchend",
    () => {
      finger = null;
    },
    passive,
  );
  // The content covers the list, so what is pressed beside it is the bar; anything else may become a selection that is
  // drawn over the edge.
  let isBar = false;
  element.addEventListener(
    "pointerdown",
    ({ target }) => {
      isBar = target === element;
      tell((now) => pressed(isBar ? handMoved(now) : now, true));
    },
    passive,
  );
  const release = () => tell((now) => (now.isHeld ? pressed(isBar ? handMoved(now) : now, false) : now));
  for (const end of ["pointerup", "pointercancel"] as const) addEventListener(end, release, passive);
  const onKey = (event: KeyboardEvent) => {
    if (UP_KEYS.has(event.key) && !isField(event.target)) tell(handMoved);
  };
  addEventListener("keydown", onKey, passive);
  return () => stop.abort();
}

function isField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

function isSelecting(element: HTMLElement): boolean {
  const selection = getSelection();
  return selection !== null && !selection.isCollapsed && element.contains(selection.anchorNode);
}
