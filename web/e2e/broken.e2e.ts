/** What cannot be loaded, drawn or read takes nothing else with it, and says what to do. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Stage } from "./browser";

const stage = new Stage();
beforeAll(() => stage.open());
afterAll(() => stage.close());

/** Lets the machine say something that no machine of today says. */
function say(page: Page, events: unknown[]): Promise<void> {
  return page.evaluate((said) => {
    (globalThis as unknown as { peer: { pour(id: string, events: unknown[]): void } }).peer.pour("relay", said);
  }, events);
}

describe("a part that fails", () => {
  it("a view whose file is gone says so and can be reloaded, and the list beside it stays", async () => {
    const { page } = await stage.visit({ scene: "chat" });
    await page.getByText("Shall I also note it").waitFor();
    // As after a deploy: the names of files have other hashes, and the old ones are gone.
    await page.route(/\/assets\/settings-/, (route) => route.fulfill({ status: 404 }));
    await page.getByRole("link", { name: "Settings" }).click();
    const alert = page.getByRole("alert");
    await alert.getByText("A part of the app could not be loaded").waitFor();
    expect(await page.getByRole("navigation", { name: "Conversations" }).isVisible()).toBe(true);
    await page.unroute(/\/assets\/settings-/);
    await alert.getByRole("button", { name: "Reload the page" }).click();
    await page.getByText("Shall I also note it").waitFor();
    await page.getByRole("link", { name: "Settings" }).click();
    await page.getByRole("heading", { name: "Settings" }).waitFor();
    await page.context().close();
  });

  it("a window whose file is gone can be closed", async () => {
    const { page } = await stage.visit({ scene: "chat" });
    await page.getByText("Shall I also note it").waitFor();
    await page.route(/\/assets\/help-/, (route) => route.abort());
    await page.keyboard.press("?");
    const window = page.getByRole("dialog");
    await window.getByText("A part of the app could not be loaded").waitFor();
    await window.getByRole("button", { name: "Close" }).click();
    await window.waitFor({ state: "detached" });
    expect(await page.getByText("Shall I also note it").isVisible()).toBe(true);
    await page.context().close();
  });

  it("an entry that cannot be drawn leaves the others and the message field", async () => {
    const { page } = await stage.visit({ scene: "chat" });
    await page.getByText("Shall I also note it").waitFor();
    await say(page, [
      { type: "textComplete", text: { is: "no text" } },
      { type: "textComplete", text: "And this can be read." },
    ]);
    await page.getByText("And this can be read.").first().waitFor();
    await page.getByText("This entry could not be shown.").waitFor();
    expect(await page.locator("#composer").isVisible()).toBe(true);
    await page.context().close();
  });

  it("a frame that cannot be read is said, and what came with it counts", async () => {
    const { page } = await stage.visit({ scene: "chat" });
    await page.getByText("Shall I also note it").waitFor();
    const asked = { type: "permission_request", toolUseId: "x", toolName: "Bash", toolInput: { command: "make all" } };
    await say(page, [{ type: "limits", limits: null }, asked]);
    await page.getByText("make all").first().waitFor();
    await page.getByText("Something from a machine could not be read").waitFor();
    await page.context().close();
  });
});
