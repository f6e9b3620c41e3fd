/** A screen and the look at a terminal behind it, for as long as both are there: the one place that brings them together. */
import { type RefObject, useCallback, useEffect, useRef, useState } from "react";
import type { Terminal, TerminalSize } from "@/gen";
import type { Refusal } from "@/model/refusal";
import { type BarKey, withControl } from "@/model/terminals";
import { type Look, watch } from "@/store/terminal-acts";
import { useText } from "@/store/text";
import { Screen } from "./screen";
import type { Ending } from "./words";

export interface Terminals {
  known: Terminal | null;
  ending: Ending | null;
  refusal: Refusal | null;
  /** The size that somebody else gave it, if it is not the one of this page. */
  otherSize: TerminalSize | null;
  isControl: boolean;
  setControl(isControl: boolean): void;
  press(key: BarKey): void;
  paste(text: string): void;
  setSpoken(isSpoken: boolean): void;
  fit(): void;
}

export interface TerminalTarget {
  root: RefObject<HTMLDivElement | null>;
  deviceId: number;
  terminalId: string;
  isOnline: boolean;
  /** Leads the keyboard out of the terminal. */
  leave: () => void;
}

/** A window that is being drawn to another size says so once. */
const SETTLE_MS = 120;

export function useTerminal({ root, deviceId, terminalId, isOnline, leave }: TerminalTarget): Terminals {
  const label = useText().terminal.input;
  const screen = useRef<Screen | null>(null);
  const look = useRef<Look | null>(null);
  const control = useRef(false);
  const [isControl, showControl] = useState(false);
  const [known, setKnown] = useState<Terminal | null>(null);
  const [ending, setEnding] = useState<Ending | null>(null);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [otherSize, showOtherSize] = useState<TerminalSize | null>(null);
  /** The size that this page asked for last: another one is somebody else's. */
  const asked = useRef<TerminalSize | null>(null);
  const isOthers = useRef(false);
  const setControl = useCallback((next: boolean) => {
    control.current = next;
    showControl(next);
  }, []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: other words are no reason for another screen.
  useEffect(() => {
    if (!root.current) return;
    const typed = (data: string) => {
      look.current?.type(control.current ? withControl(data) : data);
      if (control.current) setControl(false);
    };
    const made = new Screen(root.current, label, { typed, pasted: (text) => look.current?.paste(text), left: leave });
    screen.current = made;
    made.focus();
    return () => {
      screen.current = null;
      made.dispose();
    };
  }, [root, setControl, leave]);

  useEffect(() => {
    const made = screen.current;
    if (!made || !isOnline) return;
    setRefusal(null);
    asked.current = made.room;
    const current = watch(deviceId, terminalId, asked.current ?? undefined, {
      attached: (terminal) => {
        setKnown(terminal);
        setEnding(terminal.state === "running" ? null : terminal);
      },
      output: (data, size, done) => {
        made.show(data, size, done);
        if (!size) return;
        isOthers.current = !isSame(size, asked.current) && !isSame(size, made.room);
        showOtherSize(isOthers.current ? size : null);
      },
      ended: setEnding,
      refused: setRefusal,
    });
    look.current = current;
    return () => {
      look.current = null;
      current.leave();
    };
  }, [deviceId, terminalId, isOnline]);

  const fit = useCallback(() => {
    const room = screen.current?.room;
    if (!room || !screen.current || isSame(room, screen.current.size)) return;
    asked.current = room;
    look.current?.resize(room);
  }, []);
  useEffect(() => {
    if (!root.current) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isFirst = true;
    const observer = new ResizeObserver(() => {
      // It tells the size that there is when it begins.
      if (isFirst) isFirst = false;
      else {
        clearTimeout(timer);
        // Whoever chose another size keeps it until somebody here asks for this one.
        timer = setTimeout(() => isOthers.current || fit(), SETTLE_MS);
      }
    });
    observer.observe(root.current);
    return () => {
      clearTimeout(timer);
      observer.disconnect();
    };
  }, [root, fit]);

  return {
    known,
    ending,
    refusal,
    otherSize,
    isControl,
    setControl,
    press: useCallback((key) => screen.current?.press(key), []),
    paste: useCallback((text) => look.current?.paste(text), []),
    setSpoken: useCallback((isSpoken) => screen.current?.setSpoken(isSpoken), []),
    fit,
  };
}

function isSame(one: TerminalSize, other: TerminalSize | null): boolean {
  return other !== null && one.cols === other.cols && one.rows === other.rows;
}
