/** What the owner of a machine does with it besides talking: branches, searches, devices, workspaces. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { launch, PHONE } from "../browser";
import { Device } from "./device";
import { hasMachine, Machine, script } from "./machine";

describe.skipIf(!hasMachine)("managing a real machine", () => {
  let browser: Browser;
  let machine: Machine;
  let desk: Device;

  beforeAll(async () => {
    browser = await launch();
    machine = await Machine.start("simulator");
    const rights = "view,prompt,approve,admin";
    desk = await Device.open(browser, machine, { token: machine.device("Desk", rights) });
  });

  afterAll(async () => {
    await browser?.close();
    await machine?.stop();
  });

  it("branches from a message: all before it is there, the message waits to be changed, the old one stays", async () => {
    const { page } = desk;
    await page.getByRole("button", { name: "New workspace" }).click();
    const dialog = page.getByRole("dialog", { name: "New workspace" });
    await dialog.getByRole("button", { name: "garden" }).click();
    await expect.poll(() => dialog.getByLabel("Folder").inputValue()).toMatch(/home\/garden$/);
    await dialog.getByRole("button", { name: "Create" }).click();
    await page.getByText("Say what you want done.").waitFor();
    await desk.send(script("First.", { say: "One basil" }));
    await desk.said("One basil").waitFor();
    await desk.log.getByText("Done").waitFor();
    // Whoever has not named a conversation finds it by what they asked first.
    await page.getByRole("heading", { name: /^First\. SCRIPT/ }).waitFor();
    const second = script("Second.", { say: "Two basils" });
    await desk.send(second);
    await desk.said("Two basils").waitFor();
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
    const second = page.getByRole("article", { name: "You" }).filter({ hasText: "Second." });
    await second.getByRole("button").click();
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
    await page.keyboard.press("Alt+f");
    const field = page.getByRole("searchbox", { name: "Search in this conversation" });
    await field.fill("basils");
    const bar = page.getByRole("search");
    await bar.getByText("1 of").waitFor();
    await field.fill("Three");
    await bar.getByText("Nothing found.").waitFor();
    await field.press("Escape");
    await bar.waitFor({ state: "detached" });
  });

  it("lets the owner's phone manage: it sees the devices, changes their rights and takes them out", async () => {
    const { link, agree } = await machine.pair();
    const phone = await Device.open(browser, machine, { size: PHONE });
    await phone.page.getByLabel("Link").fill(link);
    await phone.page.getByLabel("Name of this device").fill("Phone of Ada");
    await phone.page.getByRole("button", { name: "Pair" }).click();
    await phone.page.getByText("Confirm at the machine").waitFor();
    await agree("a");
    const guest = await Device.open(browser, machine, { token: machine.device("Tablet", "view") });
    await guest.enter("First");
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
    expect(phone.errors).toEqual([]);
    await guest.close();
    await phone.close();
  });

  it("renames a workspace and takes it away, and says that the folder stays", async () => {
    const { page } = desk;
    await page.getByRole("button", { name: "Actions for garden" }).click();
    await page.getByRole("menuitem", { name: "Rename" }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("Allotment");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: "Allotment", exact: true }).waitFor();
    await page.getByRole("button", { name: "Actions for Allotment" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByRole("dialog").getByText("The folder and its files stay.").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Yes, delete" }).click();
    await page.getByText("No workspace on this machine yet.").first().waitFor();
    expect(desk.errors).toEqual([]);
    expect(desk.strangers).toEqual([]);
  });
});
