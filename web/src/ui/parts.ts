/** A long list that comes in parts: the first by itself, each further one when it is wanted. */
import { useCallback, useEffect, useRef, useState } from "react";
import { useText } from "@/store/text";
import { errorText } from "./label";

export interface Parts<T> {
  /** Null until the first part is there. */
  items: readonly T[] | null;
  error: string | null;
  isLoading: boolean;
  /** Whether there are more. */
  hasMore: boolean;
  more(): void;
}

interface Known<T> {
  items: readonly T[] | null;
  next?: number;
  error: string | null;
  isLoading: boolean;
}

const NOTHING = { items: null, error: null, isLoading: true };

/** `load` must be the same for as long as the same is wanted. */
export function useParts<T>(load: (offset?: number) => Promise<{ items: T[]; next?: number }>): Parts<T> {
  const text = useText();
  const [known, setKnown] = useState<Known<T>>(NOTHING);
  const wanted = useRef(load);
  const words = useRef(text);
  words.current = text;
  const ask = useCallback(
    (offset?: number) => {
      setKnown((before) => ({ ...before, error: null, isLoading: true }));
      load(offset).then(
        ({ items, next }) => {
          if (wanted.current !== load) return;
          setKnown((before) => ({ items: [...(before.items ?? []), ...items], next, error: null, isLoading: false }));
        },
        (failure: unknown) => {
          if (wanted.current !== load) return;
          setKnown((before) => ({ ...before, error: errorText(words.current, failure), isLoading: false }));
        },
      );
    },
    [load],
  );
  useEffect(() => {
    wanted.current = load;
    setKnown(NOTHING);
    ask();
    return () => {
      wanted.current = async () => ({ items: [] });
    };
  }, [load, ask]);
  const { items, next, error, isLoading } = known;
  return { items, error, isLoading, hasMore: next !== undefined, more: () => ask(items === null ? undefined : next) };
}
