/** One row of the list: picks the component for its kind and sets the reading column. */
import { memo, type ReactNode } from "react";
import { shallow } from "zustand/shallow";
import type { Entry } from "@/model/entries";
import { folderOf, type Place } from "@/model/fleet";
import { useApp } from "@/store/app";
import { useText } from "@/store/text";
import { Markdown } from "@/ui/markdown";
import { Activity } from "./activity";
import { AbortedRow, ErrorRow, RemarkRow } from "./remarks";
import { ResultRow } from "./result";
import type { Row as RowData } from "./rows";
import { Thought } from "./thought";
import { ToolCard } from "./tool-card";
import { OutgoingMessage, UserMessage } from "./user-message";

export interface RowProps {
  row: RowData;
  place: Place;
  isLoadingOlder: boolean;
}

/** Lists of rows are made anew at every event; a row that says the same at the same place is not drawn again. */
export const Row = memo(RowView, isSame);

function isSame(before: RowProps, after: RowProps): boolean {
  return (
    before.isLoadingOlder === after.isLoadingOlder &&
    before.place.conversation.conversationId === after.place.conversation.conversationId &&
    folderOf(before.place) === folderOf(after.place) &&
    before.place.machine.isOnline === after.place.machine.isOnline &&
    shallow(before.row, after.row)
  );
}

function RowView({ row, place, isLoadingOlder }: RowProps) {
  const said = saidIn(row);
  if (said) {
    const isFaded = row.type === "entry" && row.isRewound;
    return (
      <Column gap="py-2" isFaded={isFaded}>
        {said.isThought ? (
          <Thought source={said.text} isOpen={said.isOpen} />
        ) : (
          <Markdown source={said.text} isOpen={said.isOpen} />
        )}
      </Column>
    );
  }
  switch (row.type) {
    case "head":
      return <Head place={place} isLoading={isLoadingOlder} />;
    case "entry":
      return (
        <Column gap={row.entry.kind === "tool" ? "py-[3px]" : "py-2"} isFaded={row.isRewound}>
          <EntryView entry={row.entry} place={place} />
        </Column>
      );
    case "open":
      return null;
    case "outgoing":
      return (
        <Column gap="py-2">
          <OutgoingMessage message={row.message} />
        </Column>
      );
    case "activity":
      return (
        <Column gap="py-2">
          <Activity place={place} />
        </Column>
      );
  }
}

interface Said {
  text: string;
  isThought: boolean;
  isOpen: boolean;
}

/** What the agent says or thinks, complete or not: both are drawn by the same elements, so that nothing changes at its end. */
function saidIn(row: RowData): Said | null {
  if (row.type === "open") return { text: row.open.text, isThought: row.open.kind === "thinking", isOpen: true };
  if (row.type !== "entry" || (row.entry.kind !== "text" && row.entry.kind !== "thought")) return null;
  return { text: row.entry.text, isThought: row.entry.kind === "thought", isOpen: false };
}

/** Entries of the agent and, below a call, of its sub-agents. */
export function EntryView({ entry, place }: { entry: Entry; place: Place }) {
  switch (entry.kind) {
    case "user":
      return <UserMessage entry={entry} place={place} />;
    case "text":
      return <Markdown source={entry.text} />;
    case "thought":
      return <Thought source={entry.text} />;
    case "tool":
      return <ToolCard tool={entry} place={place} renderEntry={renderEntry} />;
    case "result":
      return <ResultRow entry={entry} place={place} />;
    case "error":
      return <ErrorRow entry={entry} />;
    case "aborted":
      return <AbortedRow entry={entry} place={place} />;
    case "remark":
      return <RemarkRow entry={entry} />;
  }
}

function renderEntry(entry: Entry, place: Place): ReactNode {
  return <EntryView key={entry.key} entry={entry} place={place} />;
}

function Head({ place, isLoading }: { place: Place; isLoading: boolean }) {
  const text = useText();
  const hasMore = useApp((app) => app.world.transcripts[place.conversation.conversationId]?.hasMore);
  return (
    <Column gap="py-2">
      <p className="text-center text-[12.5px] text-faint">
        {isLoading ? text.talk.loadingOlder : hasMore ? "" : text.talk.beginning}
      </p>
    </Column>
  );
}

/** What is drawn instead of a row that cannot be: the others stay. */
export function BrokenRow() {
  const text = useText();
  return (
    <Column gap="py-2">
      <p className="text-[13px] text-muted">{text.broken.row}</p>
    </Column>
  );
}

function Column({ gap, isFaded, children }: { gap: string; isFaded?: boolean; children: ReactNode }) {
  const look = isFaded ? "opacity-50" : "";
  return <div className={`mx-auto w-full max-w-[740px] px-4 ${gap} ${look}`}>{children}</div>;
}
