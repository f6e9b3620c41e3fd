/** The panel beside a conversation: on a desk it stays as it was left, on a tablet it slides over, a phone has none. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seriousFindings } from "./axe";
import { DESK, PHONE, Stage } from "./browser";
import { settle } from "./scenes";

const stage = new Stage();
beforeAll(() => stage.open());
afterAll(() => stage.close());

const TABLET = { width: 820, height: 1180 };
const TABS = {
  Changes: "fix/two-frames",
  Files: "README.md",
  Tasks: "Pending",
  Terminals: "New shell",
  Use: "By model",
};

const panelOf = (page: Page) => page.getByRole("complementary", { name: "Beside the conversation" });
const talk = (page: Page) => page.getByText("Shall I also note it");
const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent ?? "");

describe("on a desk", () => {
  it("shows changes, files, tasks, terminals and use beside the conversation, which stays", async () => {
    const { page, errors } = await stage.visit({ scene: "chat" });
    await settle(page, "chat");
    await page.getByRole("button", { name: "Side panel (Alt P)" }).click();
    for (const [tab, shown] of Object.entries(TABS)) {
      await panelOf(page).getByRole("tab", { name: tab }).click();
      await panelOf(page).getByRole("tabpanel", { name: tab }).getByText(shown).first().waitFor();
      expect(await talk(page).isVisible()).toBe(true);
      expect(await seriousFindings(page)).toEqual([]);
    }
    expect(errors).toEqual([]);
    await page.context().close();
  });

  it("opens a terminal inside it, and ways out of it lead on in the page", async () => {
    const { page } = await stage.visit({ scene: "chat", more: "&panel=terminal" });
    await panelOf(page).locator("a[href$='/t-shell']").click();
    await panelOf(page).locator(".xterm-rows > div").filter({ hasText: "FAILED" }).first().waitFor();
    expect(await talk(page).isVisible()).toBe(true);
    // Another tab in between, and the terminal is still there.
    await panelOf(page).getByRole("tab", { name: "Use" }).click();
    await panelOf(page).getByRole("tab", { name: "Terminals" }).click();
    await panelOf(page).locator(".xterm-rows > div").filter({ hasText: "FAILED" }).first().waitFor();
    await panelOf(page).locator(".xterm").click();
    await page.keyboard.press("Control+]");
    await page.keyboard.press("Enter");
    await panelOf(page).getByRole("button", { name: "New shell" }).first().waitFor();
    await panelOf(page).getByRole("tab", { name: "Tasks" }).click();
    await panelOf(page).getByRole("link", { name: "Watch" }).click();
    await page.waitForFunction(() => location.hash !== "#/c/relay");
    await page.context().close();
  });

  it("keeps its tab and its width over a reload, and can be drawn with keys and by hand", async () => {
    const { page } = await stage.visit({ scene: "chat", more: "&panel=files" });
    const edge = page.getByRole("separator", { name: "Width of the side panel" });
    await edge.waitFor();
    const before = (await panelOf(page).boundingBox())?.width ?? 0;
    await edge.focus();
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowLeft");
    expect((await panelOf(page).boundingBox())?.width).toBe(before + 32);
    const box = await edge.boundingBox();
    if (!box) throw new Error("there is no edge");
    await page.mouse.move(box.x + 4, 400);
    await page.mouse.down();
    await page.mouse.move(box.x + 64, 400);
    await page.mouse.up();
    const drawn = (await panelOf(page).boundingBox())?.width ?? 0;
    expect(Math.abs(drawn - (before - 28))).toBeLessThan(6);
    await page.goto(`${stage.address}?scene=chat&keep=1`);
    await panelOf(page).getByRole("tab", { name: "Files", selected: true }).waitFor();
    expect((await panelOf(page).boundingBox())?.width).toBe(drawn);
    await page.context().close();
  });

  it("opens and closes by key and from the palette, and gives the keyboard back", async () => {
    const { page } = await stage.visit({ scene: "chat" });
    await settle(page, "chat");
    await page.keyboard.press("Alt+p");
    await panelOf(page).getByText("fix/two-frames").waitFor();
    await expect.poll(() => focused(page)).toBe("Changes");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    await panelOf(page).getByRole("tabpanel", { name: "Files" }).getByText("README.md").first().waitFor();
    await page.keyboard.press("Escape");
    await panelOf(page).waitFor({ state: "detached" });
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe("panel-button");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("side panel: use");
    await page.keyboard.press("Enter");
    await panelOf(page).getByRole("tabpanel", { name: "Use" }).getByText("By model").waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard" }).getByText("Side panel").waitFor();
    await page.context().close();
  });

  it("opens at the folder's own address, which a menu or a bookmark leads to", async () => {
    const { page } = await stage.visit({ scene: "changes" });
    await panelOf(page).getByText("two_frames.rs").waitFor();
    await page.getByRole("heading", { name: "May this run?" }).waitFor();
    await page.waitForFunction(() => location.hash === "#/c/relay");
    await page.context().close();
  });

  it("leaves a conversation room to be read at the narrowest desk", async () => {
    const { page } = await stage.visit({ scene: "chat", size: { ...DESK, width: 1024 }, more: "&panel=changes" });
    await panelOf(page).getByText("fix/two-frames").waitFor();
    const { width = 0 } = (await page.getByRole("main").boundingBox()) ?? {};
    expect(width).toBeGreaterThanOrEqual(360);
    expect(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)).toBe(false);
    await page.context().close();
  });
});

describe("on a tablet", () => {
  it("slides over the conversation, which is out of reach until it is closed", async () => {
    const { page } = await stage.visit({ scene: "chat", size: TABLET });
    await settle(page, "chat");
    await page.getByRole("button", { name: "Side panel (Alt P)" }).click();
    await panelOf(page).getByText("fix/two-frames").waitFor();
    const [panel, main] = [await panelOf(page).boundingBox(), await page.locator("#main").boundingBox()];
    expect((panel?.x ?? 0) + (panel?.width ?? 0)).toBe(TABLET.width);
    expect((main?.x ?? 0) + (main?.width ?? 0)).toBe(TABLET.width);
    expect(await page.locator("#main").evaluate((one) => (one as HTMLElement).inert)).toBe(true);
    expect(await seriousFindings(page)).toEqual([]);
    await page.mouse.click(100, 1_000);
    await panelOf(page).waitFor({ state: "detached" });
    expect(await page.locator("#main").evaluate((one) => (one as HTMLElement).inert)).toBe(false);
    await page.context().close();
  });
});

describe("on a phone", () => {
  it("has no panel: the folder is a view of its own", async () => {
    const { page } = await stage.visit({ scene: "changes", size: PHONE, more: "&panel=usage" });
    await page.getByText("two_frames.rs").waitFor();
    expect(await panelOf(page).count()).toBe(0);
    expect(await page.evaluate(() => location.hash)).toBe("#/c/relay/changes");
    await page.context().close();
  });
});
