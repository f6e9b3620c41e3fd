/** The main path with the real CLI, whose model is a script. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { launch, PHONE } from "../browser";
import { Device } from "./device";
import { hasClaude, Machine, script } from "./machine";

describe.skipIf(!hasClaude)("with the real CLI", () => {
  let browser: Browser;
  let machine: Machine;
  let phone: Device;

  beforeAll(async () => {
    browser = await launch();
    machine = await Machine.start("claude");
    phone = await Device.open(browser, machine, { size: PHONE, token: machine.device("Phone") });
  });

  afterAll(async () => {
    await browser?.close();
    await machine?.stop();
  });

  it("makes a workspace, talks, allows a tool, is killed in mid-turn and goes on", async () => {
    const { page, log } = phone;
    await page.getByRole("button", { name: "New workspace" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "garden" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Create" }).click();
    const file = machine.path("home/garden/plan.txt");
    await phone.send(
      script(
        "Write it down.",
        { tool: "Write", input: { file_path: file, content: "water the basil" } },
        { say: "eins zwei drei vier", chunks: 4, gate: "half", gate_at: 2 },
      ),
    );
    await page.getByRole("region", { name: "May this be changed?" }).getByText("water the basil").waitFor();
    await page.getByRole("button", { name: "Allow once" }).click();
    await phone.said("eins zwei").waitFor();
    await machine.killUp();
    machine.openGate("half");
    await machine.up();
    await phone.said("eins zwei drei vier").waitFor();
    await log.getByText("Done").waitFor();
    expect(await phone.said("eins zwei drei vier").count()).toBe(1);
    expect(machine.read("home/garden/plan.txt")).toBe("water the basil");
    await phone.send(script("Thanks.", { say: "gern geschehen" }));
    await phone.said("gern geschehen").waitFor();
    expect(phone.errors).toEqual([]);
  });
});
