/** What a person decides on the real machine, and what they see when a part of it was away. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { launch, PHONE } from "../browser";
import { gap } from "../hand";
import { Device } from "./device";
import { hasMachine, Machine, script } from "./machine";

const PLAN = "## Plan\n\n1. Dig the bed\n2. Sow the basil";

describe.skipIf(!hasMachine)("deciding on a real machine", () => {
  let browser: Browser;
  let machine: Machine;
  let phone: Device;
  let made = 0;

  beforeAll(async () => {
    browser = await launch();
    machine = await Machine.start("simulator");
    phone = await Device.open(browser, machine, { size: PHONE, theme: "light", token: machine.device("Phone") });
    await workspace("garden");
  });

  afterAll(async () => {
    await browser?.close();
    await machine?.stop();
  });

  async function workspace(folder: string): Promise<void> {
    const { page } = phone;
    await page.goto(`${machine.address}/#/list`);
    await page.getByRole("button", { name: "New workspace" }).first().click();
    const dialog = page.getByRole("dialog", { name: "New workspace" });
    await dialog.getByRole("button", { name: folder, exact: true }).click();
    await dialog.locator(`input[value$="/${folder}"]`).waitFor();
    await dialog.getByRole("button", { name: "Create" }).click();
    await page.getByText("Say what you want done.").waitFor();
  }

  /** A conversation of its own for a test. */
  async function conversation(): Promise<void> {
    const { page } = phone;
    await page.goto(`${machine.address}/#/list`);
    await page.getByRole("button", { name: "New conversation" }).first().click();
    await page.getByRole("textbox", { name: "Name" }).fill(`Talk ${++made}`);
    await page.getByRole("button", { name: "Create" }).click();
    await page.getByText("Say what you want done.").waitFor();
  }

  const write = (name: string) => ({
    tool: "Write",
    input: { file_path: machine.path(`home/garden/${name}`), content: name },
  });

  it("asks once when a tool is allowed in this conversation, and again in the next", async () => {
    await conversation();
    await phone.send(script("Write both.", write("one.txt"), write("two.txt"), { say: "both are there" }));
    const card = phone.page.getByRole("region", { name: "May this be changed?" });
    await card.getByText("one.txt").first().waitFor();
    await card.getByRole("button", { name: "Allow in this conversation" }).click();
    await phone.said("both are there").waitFor();
    expect([machine.read("home/garden/one.txt"), machine.read("home/garden/two.txt")]).toEqual(["one.txt", "two.txt"]);
    await conversation();
    await phone.send(script("Write another.", write("three.txt"), { say: "not yet" }));
    await card.getByText("three.txt").first().waitFor();
    expect(machine.read("home/garden/three.txt")).toBe("");
    await card.getByRole("button", { name: "Deny", exact: true }).click();
    await phone.said("not yet").waitFor();
  });

  it("tells the agent why something was denied, and nothing happens", async () => {
    await conversation();
    await phone.send(script("Write it.", write("four.txt"), { say: "I understand" }));
    const card = phone.page.getByRole("region", { name: "May this be changed?" });
    await card.getByRole("button", { name: "Deny with a reason" }).click();
    await card.getByLabel("Reason").fill("Use the shed instead");
    await card.getByRole("button", { name: "Deny", exact: true }).click();
    await phone.said("I understand").waitFor();
    expect(machine.read("home/garden/four.txt")).toBe("");
    await phone.page.getByRole("button", { name: /^Write .*four\.txt/ }).click();
    await phone.log.getByText("Use the shed instead").first().waitFor();
    await phone.log.getByText("denied by you").waitFor();
  });

  it("shows a plan as it reads, and goes on when it is approved", async () => {
    await conversation();
    await phone.send(script("Plan it.", { tool: "ExitPlanMode", input: { plan: PLAN } }, { say: "I begin" }));
    const card = phone.page.getByRole("region", { name: "Is this plan good?" });
    await card.getByRole("heading", { name: "Plan", exact: true }).waitFor();
    await card.getByText("Sow the basil").waitFor();
    await card.getByRole("button", { name: "Approve plan" }).click();
    await phone.said("I begin").waitFor();
    await card.waitFor({ state: "detached" });
  });

  it("asks before a folder brings programs of its own, and shows which", async () => {
    const server = { command: "/bin/true", args: ["shed-door"] };
    machine.write("home/shed/.mcp.json", JSON.stringify({ mcpServers: { theirs: server } }));
    await workspace("shed");
    await phone.send(script("Hello.", { say: "hello from the shed" }));
    const card = phone.page.getByRole("region", { name: "Trust this folder?" });
    await card.getByText(".mcp.json").first().waitFor();
    await card.getByText("shed-door").first().waitFor();
    await card.getByRole("button", { name: "Trust", exact: true }).click();
    await card.waitFor({ state: "detached" });
    await phone.said("hello from the shed").waitFor();
  });

  it("shows when the Pylon alone was killed in mid-turn, and once it is back what was missed, at its end", async () => {
    await machine.takeApart();
    await phone.page.goto(`${machine.address}/#/list`);
    await phone.page.getByRole("button", { name: "New conversation" }).first().waitFor();
    await conversation();
    const reads = Array.from({ length: 30 }, (_, index) => ({ tool: "Read", input: { file_path: `/none/${index}` } }));
    const half = { say: "uno due tre quattro", chunks: 4, gate: "alone", gate_at: 2 };
    await phone.send(script("Count.", ...reads, half));
    await phone.said("uno due").waitFor();
    await machine.killPylon();
    await phone.page.getByPlaceholder("Sent when the machine is back…").waitFor();
    machine.openGate("alone");
    await phone.send(script("And then?", { say: "cinque" }));
    await phone.log.getByText("Waits for the connection").waitFor();
    await machine.startPylon();
    await phone.said("uno due tre quattro").waitFor();
    await phone.said("cinque").waitFor();
    await expect.poll(() => gap(phone.log)).toBeLessThan(4);
    for (const words of ["uno due tre quattro", "cinque"]) expect(await phone.said(words).count()).toBe(1);
    await phone.page.reload();
    await phone.said("cinque").waitFor();
    expect(phone.errors).toEqual([]);
    expect(phone.strangers).toEqual([]);
  });
});
