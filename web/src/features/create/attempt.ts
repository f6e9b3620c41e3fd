/** Makes something once: a second press is none, and an answer that comes late or never makes nothing twice. */
import { useEffect, useRef, useState } from "react";
import { RequestError } from "@/api/requests";
import { grantedSince, idsOf, type Wish } from "@/model/creation";
import { useApp } from "@/store/app";
import { useText } from "@/store/text";
import { writeIn } from "@/store/writing";
import { errorText } from "@/ui/label";

interface Asked {
  wish: Wish;
  before: ReadonlySet<string>;
}

export interface Attempt {
  error: string | null;
  isBusy: boolean;
  run(wish: Wish, work: () => Promise<string>): void;
}

export function useAttempt(close: () => void, open: (conversationId: string) => void): Attempt {
  const text = useText();
  const [error, setError] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const asked = useRef<Asked | null>(null);
  const isUnderWay = useRef(false);
  const made = useRef((_id: string) => {});
  made.current = (id) => {
    asked.current = null;
    close();
    if (id === "") return;
    writeIn(id);
    open(id);
  };
  // What was made shows in the list of the machine, also when its answer was lost.
  useEffect(() => {
    const look = () => {
      const granted =
        asked.current && grantedSince(asked.current.before, useApp.getState().world.fleet, asked.current.wish);
      if (granted && !isUnderWay.current) made.current(granted);
    };
    return useApp.subscribe(look);
  }, []);
  const run = (wish: Wish, work: () => Promise<string>) => {
    if (isUnderWay.current) return;
    isUnderWay.current = true;
    setBusy(true);
    setError(null);
    const before = asked.current?.before ?? idsOf(useApp.getState().world.fleet, wish.deviceId);
    asked.current = { wish, before };
    work()
      .then((id) => made.current(id))
      .catch((reason: unknown) => {
        const isUnknown = reason instanceof RequestError && (reason.code === "timeout" || reason.code === "offline");
        if (!isUnknown) asked.current = null;
        setError(isUnknown && reason.code === "timeout" ? text.create.unsure : errorText(text, reason));
      })
      .finally(() => {
        isUnderWay.current = false;
        setBusy(false);
      });
  };
  return { error, run, isBusy };
}
