/** A dot for the state of a conversation; the words that go with it are the caller's. */
import type { Glance } from "@/model/fleet";

const LOOK: Record<Glance, string> = {
  needed: "bg-amber-fill",
  working: "bg-blue breathe",
  unread: "bg-green",
  error: "bg-red",
  suspect: "bg-amber-fill breathe",
  stopped: "border border-line-strong",
  offline: "border border-line-strong",
  idle: "border border-line-strong",
};

export function StateDot({ state, label }: { state: Glance; label: string }) {
  return (
    <span className="inline-flex size-4 shrink-0 items-center justify-center">
      <span className={`size-2 rounded-full ${LOOK[state]}`} />
      <span className="sr-only">{label}</span>
    </span>
  );
}
