/**
 * The person's choices on this device: language, theme, how messages are sent. Kept, and shared by all views.
 */
import { create } from "zustand";
import type { OnBusy } from "@/gen";
import { type Language, preferredLanguage } from "@/i18n";
import type { QuietHours } from "@/model/news";
import type { PanelTab } from "@/model/panel";
import { followOthers, load, save } from "./storage";

export type Theme = "system" | "light" | "dark";

export interface Settings {
  language: Language;
  theme: Theme;
  /** Whether Enter sends; otherwise Ctrl or Command with Enter does. */
  enterSends: boolean;
  onBusy: OnBusy;
  sidebarWidth: number;
  /** The panel beside a conversation on a desk: whether it is there, what it shows, how wide it is. */
  isPanelOpen: boolean;
  panelTab: PanelTab;
  panelWidth: number;
  /** Whether the system tells when somebody is needed and the page is not looked at. */
  notifies: boolean;
  /** When nobody is told. */
  quiet: QuietHours | null;
  /** Whether the person was offered to be told, and said no. */
  declined: boolean;
  /** Conversations of which nobody is told. */
  muted: readonly string[];
}

export function toggleMuted(conversationId: string): void {
  const { muted } = useSettings.getState();
  const others = muted.filter((one) => one !== conversationId);
  changeSettings({ muted: others.length < muted.length ? others : [...muted, conversationId] });
}

const FIRST: Settings = {
  language: preferredLanguage(typeof navigator === "undefined" ? [] : navigator.languages),
  theme: "system",
  enterSends: typeof matchMedia === "undefined" || !matchMedia("(pointer: coarse)").matches,
  onBusy: "inject",
  sidebarWidth: 304,
  isPanelOpen: false,
  panelTab: "changes",
  panelWidth: 460,
  notifies: false,
  quiet: null,
  declined: false,
  muted: [],
};

export const useSettings = create<Settings>(() => ({ ...FIRST, ...load<Partial<Settings>>("settings", {}) }));

export function changeSettings(change: Partial<Settings>): void {
  useSettings.setState(change);
  save("settings", useSettings.getState());
}

/** What is chosen in one tab counts in all, and no tab writes older choices over it. */
export function shareSettings(): void {
  followOthers<Partial<Settings>>("settings", (_, settings) => useSettings.setState(settings ?? FIRST));
}
