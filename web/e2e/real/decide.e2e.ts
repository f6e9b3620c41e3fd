/** What a person decides on the real machine, and what they see when a part of it was away. */
import { beforeEach, describe, expect, it } from "vitest";
import { seriousFindings } from "../axe";
import { PHONE } from "../browser";
import { gap } from "../hand";
import type { Device } from "./device";
import { hasMachine, script } from "./machine";
import { rig } from "./rig";

const PLAN = "## Plan\n\n1. Dig the bed\n2. Sow the basil";

describe.skipIf(!hasMachine)("deciding on a real machine", () => {
  const stage = rig({ workspace: "garden" });
  let phone: Device;

  beforeEach(async () => {
    phone = await stage.open("Phone", { size: PHONE, theme: "light", at: "list" });
  });

  /** A conversation of its own for a test. */
  async function conversation(): Promise<string> {
    const name = `Talk ${stage.next()}`;
    await phone.page.goto(`${stage.machine.address}/#/list`);
    await phone.makeConversation(name);
    return name;
  }

  const write = (name: string) => ({
    tool: "Write",
    input: { file_path: stage.machine.path(`home/garden/${name}`), content: name },
  });

  it("asks once when a tool is allowed in this conversation, and again in the next", async () => {
    await conversation();
    await phone.send(script("Write both.", write("one.txt"), write("two.txt"), { say: "both are there" }));
    const card = phone.page.getByRole("region", { name: "May this be changed?" });
    await card.getByText("one.txt").first().waitFor();
    await card.getByRole("button", { name: "Allow in this conversation" }).click();
    await card.getByText("runs without asking").waitFor();
    await card.getByRole("button", { name: "Allow in this conversation" }).click();
    await phone.said("both are there").waitFor();
    expect([stage.machine.read("home/garden/one.txt"), stage.machine.read("home/garden/two.txt")]).toEqual([
      "one.txt",
      "two.txt",
    ]);
    await conversation();
    await phone.send(script("Write another.", write("three.txt"), { say: "not yet" }));
    await card.getByText("three.txt").first().waitFor();
    expect(stage.machine.read("home/garden/three.txt")).toBe("");
    await card.getByRole("button", { name: "Deny", exact: true }).click();
    await phone.said("not yet").waitFor();
  });

  it("shows what was allowed for a conversation, and asks again when it is taken back", async () => {
    const name = await conversation();
    const { page } = phone;
    const chat = page.url();
    await phone.send(script("Write it.", write("five.txt"), { say: "five is there" }));
    const card = page.getByRole("region", { name: "May this be changed?" });
    await card.getByRole("button", { name: "Allow in this conversation" }).click();
    await card.getByText("runs without asking").waitFor();
    await card.getByRole("button", { name: "Allow in this conversation" }).click();
    await phone.said("five is there").waitFor();
    await page.goto(`${stage.machine.address}/#/rules`);
    const row = page
      .getByRole("region", { name: "Allowed for a conversation" })
      .getByRole("listitem")
      .filter({ hasText: name });
    await row.getByText("Write", { exact: true }).waitFor();
    await row.getByText(/since .* · by you/).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await row.getByRole("button", { name: `Ask again about Write in ${name}` }).click();
    await row.waitFor({ state: "detached" });
    await page.goto(chat);
    await phone.log.getByText("Write asks again from here on").waitFor();
    await phone.send(script("Write another.", write("six.txt"), { say: "it is asked" }));
    await card.getByText("six.txt").first().waitFor();
    expect(stage.machine.read("home/garden/six.txt")).toBe("");
    await card.getByRole("button", { name: "Deny", exact: true }).click();
    await phone.said("it is asked").waitFor();
  });

  it("tells the agent why something was denied, and nothing happens", async () => {
    await conversation();
    await phone.send(script("Write it.", write("four.txt"), { say: "I understand" }));
    const card = phone.page.getByRole("region", { name: "May this be changed?" });
    await card.getByRole("button", { name: "Deny with a reason" }).click();
    await card.getByLabel("Reason").fill("Use the shed instead");
    await card.getByRole("button", { name: "Deny", exact: true }).click();
    await phone.said("I understand").waitFor();
    expect(stage.machine.read("home/garden/four.txt")).toBe("");
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
    stage.machine.write("home/shed/.mcp.json", JSON.stringify({ mcpServers: { theirs: server } }));
    await phone.makeWorkspace("shed");
    await phone.send(script("Hello.", { say: "hello from the shed" }));
    const card = phone.page.getByRole("region", { name: "Trust this folder?" });
    await card.getByText(".mcp.json").first().waitFor();
    await card.getByText("shed-door").first().waitFor();
    await card.getByRole("button", { name: "Trust", exact: true }).click();
    await card.waitFor({ state: "detached" });
    await phone.said("hello from the shed").waitFor();
  });

  it("shows when the Pylon alone was killed in mid-turn, and once it is back what was missed, at its end", async () => {
    await stage.machine.takeApart();
    const { address } = stage.machine;
    const isThere = () =>
      fetch(address).then(
        (answer) => answer.ok,
        () => false,
      );
    await expect.poll(isThere).toBe(true);
    await phone.page.reload();
    await conversation();
    const reads = Array.from({ length: 30 }, (_, index) => ({ tool: "Read", input: { file_path: `/none/${index}` } }));
    const half = { say: "uno due tre quattro", chunks: 4, gate: "alone", gate_at: 2 };
    await phone.send(script("Count.", ...reads, half));
    await phone.said("uno due").waitFor();
    await stage.machine.killPylon();
    await phone.page.getByPlaceholder("Sent when the machine is back…").waitFor();
    stage.machine.openGate("alone");
    await phone.send(script("And then?", { say: "cinque" }));
    await phone.log.getByText("Waits for the connection").waitFor();
    await stage.machine.startPylon();
    await phone.said("uno due tre quattro").waitFor();
    await phone.said("cinque").waitFor();
    await expect.poll(() => gap(phone.log)).toBeLessThan(4);
    for (const words of ["uno due tre quattro", "cinque"]) expect(await phone.said(words).count()).toBe(1);
    await phone.page.reload();
    await phone.said("cinque").waitFor();
  });
});
