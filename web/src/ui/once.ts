/** One piece of work at a time: a second press while it goes on is none, however quick it is. */
import { useCallback, useRef, useState } from "react";

export interface Once {
  isBusy: boolean;
  once(work: () => Promise<void>): void;
}

export function useOnce(): Once {
  const isUnderWay = useRef(false);
  const [isBusy, setBusy] = useState(false);
  const once = useCallback((work: () => Promise<void>) => {
    if (isUnderWay.current) return;
    isUnderWay.current = true;
    setBusy(true);
    void work().finally(() => {
      isUnderWay.current = false;
      setBusy(false);
    });
  }, []);
  return { isBusy, once };
}
