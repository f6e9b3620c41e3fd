/** The conversation as a virtual list: only what is near the screen exists, and older pages come as one scrolls up. */
import { ArrowDown } from "lucide-react";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { Virtualizer, type VirtualizerHandle } from "virtua";
import type { Place } from "@/model/fleet";
import { EMPTY, type Transcript } from "@/model/transcript";
import { loadOlder } from "@/store/acts";
import { useApp } from "@/store/app";
import { useText } from "@/store/text";
import { Boundary } from "@/ui/boundary";
import { Skeleton } from "@/ui/states";
import { useFollow } from "./follow";
import { useNearby } from "./nearby";
import { useReveal } from "./reveal";
import { BrokenRow, Row } from "./row";
import { type Row as RowData, rowsOf } from "./rows";
import { Away, Blank, LoadFailed, Old } from "./standing";

/**
 * What a row is taken for before it was measured, in pixels. Without it the list takes the height of those that it has
 * measured, which one long message makes thousands of pixels.
 */
const ROW_PX = 80;

/** What the list itself keeps in the direction of travel, in pixels; `nearby.ts` says what else exists. */
const BUFFER_PX = 200;

/** Older rows are asked for this long before the reader reaches them, in pixels: a quick hand covers that in a second. */
const AHEAD_PX = 4_000;

const brokenRow = () => <BrokenRow />;

export function TranscriptList({ place }: { place: Place }) {
  const id = place.conversation.conversationId;
  const transcript = useApp((app) => app.world.transcripts[id]) ?? EMPTY;
  const outbox = useApp((app) => app.world.outbox);
  const rows = useMemo(() => rowsOf(transcript, outbox, id), [transcript, outbox, id]);
  const isEmpty = transcript.entries.top.length === 0 && transcript.open.length === 0 && rows.length <= 1;
  // What was kept is no answer to a refusal.
  if ((isEmpty || transcript.keptAt !== undefined) && transcript.load === "failed")
    return <LoadFailed refusal={transcript.refusal} />;
  if (isEmpty && transcript.load !== "ready" && !place.machine.isOnline) return <Away />;
  return <List place={place} transcript={transcript} rows={rows} isEmpty={isEmpty} />;
}

interface ListProps {
  place: Place;
  transcript: Transcript;
  rows: RowData[];
  isEmpty: boolean;
}

/** The list proper, which is always there while this is: what follows its end looks at its elements once. */
function List({ place, transcript, rows, isEmpty }: ListProps) {
  const text = useText();
  const id = place.conversation.conversationId;
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const list = useRef<VirtualizerHandle>(null);
  const { isAtEnd, toEnd, leaveEnd } = useFollow(scroller, content, id);
  const marked = useReveal({ place, transcript, rows, list, leaveEnd });
  const [isLoading, setLoading] = useState(false);
  const { keepMounted, moved } = useNearby(list, isEmpty ? 0 : rows.length);

  // Before the list looks where it is: it would draw its beginning first.
  useLayoutEffect(() => {
    if (!isEmpty) toEnd();
  }, [isEmpty, toEnd]);

  const mine = rows.filter((row) => row.type === "outgoing").length;
  useEffect(() => {
    if (mine > 0) toEnd();
  }, [mine, toEnd]);

  const onScroll = useCallback(() => {
    const element = scroller.current;
    // Who is at the end and stays there needs none.
    if (!element || isAtEnd || isLoading || !transcript.hasMore || element.scrollTop > AHEAD_PX) return;
    setLoading(true);
    void loadOlder(place)
      .catch(() => undefined)
      .finally(() => setLoading(false));
  }, [place, isAtEnd, isLoading, transcript.hasMore]);

  return (
    <div className="relative min-h-0 flex-1">
      <div
        ref={scroller}
        onScroll={onScroll}
        role="log"
        aria-label={text.talk.log}
        aria-live="off"
        tabIndex={0}
        className="h-full overflow-y-auto overscroll-contain outline-none [overflow-anchor:none]"
      >
        <div ref={content} className="min-h-full pt-3 pb-4">
          {isEmpty && transcript.load !== "ready" && (
            <div className="mx-auto w-full max-w-[740px] p-5">
              <Skeleton label={text.talk.loading} />
            </div>
          )}
          {isEmpty && transcript.load === "ready" && <Blank place={place} />}
          {!isEmpty && (
            <Virtualizer
              ref={list}
              data={rows}
              scrollRef={scroller}
              shift={isLoading}
              itemSize={ROW_PX}
              bufferSize={BUFFER_PX}
              keepMounted={keepMounted}
              onScroll={moved}
            >
              {(row) => (
                <div key={row.key} data-row={row.type} className={row.key === marked ? "bg-accent-soft" : undefined}>
                  <Boundary of={row} broken={brokenRow}>
                    <Row row={row} place={place} isLoadingOlder={isLoading && row.type === "head"} />
                  </Boundary>
                </div>
              )}
            </Virtualizer>
          )}
        </div>
      </div>
      {transcript.keptAt !== undefined && <Old at={transcript.keptAt} />}
      {!isAtEnd && (
        <button
          type="button"
          onClick={toEnd}
          className="rise absolute bottom-3 left-1/2 flex min-h-11 -translate-x-1/2 items-center gap-2 rounded-full border border-line-strong bg-raised px-4 text-[13px] hover:bg-hover"
        >
          <ArrowDown size={15} />
          {transcript.open.length > 0 ? text.talk.newBelow : text.talk.toEnd}
        </button>
      )}
    </div>
  );
}
