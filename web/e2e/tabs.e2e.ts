/** Two tabs of one device: neither loses what was written in the other. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Stage } from "./browser";

const stage = new Stage();
beforeAll(() => stage.open());
afterAll(() => stage.close());

const field = (page: Page) => page.locator("#composer");

async function go(page: Page, conversationId: string): Promise<void> {
  await page.evaluate((id) => {
    location.hash = `/c/${id}`;
  }, conversationId);
  await field(page).waitFor();
}

describe("two tabs", () => {
  it("keep what was written in each without a connection, also when both are loaded anew", async () => {
    const { page: one } = await stage.visit({ scene: "chat", more: "&keep" });
    await field(one).waitFor();
    const { page: two } = await stage.visit({ scene: "chat", more: "&keep", beside: one });
    await field(two).waitFor();
    for (const page of [one, two]) {
      await page.evaluate(() => (globalThis as unknown as { peer: { leave(): void } }).peer.leave());
      await page.getByText("Connection lost").first().waitFor();
    }
    await field(one).fill("written in the first tab");
    await field(one).press("Enter");
    await field(two).fill("written in the second tab");
    await field(two).press("Enter");
    // A person sees both at once, and still when both tabs begin anew.
    for (const page of [one, two]) await page.getByText("written in the first tab").first().waitFor();
    await go(one, "deps");
    await field(one).fill("a draft here");
    await go(two, "garden");
    await field(two).fill("a draft there");
    await Promise.all([one, two].map((page) => page.goto("about:blank")));
    const { page: later } = await stage.visit({ scene: "lost", more: "&keep", beside: one });
    await go(later, "relay");
    await later.getByText("written in the first tab").first().waitFor();
    await later.getByText("written in the second tab").first().waitFor();
    await go(later, "deps");
    await expect.poll(() => field(later).inputValue()).toBe("a draft here");
    await go(later, "garden");
    await expect.poll(() => field(later).inputValue()).toBe("a draft there");
    await later.context().close();
  });

  it("send once what was written in one of them, and both know it arrived", async () => {
    const { page: one } = await stage.visit({ scene: "fresh", more: "&keep" });
    await field(one).waitFor();
    const { page: two } = await stage.visit({ scene: "fresh", more: "&keep", beside: one });
    await field(two).waitFor();
    await field(one).fill("half a thought");
    await expect.poll(() => field(two).inputValue()).toBe("half a thought");
    await field(one).press("Enter");
    await expect.poll(() => field(two).inputValue()).toBe("");
    await expect
      .poll(() => one.evaluate(() => Object.keys(localStorage).filter((name) => name.includes("outbox"))))
      .toEqual([]);
    await one.context().close();
  });
});
