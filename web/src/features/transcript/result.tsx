/** The end of a turn: how it went, what it took, what it changed. */
import { CircleAlert, CircleCheck, FileDiff } from "lucide-react";
import { lazy, Suspense, useMemo, useState } from "react";
import type { Catalogue } from "@/i18n";
import { changesOf } from "@/model/changes";
import type { Entry, ResultEntry } from "@/model/entries";
import type { Place } from "@/model/fleet";
import { useApp } from "@/store/app";
import { useFormats, useText } from "@/store/text";
import { CopyButton } from "@/ui/copy";
import { answerBefore } from "./rows";

const TurnChanges = lazy(() => import("./turn-changes").then((file) => ({ default: file.TurnChanges })));

export function ResultRow({ entry, place }: { entry: ResultEntry; place: Place }) {
  const text = useText();
  const formats = useFormats();
  const isGood = !entry.subtype.startsWith("error");
  const facts = [
    formats.fine(entry.durationMs),
    entry.turns && entry.turns > 1 ? text.result.steps(formats.count(entry.turns)) : null,
    text.result.inTokens(formats.compact(entry.inputTokens + entry.cacheReadTokens)),
    text.result.outTokens(formats.compact(entry.outputTokens)),
    entry.costUsd ? formats.money(entry.costUsd) : null,
  ].filter((fact) => fact !== null);
  return (
    <div className="flex items-start border-b border-line pb-3 text-[12.5px] text-faint tabular-nums">
      <p className="flex min-w-0 flex-1 flex-wrap items-center gap-x-2 gap-y-0.5">
        {isGood ? <CircleCheck size={14} className="text-green" /> : <CircleAlert size={14} className="text-red" />}
        <span className={isGood ? "text-muted" : "text-red"}>{resultWords(text, entry)}</span>
        {facts.map((fact) => (
          <span key={fact}>· {fact}</span>
        ))}
      </p>
      <Changed entry={entry} place={place} />
      <CopyButton
        label={text.message.copyAnswer}
        value={() => answerBefore(entriesOf(place), entry.key)}
        className="-my-3 -mr-3 lg:-my-2 lg:-mr-2"
      />
    </div>
  );
}

/** How many files the turn has changed; opens what was changed. */
function Changed({ entry, place }: { entry: ResultEntry; place: Place }) {
  const text = useText();
  const entries = useApp((app) => app.world.transcripts[place.conversation.conversationId]?.entries);
  const changes = useMemo(() => (entries ? changesOf(entries, entry.key) : []), [entries, entry.key]);
  const [isOpen, setOpen] = useState(false);
  if (changes.length === 0) return null;
  return (
    <>
      <button
        type="button"
        aria-haspopup="dialog"
        onClick={() => setOpen(true)}
        className="-my-3 flex min-h-11 shrink-0 items-center gap-1.5 rounded-md px-2 text-muted hover:bg-hover hover:text-ink lg:-my-2 lg:min-h-9"
      >
        <FileDiff size={15} />
        {text.result.files(changes.length)}
      </button>
      {isOpen && (
        <Suspense fallback={null}>
          <TurnChanges changes={changes} place={place} close={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}

function entriesOf(place: Place): readonly Entry[] {
  return useApp.getState().world.transcripts[place.conversation.conversationId]?.entries.top ?? [];
}

function resultWords(text: Catalogue, entry: ResultEntry): string {
  switch (entry.subtype) {
    case "error_max_turns":
      return text.result.maxTurns;
    case "error_max_budget_usd":
      return text.result.budget;
    default:
      return entry.subtype.startsWith("error") ? text.result.failed : text.result.done;
  }
}
