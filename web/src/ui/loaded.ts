/** Something that is asked for when a view opens: not there yet, there, or refused; and how to ask again. */
import { useCallback, useEffect, useState } from "react";
import { useText } from "@/store/text";
import { errorText } from "./label";

export interface Loaded<T> {
  value: T | null;
  error: string | null;
  isLoading: boolean;
  again(): void;
}

/** `load` must be the same for as long as the same is wanted. */
export function useLoaded<T>(load: () => Promise<T>): Loaded<T> {
  const text = useText();
  const [tries, setTries] = useState(0);
  const [state, setState] = useState<{ value: T | null; error: string | null; isLoading: boolean }>({
    value: null,
    error: null,
    isLoading: true,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: a further try is a reason to ask, other words are none.
  useEffect(() => {
    let isCurrent = true;
    setState((known) => ({ ...known, error: null, isLoading: true }));
    load().then(
      (value) => isCurrent && setState({ value, error: null, isLoading: false }),
      (failure: unknown) =>
        isCurrent && setState((known) => ({ ...known, error: errorText(text, failure), isLoading: false })),
    );
    return () => {
      isCurrent = false;
    };
  }, [load, tries]);
  const again = useCallback(() => setTries((count) => count + 1), []);
  return { ...state, again };
}
