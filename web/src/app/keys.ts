/** Keys that work everywhere. Letters go by their place on the keyboard, so that every layout and Alt work alike. */
import { useEffect } from "react";
import { find, places } from "@/model/fleet";
import { control, decide } from "@/store/acts";
import { useApp } from "@/store/app";
import { answerable } from "@/store/docked";
import { startFinding } from "@/store/finding";
import { togglePanel } from "@/store/panel";
import { sizeNow } from "@/store/size";
import type { Window } from "./windows";

export interface KeyTargets {
  currentId: string | null;
  open: (conversationId: string) => void;
  go: (path: string) => void;
  setWindow: (window: Window) => void;
}

export function useKeys({ currentId, open, go, setWindow }: KeyTargets): void {
  useEffect(() => {
    const act = (event: KeyboardEvent): boolean => {
      const key = keyName(event);
      switch (key) {
        case "palette":
        case "help":
          setWindow({ type: key });
          return true;
        case "KeyI":
          go("/inbox");
          return true;
        case "KeyJ":
          return step(currentId, 1, open);
        case "KeyK":
          return step(currentId, -1, open);
        case "KeyC":
          document.getElementById("composer")?.focus();
          return true;
        case "KeyF":
          if (currentId) startFinding(currentId);
          return currentId !== null;
        case "KeyP":
          if (currentId && sizeNow() !== "phone") togglePanel();
          return currentId !== null;
        case "KeyN":
          return createHere(currentId, setWindow);
        case "KeyS":
          return stop(currentId);
        case "KeyA":
          return answer(currentId, "allow");
        case "KeyD":
          return answer(currentId, "deny");
        default:
          return false;
      }
    };
    const onKey = (event: KeyboardEvent) => {
      if (!event.isComposing && act(event)) event.preventDefault();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [currentId, open, go, setWindow]);
}

function keyName(event: KeyboardEvent): string | null {
  if ((event.ctrlKey || event.metaKey) && event.code === "KeyK") return "palette";
  if (event.key === "?" && !isTyping(event.target)) return "help";
  return event.altKey && !event.ctrlKey && !event.metaKey ? event.code : null;
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

function step(currentId: string | null, by: number, open: (id: string) => void): boolean {
  const all = places(useApp.getState().world.fleet).map((place) => place.conversation.conversationId);
  const at = currentId === null ? -1 : all.indexOf(currentId);
  const next = all[(at + by + all.length) % all.length];
  if (next) open(next);
  return true;
}

/** Answers only what is on the screen: nobody should allow by key what they do not see. */
function answer(currentId: string | null, how: "allow" | "deny"): boolean {
  const decision = answerable(currentId, Date.now());
  if (!decision || decision.sent || decision.kind === "question") return false;
  decide(decision, how);
  return true;
}

function stop(currentId: string | null): boolean {
  const place = currentId ? find(useApp.getState().world.fleet, currentId) : undefined;
  if (place) void control(place, "stop").catch(() => undefined);
  return place !== undefined;
}

function createHere(currentId: string | null, setWindow: (window: Window) => void): boolean {
  const { fleet } = useApp.getState().world;
  const place = currentId ? find(fleet, currentId) : undefined;
  const machine = place?.machine ?? fleet.find((one) => one.isOnline);
  if (!machine) return false;
  setWindow({
    type: "create",
    deviceId: machine.deviceId,
    workspaceId: place?.workspace.workspaceId ?? machine.workspaces[0]?.workspaceId,
  });
  return true;
}
