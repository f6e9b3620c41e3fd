/**
 * Follows the end of a growing list, as long as the reader is there.
 *
 * Whoever scrolled up, or is selecting text, is left alone; nothing ever moves under their eyes.
 */
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";

/** This near to the end counts as being there, in pixels. */
const NEAR_PX = 64;

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
  const follows = useRef(true);
  const [isAtEnd, setAtEnd] = useState(true);

  const toEnd = useCallback(() => {
    follows.current = true;
    setAtEnd(true);
    const element = scroller.current;
    if (element) element.scrollTop = element.scrollHeight;
  }, [scroller]);

  const leaveEnd = useCallback(() => {
    follows.current = false;
    setAtEnd(false);
  }, []);

  // Another conversation begins at its end.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key is the reason to run.
  useLayoutEffect(() => toEnd(), [resetKey, toEnd]);

  useEffect(() => {
    const element = scroller.current;
    const inner = content.current;
    if (!element || !inner) return;
    let height = element.scrollHeight;
    const onScroll = () => {
      const distance = element.scrollHeight - element.scrollTop - element.clientHeight;
      // A list that measures its rows changes its height by itself; that is not the reader's doing.
      if (element.scrollHeight !== height && follows.current) return;
      follows.current = distance < NEAR_PX;
      setAtEnd(follows.current);
    };
    const grown = new ResizeObserver(() => {
      height = element.scrollHeight;
      if (follows.current && !isSelecting(element)) element.scrollTop = element.scrollHeight;
      height = element.scrollHeight;
    });
    element.addEventListener("scroll", onScroll, { passive: true });
    grown.observe(inner);
    grown.observe(element);
    return () => {
      element.removeEventListener("scroll", onScroll);
      grown.disconnect();
    };
  }, [scroller, content]);

  return { isAtEnd, toEnd, leaveEnd };
}

function isSelecting(element: HTMLElement): boolean {
  const selection = getSelection();
  return selection !== null && !selection.isCollapsed && element.contains(selection.anchorNode);
}
