/** The first picture of a visit: what an earlier one kept, as old, until the machine says how it is. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PHONE, Stage } from "./browser";

const stage = new Stage();
beforeAll(() => stage.open());
afterAll(() => stage.close());

const LAST = "Shall I also note it";
const arrive = (page: Page) =>
  page.evaluate(() => (globalThis as unknown as { peer: { arrive(): void } }).peer.arrive());
const plain = (page: Page) => page.evaluate((words) => JSON.stringify(localStorage).includes(words), LAST);

/** Somebody read a conversation and left. */
async function read(size?: typeof PHONE): Promise<Page> {
  const { page } = await stage.visit({ scene: "chat", size });
  await page.getByText(LAST).waitFor();
  await page.goto("about:blank");
  return page;
}

describe("a visit", () => {
  it("begins with what was read last, says that it is old, and joins what comes without doubling it", async () => {
    const before = await read(PHONE);
    const { page } = await stage.visit({ scene: "chat", more: "&keep&hold", beside: before });
    await page.getByText(LAST).waitFor();
    await page.getByText("As it was on").waitFor();
    expect(await page.getByText("The machine is not connected").count()).toBe(0);
    expect(await page.getByText("offline", { exact: true }).count()).toBe(0);
    expect(await page.getByText("Beginning of the conversation").count()).toBe(0);
    await arrive(page);
    await page.getByText("As it was on").waitFor({ state: "detached" });
    expect(await page.getByText(LAST).count()).toBe(1);
    const words = await page.locator("[data-row]").allTextContents();
    const long = words.filter((one) => one.length > 40);
    expect(new Set(long).size).toBe(long.length);
    await page.context().close();
  });

  it("shows it also when nothing can be reached", async () => {
    const before = await read();
    const { page } = await stage.visit({ scene: "lost", more: "&keep", beside: before });
    await page.getByText(LAST).waitFor();
    await page.getByText("As it was on").waitFor();
    await page.getByText("What you see may be old.").waitFor();
    await page.context().close();
  });

  it("guesses nothing while it first connects", async () => {
    const before = await read();
    const { page } = await stage.visit({ scene: "failed", more: "&keep&hold", beside: before });
    await page
      .getByRole("log")
      .getByRole("status", { name: "Loading the conversation" })
      .or(page.getByRole("status", { name: "Connecting…" }))
      .first()
      .waitFor();
    expect(await page.getByText("The machine is not connected").count()).toBe(0);
    await page.getByText("Connecting…").first().waitFor();
    await arrive(page);
    await page.getByText("API Error").first().waitFor();
    await page.context().close();
  });
});

describe("what was kept", () => {
  it("is gone when the device signs out", async () => {
    const before = await read();
    const { page } = await stage.visit({ scene: "settings", more: "&keep", beside: before });
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    expect(await plain(page)).toBe(true);
    await page.getByRole("button", { name: "Sign out" }).click();
    const sure = page.getByRole("button", { name: /Sign out/ }).last();
    await Promise.all([page.waitForEvent("load"), sure.click()]);
    expect(await plain(page)).toBe(false);
    await page.context().close();
  });

  it("is gone when the device is turned away, and nothing of it is shown", async () => {
    const before = await read();
    const { page } = await stage.visit({ scene: "chat", more: "&keep&refuse", beside: before });
    await page.getByText("Pair it again").waitFor();
    expect(await plain(page)).toBe(false);
    expect(await page.getByText(LAST).count()).toBe(0);
    await page.context().close();
  });

  it("is gone with its conversation", async () => {
    const before = await read();
    const { page } = await stage.visit({ scene: "chat", more: "&keep", beside: before });
    await page.getByText(LAST).waitFor();
    expect(await plain(page)).toBe(true);
    await page.evaluate(() => {
      const { peer } = globalThis as unknown as { peer: { say(message: unknown): void } };
      const payload = { deviceId: 1, deviceInfo: { name: "Selene", icon: "" }, workspaces: [], success: true };
      peer.say({ type: "workspace_list_result", payload: { ...payload, activeConversationId: null } });
    });
    await expect.poll(() => plain(page)).toBe(false);
    await page.context().close();
  });
});
