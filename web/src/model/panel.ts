/** The panel beside a conversation: what it can show, and which address inside it belongs to what. Pure. */

/** In the order of their tabs. */
export const PANEL_TABS = ["changes", "files", "tasks", "terminal", "usage"] as const;
export type PanelTab = (typeof PANEL_TABS)[number];

/** Narrower it shows nothing well, wider the conversation does not; in pixels. */
export const PANEL_NARROWEST = 300;
export const PANEL_WIDEST = 960;

export function panelWidth(wished: number): number {
  return Math.round(Math.min(PANEL_WIDEST, Math.max(PANEL_NARROWEST, wished)));
}

/** Where a tab begins, for the conversation beside it. */
export function panelPath(tab: PanelTab, conversationId: string): string {
  switch (tab) {
    case "changes":
    case "files":
      return `/c/${encodeURIComponent(conversationId)}/${tab}`;
    case "tasks":
      return "/work";
    case "terminal":
      return "/terminals";
    case "usage":
      return "/usage";
  }
}

/** The tab that shows an address, if the panel does. Another conversation's folder is shown beside that one. */
export function panelTab(path: string, conversationId: string): PanelTab | null {
  if (path.startsWith("/terminals/")) return "terminal";
  return PANEL_TABS.find((tab) => panelPath(tab, conversationId) === path) ?? null;
}
