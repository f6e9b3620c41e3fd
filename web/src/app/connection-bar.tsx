/** How the connection is, when it is not as it should be. */
import { useEffect, useState } from "react";
import type { Catalogue } from "@/i18n";
import type { Phase } from "@/model/connection";
import { retryNow, useApp } from "@/store/app";
import { useNow } from "@/store/clock";
import { useText } from "@/store/text";

/** A connection that comes within this time needs no words. */
const PATIENCE_MS = 700;

export function ConnectionBar() {
  const text = useText();
  const phase = useApp((app) => app.phase);
  const now = useNow();
  const isOnline = phase.name === "online";
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    if (isOnline) return setShown(false);
    const timer = setTimeout(() => setShown(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, [isOnline]);
  if (isOnline || !isShown) return null;
  return (
    <div
      role="status"
      className="flex shrink-0 items-center gap-3 border-b border-line bg-amber-soft px-4 py-1.5 text-[13px]"
    >
      <span className="breathe size-2 shrink-0 rounded-full bg-amber-fill" />
      <span className="min-w-0 flex-1">
        {words(text, phase, now)} <span className="text-muted">{text.connection.stale}</span>
      </span>
      <button type="button" onClick={retryNow} className="min-h-11 rounded-sm px-2 underline hover:bg-hover lg:min-h-9">
        {text.connection.retry}
      </button>
    </div>
  );
}

function words(text: Catalogue, phase: Phase, now: number): string {
  switch (phase.name) {
    case "waiting":
      return text.connection.waiting(Math.max(1, Math.ceil((phase.until - now) / 1_000)));
    case "fallback":
      return text.connection.fallback;
    case "connecting":
    case "authenticating":
      return phase.failures === 0 ? text.connection.connecting : text.connection.retrying;
    case "refused":
    case "unpaired":
      return text.connection.refused;
    case "online":
      return text.connection.online;
  }
}
