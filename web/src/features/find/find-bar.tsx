/** Looks for words in the conversation on the screen, however far back they were said, and goes from hit to hit. */
import { ChevronDown, ChevronUp, Search, X } from "lucide-react";
import { type KeyboardEvent, useEffect, useState } from "react";
import type { Place } from "@/model/fleet";
import { type Hit, searchHistory } from "@/store/acts";
import { endFinding } from "@/store/finding";
import { reveal } from "@/store/reveal";
import { useText } from "@/store/text";
import { IconButton } from "@/ui/button";
import { errorText } from "@/ui/label";
import { Plain } from "@/ui/plain";

/** The machine is asked when the person pauses, in milliseconds. */
const PAUSE_MS = 250;

export function FindBar({ place }: { place: Place }) {
  const text = useText();
  const [query, setQuery] = useState("");
  const { hits, error } = useHits(place, query.trim());
  const [at, setAt] = useState(0);
  const hit = hits?.[at];
  const id = place.conversation.conversationId;
  // biome-ignore lint/correctness/useExhaustiveDependencies: new hits begin at the newest.
  useEffect(() => setAt(0), [hits]);
  const seq = hit?.seq;
  useEffect(() => {
    if (seq !== undefined) reveal(id, seq);
  }, [id, seq]);
  const count = hits?.length ?? 0;
  /** Hits come newest first, so that going up in the conversation is going on in the list. */
  const move = (by: number) => count > 0 && setAt((at + by + count) % count);
  const onKey = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Escape") endFinding();
    else if (event.key === "Enter") move(event.shiftKey ? -1 : 1);
    else if (event.key === "ArrowUp") move(1);
    else if (event.key === "ArrowDown") move(-1);
    else return;
    event.preventDefault();
  };
  const words = () => {
    if (error) return error;
    if (hits === null) return query.trim() === "" ? text.find.help : text.find.looking;
    return count === 0 ? text.find.none : text.decision.position(at + 1, count);
  };
  return (
    <search aria-label={text.find.title} className="shrink-0 border-b border-line bg-surface">
      <div className="mx-auto flex max-w-[740px] items-center gap-1 px-2">
        <Search size={16} className="ml-2 shrink-0 text-faint" />
        <input
          autoFocus
          type="search"
          value={query}
          onChange={(event) => setQuery(event.target.value)}
          onKeyDown={onKey}
          placeholder={text.find.title}
          aria-label={text.find.title}
          className="min-h-11 min-w-0 flex-1 bg-transparent px-2 text-[16px] outline-none placeholder:text-faint lg:text-[15px]"
        />
        <IconButton label={text.find.older} disabled={count < 2} onClick={() => move(1)}>
          <ChevronUp size={18} />
        </IconButton>
        <IconButton label={text.find.newer} disabled={count < 2} onClick={() => move(-1)}>
          <ChevronDown size={18} />
        </IconButton>
        <IconButton label={text.nav.close} onClick={endFinding}>
          <X size={18} />
        </IconButton>
      </div>
      <p
        role="status"
        className="mx-auto flex max-w-[740px] gap-2 border-t border-line px-4 py-1.5 text-[12.5px] text-muted"
      >
        <span className="shrink-0 tabular-nums">{words()}</span>
        {hit && (
          <span className="min-w-0 truncate text-faint">
            <Plain text={hit.snippet} />
          </span>
        )}
      </p>
    </search>
  );
}

/** Null while nothing was asked or answered. */
function useHits(place: Place, query: string): { hits: Hit[] | null; error: string | null } {
  const text = useText();
  const [hits, setHits] = useState<Hit[] | null>(null);
  const [error, setError] = useState<string | null>(null);
  const { deviceId } = place.machine;
  const { conversationId } = place.conversation;
  useEffect(() => {
    setHits(null);
    setError(null);
    if (query === "") return;
    let isCurrent = true;
    const timer = setTimeout(() => {
      searchHistory(deviceId, query, conversationId).then(
        (found) => isCurrent && setHits(found.toSorted((a, b) => b.seq - a.seq)),
        (failure: unknown) => isCurrent && setError(errorText(text, failure)),
      );
    }, PAUSE_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [query, deviceId, conversationId, text]);
  return { hits, error };
}
