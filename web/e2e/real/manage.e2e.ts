/** What the owner of a machine does with it besides talking: branches, searches, devices, workspaces. */
import { beforeEach, describe, expect, it } from "vitest";
import { seriousFindings } from "../axe";
import { PHONE } from "../browser";
import type { Device } from "./device";
import { hasMachine, script } from "./machine";
import { rig } from "./rig";

describe.skipIf(!hasMachine)("managing a real machine", () => {
  const stage = rig({ workspace: "garden" });
  let desk: Device;

  beforeEach(async () => {
    desk = await stage.open("Desk", { rights: "view,prompt,approve,admin" });
  });

  const second = script("Second.", { say: "Two basils" });

  /** A conversation of two turns. */
  async function twoTurns(): Promise<void> {
    await desk.makeConversation(`Basil ${stage.next()}`);
    await desk.send(script("First.", { say: "One basil" }));
    await desk.said("One basil").waitFor();
    await desk.log.getByText("Done").waitFor();
    await desk.send(second);
    await desk.said("Two basils").waitFor();
    await expect.poll(() => desk.log.getByText("Done").count()).toBe(2);
  }

  it("calls a conversation by what was asked first, as long as nobody has named it", async () => {
    const { page } = desk;
    stage.machine.write("home/shed/rake.txt", "iron\n");
    await desk.makeWorkspace("shed");
    await desk.send(script("First.", { say: "One basil" }));
    await page.getByRole("heading", { name: /^First\. SCRIPT/ }).waitFor();
  });

  it("branches from a message: all before it is there, the message waits to be changed, the old one stays", async () => {
    const { page } = desk;
    await twoTurns();
    const old = page.url();
    await page.getByRole("article", { name: "You" }).filter({ hasText: "Second." }).getByRole("button").click();
    await page.getByRole("button", { name: /^Branch from here/ }).click();
    await page.waitForURL((url) => url.href !== old);
    await desk.said("One basil").waitFor();
    await expect.poll(() => desk.field.inputValue()).toBe(second);
    expect(await desk.said("Two basils").count()).toBe(0);
    await desk.send(script("Another second.", { say: "Three basils" }));
    await desk.said("Three basils").waitFor();
    await page.goto(old);
    await desk.said("Two basils").waitFor();
    expect(await desk.said("Three basils").count()).toBe(0);
  });

  it("rewinds to a message: what came after is still there to read, and the message waits to be changed", async () => {
    const { page } = desk;
    await twoTurns();
    const message = page.getByRole("article", { name: "You" }).filter({ hasText: "Second." });
    await message.getByRole("button").click();
    await page.getByRole("button", { name: /^Rewind to here/ }).click();
    expect(await page.getByRole("dialog").count()).toBe(1);
    await page.getByRole("button", { name: /^Press again to rewind/ }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await expect.poll(() => desk.field.inputValue()).toMatch(/^Second\./);
    await desk.said("Two basils").waitFor();
    await desk.send(script("Rewound.", { say: "Four basils" }));
    await desk.said("Four basils").waitFor();
  });

  it("finds words in the conversation on the screen, and not those of others", async () => {
    const { page } = desk;
    await desk.makeConversation("Mint alone");
    await desk.send(script("Count.", { say: "Three mints" }));
    await desk.said("Three mints").waitFor();
    await twoTurns();
    await page.keyboard.press("Alt+f");
    const field = page.getByRole("searchbox", { name: "Search in this conversation" });
    await field.fill("basils");
    const bar = page.getByRole("search");
    await bar.getByText("1 of").waitFor();
    await field.fill("Three mints");
    await bar.getByText("Nothing found.").waitFor();
    await field.press("Escape");
    await bar.waitFor({ state: "detached" });
  });

  it("sets what a day and a conversation may cost, refuses what makes no sense, and takes it away", async () => {
    const { page } = desk;
    const name = `Basil ${stage.next()}`;
    await desk.makeConversation(name);
    await page.goto(`${stage.machine.address}/#/usage`);
    const budgets = page.getByRole("region", { name: /^Budgets of/ });
    await budgets.getByText("No budgets").waitFor();
    const form = budgets.getByRole("form", { name: "Set the budget" });
    const set = form.getByRole("button", { name: "Set the budget" });
    await form.getByLabel("Warn at").fill("6");
    await form.getByLabel("Stop at").fill("5");
    await form.getByText("The warning is above the stop").waitFor();
    expect(await set.isDisabled()).toBe(true);
    await form.getByLabel("Warn at").fill("2,50");
    await set.click();
    const day = budgets.getByRole("listitem").filter({ hasText: "The day" });
    await day.getByText("warns at $2.50 · stops at $5.00").waitFor();
    await form.getByLabel("For what").selectOption({ label: name });
    await form.getByLabel("Stop at").fill("0.01");
    await set.click();
    await budgets.getByRole("listitem").filter({ hasText: name }).getByText("stops at $0.01").waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    for (const one of [name, "The day"])
      await budgets.getByRole("button", { name: `Remove the budget: ${one}` }).click();
    await budgets.getByText("No budgets").waitFor();
  });

  it("lets the owner's phone manage: it sees the devices, changes their rights and takes them out", async () => {
    const { link, agree } = await stage.machine.pair();
    await desk.makeConversation("Basil for guests");
    const phone = await stage.come("phone", { size: PHONE });
    await phone.page.getByLabel("Link").fill(link);
    await phone.page.getByLabel("Name of this device").fill("Phone of Ada");
    await phone.page.getByRole("button", { name: "Pair" }).click();
    await phone.page.getByText("Confirm at the machine").waitFor();
    await agree("a");
    const guest = await stage.open("Tablet", { rights: "view" });
    await guest.enter("Basil for guests");
    await expect.poll(() => guest.field.isDisabled()).toBe(true);

    await phone.page.getByRole("link", { name: "Settings" }).click();
    const tablet = phone.page.getByRole("listitem").filter({ hasText: "Tablet" }).filter({ hasText: "May look" });
    await tablet.getByRole("button", { name: "Rights" }).click();
    await tablet.getByLabel("write").check();
    await tablet.getByRole("button", { name: "Save" }).click();
    await expect.poll(() => guest.field.isDisabled()).toBe(false);

    await tablet.getByRole("button", { name: "Revoke" }).click();
    await phone.page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await guest.page.getByText("Pair it again").waitFor();
    await expect.poll(() => tablet.count()).toBe(0);
  });

  it("renames a workspace and takes it away, and says that the folder stays", async () => {
    const { page } = desk;
    stage.machine.write("home/balcony/pot.txt", "clay\n");
    await desk.makeWorkspace("balcony");
    await page.getByRole("button", { name: "Actions for balcony" }).click();
    await page.getByRole("menuitem", { name: "Rename" }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("Allotment");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: "Allotment", exact: true }).waitFor();
    await page.getByRole("button", { name: "Actions for Allotment" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByRole("dialog").getByText("The folder and its files stay.").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Yes, delete" }).click();
    await page.getByRole("button", { name: "Allotment", exact: true }).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "garden", exact: true }).waitFor();
    expect(stage.machine.read("home/balcony/pot.txt")).toBe("clay\n");
  });
});
