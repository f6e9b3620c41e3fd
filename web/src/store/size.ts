/** How much room the page has: a phone shows one thing at a time, a tablet two, a desk three. */
import { useSyncExternalStore } from "react";

export type Size = "phone" | "tablet" | "desk";

const QUERIES =
  typeof matchMedia === "undefined" ? null : [matchMedia("(min-width: 768px)"), matchMedia("(min-width: 1024px)")];

export function sizeNow(): Size {
  const [isTablet, isDesk] = QUERIES?.map((query) => query.matches) ?? [];
  if (isDesk) return "desk";
  return isTablet ? "tablet" : "phone";
}

function follow(hear: () => void): () => void {
  for (const query of QUERIES ?? []) query.addEventListener("change", hear);
  return () => {
    for (const query of QUERIES ?? []) query.removeEventListener("change", hear);
  };
}

export function useSize(): Size {
  return useSyncExternalStore(follow, sizeNow, sizeNow);
}
