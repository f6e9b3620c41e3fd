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
  const isGood = !entry.subtype.startsWith("error") && entry.cause === undefined;
  const facts = [
    formats.fine(entry.durationMs),
    entry.turns && entry.turns > 1 ? text.result.steps(formats.count(entry.turns)) : null,
    text.result.inTokens(formats.compact(entry.inputTokens + entry.cacheReadTokens)),
    text.result.outTokens(formats.compact(entry.outputTokens)),
    entry.costUsd ? formats.money(entry.costUsd) : null,
    entry.models?.join(" + ") ?? null,
    entry.apiStatus === undefined ? null : text.plan.status(entry.apiStatus),
  ].filter((fact) => fact !== null);
  return (
    <div className="flex items-start border-b border-line pb-3 text-[12.5px] text-faint tabular-nums">
      <p className="flex min-w-0 flex-1 flex-wrap items-center gap-x-1 gap-y-0.5">
        {isGood ? (
          <CircleCheck size={14} className="mr-1 text-green" />
        ) : (
          <CircleAlert size={14} className="mr-1 text-red" />
        )}
        <span className={isGood ? "text-muted" : "text-red"}>{resultWords(text, entry)}</span>
        {facts.map((fact, index) => (
          <span key={fact}>
            {index === 0 && "· "}
            {fact}
            {index < facts.length - 1 && " ·"}
          </span>
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

/** How many files the turn has changed, as far as it is loaded here; opens what was changed. */
function Changed({ entry, place }: { entry: ResultEntry; place: Place }) {
  const text = useText();
  const transcript = useApp((app) => app.world.transcripts[place.conversation.conversationId]);
  const entries = transcript?.entries;
  const known = useMemo(() => (entries ? changesOf(entries, entry.key) : null), [entries, entry.key]);
  const [isOpen, setOpen] = useState(false);
  if (!known) return null;
  const isWhole = known.isWhole || !transcript?.hasMore;
  if (known.files.length === 0 && (isWhole || entry.seq === undefined)) return null;
  return (
    <>
      <button
        type="button"
        aria-haspopup="dialog"
        onClick={() => setOpen(true)}
        className="-my-3 flex min-h-11 shrink-0 items-center gap-1.5 rounded-md px-2 text-muted hover:bg-hover hover:text-ink lg:-my-2 lg:min-h-9"
      >
        <FileDiff size={15} />
        {isWhole ? text.result.files(known.files.length) : text.result.changedFiles}
      </button>
      {isOpen && (
        <Suspense fallback={null}>
          <TurnChanges changes={known.files} seq={entry.seq} place={place} close={() => setOpen(false)} />
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
      if (entry.cause !== undefined) return text.cause[entry.cause] ?? text.cause.other;
      return entry.subtype.startsWith("error") ? text.result.failed : text.result.done;
  }
}
