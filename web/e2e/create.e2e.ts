/** Something new is there at once, and can be written in without another press. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PHONE, Stage } from "./browser";

const stage = new Stage();
beforeAll(() => stage.open());
afterAll(() => stage.close());

describe("what was made", () => {
  it("takes the words that are typed right after it, and is never said to be gone", async () => {
    const { page } = await stage.visit({ scene: "chat" });
    await page.getByText("Shall I also note it").waitFor();
    await page.evaluate(() => {
      const seen: string[] = [];
      Object.assign(globalThis, { seen });
      new MutationObserver(() => {
        if (document.body.textContent.includes("is not there any more")) seen.push("gone");
      }).observe(document.body, { childList: true, subtree: true });
    });
    await page.keyboard.press("Alt+n");
    const dialog = page.getByRole("dialog", { name: "New conversation" });
    await dialog.getByLabel("Name").fill("Seeds");
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    await page.waitForFunction(() => document.activeElement?.id === "composer");
    await page.keyboard.type("Sow the basil");
    await page.keyboard.press("Enter");
    await page.getByRole("log").getByText("Sow the basil").waitFor();
    await page.getByRole("heading", { level: 1, name: "Seeds" }).waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
    expect(await page.evaluate(() => (globalThis as unknown as { seen: string[] }).seen)).toEqual([]);
    await page.context().close();
  });

  it("is a workspace, too", async () => {
    const { page } = await stage.visit({ scene: "chat" });
    await page.getByText("Shall I also note it").waitFor();
    await page.getByRole("button", { name: "New workspace" }).first().click();
    const dialog = page.getByRole("dialog", { name: "New workspace" });
    await dialog.getByRole("button", { name: "thesis" }).click();
    await dialog.getByRole("button", { name: "Create" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.waitForFunction(() => document.activeElement?.id === "composer");
    await page.getByText("Say what you want done.").waitFor();
    await page.context().close();
  });

  it("raises no keyboard on a phone", async () => {
    const { page } = await stage.visit({ scene: "list", size: PHONE });
    await page.getByRole("button", { name: "New conversation" }).first().click();
    const dialog = page.getByRole("dialog", { name: "New conversation" });
    await dialog.getByRole("button", { name: "Create" }).click();
    await page.getByText("Say what you want done.").waitFor();
    const isCoarse = await page.evaluate(() => matchMedia("(pointer: coarse)").matches);
    if (isCoarse) expect(await page.evaluate(() => document.activeElement?.id)).not.toBe("composer");
    await page.context().close();
  });
});
