import { expect, it } from "vitest";
import { PANEL_NARROWEST, PANEL_TABS, PANEL_WIDEST, panelPath, panelTab, panelWidth } from "./panel";

it("every tab has an address that leads back to it", () => {
  for (const tab of PANEL_TABS) expect(panelTab(panelPath(tab, "a b/c"), "a b/c")).toBe(tab);
});

it("a terminal belongs to the panel; other views and other conversations do not", () => {
  expect(panelTab("/terminals/1/t-1", "relay")).toBe("terminal");
  for (const path of ["/c/relay", "/c/garden/files", "/inbox", "/worktrees", "/"])
    expect(panelTab(path, "relay")).toBeNull();
});

it("stays within what can be read", () => {
  expect([panelWidth(10), panelWidth(500.4), panelWidth(9_000)]).toEqual([PANEL_NARROWEST, 500, PANEL_WIDEST]);
});
