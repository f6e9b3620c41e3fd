/** What a person decides, in a real page: what is asked is shown whole, and answered once. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PHONE, Stage } from "./browser";

const stage = new Stage();
beforeAll(() => stage.open());
afterAll(() => stage.close());

describe("deciding", () => {
  it("shows the whole command, and the card goes when it is allowed", async () => {
    const { page } = await stage.visit({ scene: "permission", size: PHONE });
    const card = page.getByRole("region", { name: "May this run?" });
    await card.getByText("relay.toml").waitFor();
    expect(await page.title()).toMatch(/^\(4\)/);
    await card.getByRole("button", { name: "Allow once" }).click();
    await card.waitFor({ state: "detached" });
    await page.getByRole("button", { name: /^Command rm -rf/ }).click();
    await page.getByText("allowed by you").waitFor();
    expect(await page.title()).toMatch(/^\(3\)/);
    await page.context().close();
  });

  it("says what is allowed for good before it is, and can be taken back until then", async () => {
    const { page } = await stage.visit({ scene: "permission", size: PHONE });
    const card = page.getByRole("region", { name: "May this run?" });
    const always = card.getByRole("button", { name: "Allow in this conversation", disabled: false });
    const asked = () =>
      page.evaluate(
        () =>
          (globalThis as unknown as { peer: { asked: string[] } }).peer.asked.filter(
            (type) => type === "claude_permission",
          ).length,
      );
    await always.click();
    await card.getByText("Every further call of Command in this conversation runs without asking").waitFor();
    await card.getByRole("button", { name: "Cancel" }).click();
    await always.waitFor();
    expect(await asked()).toBe(0);
    await always.click();
    await card.getByText("runs without asking").waitFor();
    await always.click();
    await card.waitFor({ state: "detached" });
    expect(await asked()).toBe(1);
    await page.context().close();
  });

  it("can be answered by key, with focus anywhere", async () => {
    const { page } = await stage.visit({ scene: "permission" });
    const card = page.getByRole("region", { name: "May this run?" });
    await card.getByRole("button", { name: "Deny", exact: true, disabled: false }).waitFor();
    await page.keyboard.press("Alt+d");
    await card.waitFor({ state: "detached" });
    await page.context().close();
  });

  it("answers by key what is on the screen, not what waits behind it", async () => {
    const { page } = await stage.visit({ scene: "question" });
    await page.getByRole("button", { name: "Next" }).click();
    await page.getByRole("region", { name: "Claude asks" }).getByRole("button", { name: "Answer" }).waitFor();
    await page.keyboard.press("Alt+a");
    await page.getByRole("button", { name: "Previous" }).click();
    const card = page.getByRole("region", { name: "May this be changed?" });
    await card.getByRole("button", { name: "Allow once", disabled: false }).waitFor();
    await page.context().close();
  });

  it("takes no press on a card that has just come in the place of another", async () => {
    const { page } = await stage.visit({ scene: "permission", size: PHONE });
    const card = page.getByRole("region", { name: "May this run?" });
    await card.getByRole("button", { name: "Allow once", disabled: false }).waitFor();
    const isStill = await page.evaluate(async () => {
      const { peer } = globalThis as unknown as { peer: { pour(id: string, events: unknown[]): void } };
      const gone = { type: "decisionAnswered", toolUseId: "t7", state: "void" };
      const next = {
        type: "permission_request",
        toolUseId: "next",
        toolName: "Bash",
        toolInput: { command: "rm -rf ~" },
      };
      const allow = () => [...document.querySelectorAll("button")].find((one) => one.textContent === "Allow once");
      const pressed = new Promise<void>((done) => {
        // At the very moment at which it comes.
        const observer = new MutationObserver(() => {
          if (!document.body.textContent.includes("rm -rf ~")) return;
          observer.disconnect();
          allow()?.click();
          done();
        });
        observer.observe(document.body, { childList: true, subtree: true, characterData: true });
      });
      peer.pour("relay", [next, gone]);
      await pressed;
      for (const _ of [1, 2, 3]) await new Promise(requestAnimationFrame);
      return allow() !== undefined;
    });
    expect(isStill).toBe(true);
    await card.getByRole("button", { name: "Allow once", disabled: false }).click();
    await card.waitFor({ state: "detached" });
    await page.context().close();
  });

  it("makes a conversation once, however often and late it is pressed", async () => {
    const { page } = await stage.visit({ scene: "fresh" });
    await page.getByText("Say what you want done.").waitFor();
    await page.keyboard.press("Alt+n");
    const dialog = page.getByRole("dialog", { name: "New conversation" });
    await dialog.getByRole("textbox", { name: "Name" }).fill("Twice");
    await dialog.getByRole("button", { name: "Create" }).evaluate((button) => {
      for (const _ of [1, 2, 3]) (button as HTMLElement).click();
    });
    await page.getByRole("heading", { name: "Twice" }).waitFor();
    const asked = await page.evaluate(() => (globalThis as unknown as { peer: { asked: string[] } }).peer.asked);
    expect(asked.filter((type) => type === "conversation_create")).toHaveLength(1);
    await page.context().close();
  });

  it("does not take an answer to questions before every question has one", async () => {
    const { page } = await stage.visit({ scene: "question" });
    await page.getByRole("button", { name: "Next" }).click();
    const answer = page.getByRole("button", { name: "Answer" });
    await page.getByLabel(/^SQLite/).check();
    expect(await answer.isDisabled()).toBe(true);
    await page.getByLabel(/^Rate limits/).check();
    await page.getByLabel("Something else").nth(1).check();
    await page.getByLabel("Your own answer").fill("Backups");
    await answer.click();
    await page.getByText("Where should sessions").waitFor({ state: "detached" });
    await page.context().close();
  });

  it("leads from a conversation on a phone to what waits elsewhere, in one tap", async () => {
    const { page } = await stage.visit({ scene: "permission", size: PHONE });
    await page.getByRole("region", { name: "May this run?" }).waitFor();
    await page.getByRole("link", { name: "Inbox: 3" }).click();
    await page.getByRole("heading", { name: "Inbox" }).waitFor();
    await page.context().close();
  });
});
