/** One row of the list: picks the component for its kind and sets the reading column. */
import { memo, type ReactNode } from "react";
import { shallow } from "zustand/shallow";
import type { Entry } from "@/model/entries";
import type { Place } from "@/model/fleet";
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
    before.place.workspace.workingDir === after.place.workspace.workingDir &&
    before.place.machine.isOnline === after.place.machine.isOnline &&
    shallow(before.row, after.row)
  );
}

function RowView({ row, place, isLoadingOlder }: RowProps) {
  const said = saidIn(row);
  if (said) {
    return (
      <Column gap="py-2" isFaded={row.type === "entry" && row.isRewound}>
        <Markdown source={said.text} isOpen={said.isOpen} />
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
      return (
        <Column gap="py-2">
          <Thought source={row.open.text} />
        </Column>
      );
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

/** Text of the agent, complete or not: both are drawn by the same elements, so that nothing changes at its end. */
function saidIn(row: RowData): { text: string; isOpen: boolean } | null {
  if (row.type === "open") return row.open.kind === "text" ? { text: row.open.text, isOpen: true } : null;
  return row.type === "entry" && row.entry.kind === "text" ? { text: row.entry.text, isOpen: false } : null;
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
      return <AbortedRow entry={entry} />;
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

function Column({ gap, isFaded, children }: { gap: string; isFaded?: boolean; children: ReactNode }) {
  const look = isFaded ? "opacity-50" : "";
  return <div className={`mx-auto w-full max-w-[740px] px-4 ${gap} ${look}`}>{children}</div>;
}
