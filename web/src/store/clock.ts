/** The present, for texts like "2 min ago": one timer for all views, and none while nobody looks. */
import { useSyncExternalStore } from "react";

const SECOND_MS = 1_000;
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    if (document.hidden) return;
    now = Date.now();
    for (const one of listeners) one();
  }, SECOND_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** The time, renewed about every second. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}

/** The time, renewed about every half minute: enough for ages in a list. */
export function useSlowNow(): number {
  return useSyncExternalStore(subscribe, () => Math.floor(now / 30_000) * 30_000);
}
