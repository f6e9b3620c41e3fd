/**
 * The person's choices on this device: language, theme, how messages are sent. Kept, and shared by all views.
 */
import { create } from "zustand";
import type { OnBusy } from "@/gen";
import { type Language, preferredLanguage } from "@/i18n";
import { load, save } from "./storage";

export type Theme = "system" | "light" | "dark";

export interface Settings {
  language: Language;
  theme: Theme;
  /** Whether Enter sends; otherwise Ctrl or Command with Enter does. */
  enterSends: boolean;
  onBusy: OnBusy;
  sidebarWidth: number;
}

const FIRST: Settings = {
  language: preferredLanguage(typeof navigator === "undefined" ? [] : navigator.languages),
  theme: "system",
  enterSends: typeof matchMedia === "undefined" || !matchMedia("(pointer: coarse)").matches,
  onBusy: "inject",
  sidebarWidth: 304,
};

export const useSettings = create<Settings>(() => ({ ...FIRST, ...load<Partial<Settings>>("settings", {}) }));

export function changeSettings(change: Partial<Settings>): void {
  useSettings.setState(change);
  save("settings", useSettings.getState());
}
