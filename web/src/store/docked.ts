/**
 * Which decision is on the screen, and since when.
 *
 * Cards come and go by themselves. One that has just come under a finger takes no answer for a moment: what somebody
 * presses must be what they have seen.
 */
import { useEffect, useState } from "react";
import { create } from "zustand";
import { type Call, type Decision, isSameCall } from "@/model/decisions";
import { useApp } from "./app";

/** How long a card must have stood still before it takes an answer, in milliseconds. */
export const STEADY_MS = 500;

interface Docked {
  call: Call | null;
  since: number;
}

export const useDocked = create<Docked>(() => ({ call: null, since: 0 }));

/** The dock shows this call now, or none. */
export function showDocked(call: Call | null): void {
  const before = useDocked.getState().call;
  if (before === call || (before && call && isSameCall(before, call))) return;
  useDocked.setState({ call, since: Date.now() });
}

/** What a key may answer: the decision of this conversation that is on the screen and stood still. */
export function answerable(conversationId: string | null, now: number): Decision | undefined {
  const { call, since } = useDocked.getState();
  if (!call || call.conversationId !== conversationId || now - since < STEADY_MS) return undefined;
  return useApp.getState().world.decisions.find((one) => isSameCall(one, call));
}

/** Whether what is named by `key` has stood still long enough to be pressed. */
export function useSteady(key: string): boolean {
  const [steady, setSteady] = useState<string | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setSteady(key), STEADY_MS);
    return () => clearTimeout(timer);
  }, [key]);
  return steady === key;
}
