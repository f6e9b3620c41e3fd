/**
 * The panel beside a conversation: whether it is there, and what it shows.
 *
 * On a desk it stays as it was left, over visits. On a tablet it lies over the conversation, so it is there only when it
 * was just asked for. A phone has none.
 */
import { create } from "zustand";
import type { PanelTab } from "@/model/panel";
import { changeSettings, useSettings } from "./settings";
import { sizeNow, useSize } from "./size";

interface PanelState {
  /** Whether it lies over the conversation of a tablet. */
  isOver: boolean;
  /** The address of the terminal that is open in it, in place of their list. */
  terminal: string | null;
  /** The keyboard is to go there as soon as it is drawn. */
  isWanted: boolean;
}

export const usePanel = create<PanelState>(() => ({ isOver: false, terminal: null, isWanted: false }));

export function usePanelOpen(): boolean {
  const size = useSize();
  const isOver = usePanel((panel) => panel.isOver);
  const isBeside = useSettings((settings) => settings.isPanelOpen);
  return size === "desk" ? isBeside : size === "tablet" && isOver;
}

function isOpenNow(): boolean {
  return sizeNow() === "desk" ? useSettings.getState().isPanelOpen : usePanel.getState().isOver;
}

export function showPanel(tab: PanelTab): void {
  if (sizeNow() === "desk") changeSettings({ panelTab: tab, isPanelOpen: true });
  else changeSettings({ panelTab: tab });
  usePanel.setState({ isWanted: true, isOver: sizeNow() === "tablet" });
}

/** Its button, which takes the keyboard back from it. */
export const PANEL_BUTTON = "panel-button";

export function hidePanel(): void {
  const isInside = document.getElementById("panel")?.contains(document.activeElement) ?? false;
  if (sizeNow() === "desk") changeSettings({ isPanelOpen: false });
  usePanel.setState({ isOver: false, isWanted: false });
  // What lies under it takes no keyboard before it is drawn without it.
  if (isInside) requestAnimationFrame(() => document.getElementById(PANEL_BUTTON)?.focus());
}

export function togglePanel(): void {
  if (isOpenNow()) hidePanel();
  else showPanel(useSettings.getState().panelTab);
}
