/** The views of the stand-in, each with what is on the screen once it is there, in every language. */
import type { Locator, Page } from "playwright-core";

export const SHOWN: Record<string, (page: Page) => Locator> = {
  chat: (page) => page.getByText("Shall I also note it"),
  permission: (page) => page.getByText("relay.toml").first(),
  question: (page) => page.getByText("plants.ts").first(),
  plan: (page) => page.getByText("Move the photo sync").first(),
  working: (page) => page.getByText("I am comparing the bibliography"),
  failed: (page) => page.getByText("API Error").first(),
  fresh: (page) => page.locator("#composer"),
  hostile: (page) => page.getByText("cat invoice").first(),
  changes: (page) => page.getByText("two_frames.rs").first(),
  files: (page) => page.getByText("README.md").first(),
  inbox: (page) => page.locator("article").first(),
  list: (page) => page.locator("a[href$='/c/relay']:visible").first(),
  settings: (page) => page.locator("main table"),
  usage: (page) => page.locator("main figure li").first(),
  rules: (page) => page.locator("main li code").first(),
  work: (page) => page.locator("main h2").first(),
  terminals: (page) => page.locator("main a[href$='/t-shell']"),
  terminal: (page) => page.locator(".xterm-rows > div").filter({ hasText: "FAILED" }).first(),
  worktrees: (page) => page.getByText("rewrite-the-pairing-guide").first(),
  deploy: (page) => page.locator("main ol li").first(),
  saved: (page) => page.locator("main a[href*='saved-1']"),
  pairing: (page) => page.locator("input").first(),
  lost: (page) => page.locator("[role=status] button"),
  empty: (page) => page.locator("main p").first(),
};

/** Waits until a scene is what it will be. */
export async function settle(page: Page, scene: string): Promise<void> {
  const shown = SHOWN[scene];
  if (!shown) throw new Error(`nobody knows what ${scene} shows`);
  await shown(page).waitFor();
  // Fonts and the first layout of the list come with the next frames.
  await page.evaluate(() => document.fonts.ready);
  await page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(undefined)))),
  );
}
