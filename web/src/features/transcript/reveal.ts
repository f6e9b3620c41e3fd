/**
 * Brings a wanted place into view: reads back page by page until it is there, then goes to its row and marks it.
 */
import { type RefObject, useEffect, useState } from "react";
import type { VirtualizerHandle } from "virtua";
import type { Place } from "@/model/fleet";
import { oldestSeq } from "@/model/history";
import type { Transcript } from "@/model/transcript";
import { loadOlder } from "@/store/acts";
import { isRevealed, useWanted } from "@/store/reveal";
import { type Row, rowAt } from "./rows";

/** How long the row stays marked, in milliseconds. */
const MARKED_MS = 2_500;

/** Room above the row, so that one sees what came before; in pixels. */
const ABOVE_PX = 72;

export interface Reveal {
  place: Place;
  transcript: Transcript;
  rows: Row[];
  list: RefObject<VirtualizerHandle | null>;
  /** The reader is not at the end any more. */
  leaveEnd: () => void;
}

/** Gives the key of the row that is marked. */
export function useReveal({ place, transcript, rows, list, leaveEnd }: Reveal): string | null {
  const id = place.conversation.conversationId;
  const seq = useWanted(({ wanted }) => (wanted?.conversationId === id ? wanted.seq : null));
  const [marked, setMarked] = useState<string | null>(null);
  const [isReading, setReading] = useState(false);
  useEffect(() => {
    if (seq === null || transcript.load !== "ready" || isReading) return;
    const oldest = oldestSeq(transcript);
    if (transcript.hasMore && oldest !== undefined && oldest > seq) {
      setReading(true);
      void loadOlder(place)
        .catch(isRevealed)
        .finally(() => setReading(false));
      return;
    }
    const index = rowAt(rows, seq);
    leaveEnd();
    list.current?.scrollToIndex(index, { align: "start", offset: -ABOVE_PX });
    setMarked(rows[index]?.key ?? null);
    isRevealed();
  }, [seq, transcript, rows, place, list, leaveEnd, isReading]);
  useEffect(() => {
    if (marked === null) return;
    const timer = setTimeout(() => setMarked(null), MARKED_MS);
    return () => clearTimeout(timer);
  }, [marked]);
  return marked;
}
