/** Commands and conversations by name, and what was said before by its words. */
import { useEffect, useMemo, useState } from "react";
import { type Place, places } from "@/model/fleet";
import { isEnough } from "@/model/search";
import { type Hit, searchHistory } from "@/store/acts";
import { useApp } from "@/store/app";
import { reveal } from "@/store/reveal";
import { useText } from "@/store/text";
import { Dialog } from "@/ui/dialog";
import { rank } from "./rank";

export interface PaletteCommand {
  label: string;
  keys?: string;
  act: () => void;
}

export interface PaletteProps {
  commands: PaletteCommand[];
  open: (conversationId: string) => void;
  close: () => void;
}

interface Row {
  key: string;
  label: string;
  help?: string;
  group: string;
  act: () => void;
}

/** A search on the machines waits until the person pauses, in milliseconds. */
const PAUSE_MS = 250;
const MOST = 12;

export function Palette({ commands, open, close }: PaletteProps) {
  const text = useText();
  const fleet = useApp((app) => app.world.fleet);
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const hits = useHits(query);
  const all = useMemo(() => places(fleet), [fleet]);
  const rows = useMemo((): Row[] => {
    const found = rank(
      all,
      query,
      (place) => `${place.conversation.name} ${place.workspace.name} ${place.machine.name}`,
    ).slice(0, MOST);
    const acts = rank(commands, query, (command) => command.label);
    return [
      ...found.map((place) => conversationRow(place, text.palette.conversations, open)),
      ...acts.map((command) => ({
        key: command.label,
        label: command.label,
        help: command.keys,
        group: text.palette.actions,
        act: command.act,
      })),
      ...hits.map((hit) => ({
        key: `${hit.conversationId}-${hit.seq}`,
        label: hit.snippet,
        help: all.find((place) => place.conversation.conversationId === hit.conversationId)?.conversation.name,
        group: text.palette.history,
        act: () => {
          open(hit.conversationId);
          reveal(hit.conversationId, hit.seq);
        },
      })),
    ];
  }, [all, commands, hits, query, open, text]);
  const chosen = Math.min(at, rows.length - 1);
  const run = (row: Row | undefined) => {
    if (!row) return;
    close();
    row.act();
  };
  return (
    <Dialog title={text.palette.title} onClose={close} isBare width="max-w-xl">
      <input
        autoFocus
        role="combobox"
        aria-expanded
        aria-controls="palette-rows"
        aria-activedescendant={rows[chosen] ? `palette-${chosen}` : undefined}
        aria-label={text.palette.placeholder}
        placeholder={text.palette.placeholder}
        value={query}
        onChange={(event) => {
          setQuery(event.target.value);
          setAt(0);
        }}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing) return;
          if (event.key === "ArrowDown") setAt(Math.min(chosen + 1, rows.length - 1));
          else if (event.key === "ArrowUp") setAt(Math.max(chosen - 1, 0));
          else if (event.key === "Enter") run(rows[chosen]);
          else return;
          event.preventDefault();
        }}
        className="h-13 w-full border-b border-line bg-transparent px-5 py-3.5 text-[16px] outline-none placeholder:text-faint"
      />
      <div
        id="palette-rows"
        role="listbox"
        aria-label={text.palette.title}
        className="max-h-[60dvh] overflow-y-auto p-1.5"
      >
        {rows.length === 0 && <p className="p-4 text-[14px] text-faint">{text.palette.none}</p>}
        {rows.map((row, index) => (
          <div key={row.key}>
            {row.group !== rows[index - 1]?.group && (
              <p className="px-3 pt-2 pb-1 text-[12px] font-semibold text-faint">{row.group}</p>
            )}
            <button
              type="button"
              id={`palette-${index}`}
              role="option"
              aria-selected={index === chosen}
              tabIndex={-1}
              onClick={() => run(row)}
              onPointerMove={() => setAt(index)}
              className={`flex min-h-11 w-full items-center gap-3 rounded-sm px-3 py-1.5 text-left text-[14px] lg:min-h-9 ${index === chosen ? "bg-accent-soft" : ""}`}
            >
              <span className="min-w-0 flex-1 truncate">{row.label}</span>
              {row.help && <span className="max-w-[45%] shrink-0 truncate text-[12.5px] text-muted">{row.help}</span>}
            </button>
          </div>
        ))}
      </div>
    </Dialog>
  );
}

function conversationRow(place: Place, group: string, open: (conversationId: string) => void): Row {
  const id = place.conversation.conversationId;
  return {
    key: id,
    label: place.conversation.name,
    help: `${place.workspace.name} · ${place.machine.name}`,
    group,
    act: () => open(id),
  };
}

function useHits(query: string): Hit[] {
  const [hits, setHits] = useState<Hit[]>([]);
  useEffect(() => {
    setHits([]);
    const words = query.trim();
    if (!isEnough(words)) return;
    let isCurrent = true;
    const timer = setTimeout(() => {
      const online = useApp.getState().world.fleet.filter((machine) => machine.isOnline);
      for (const machine of online) {
        searchHistory(machine.deviceId, words)
          .then((found) => isCurrent && setHits((before) => [...before, ...found].slice(0, MOST)))
          .catch(() => undefined);
      }
    }, PAUSE_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [query]);
  return hits;
}
