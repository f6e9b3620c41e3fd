/** Tasks with their worker, and a deploy from its beginning to the program that runs: on a real machine. */
import { mkdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { seriousFindings } from "../axe";
import { PHONE } from "../browser";
import type { Device } from "./device";
import { hasMachine, type Machine, script } from "./machine";
import { rig } from "./rig";

const RIGHTS = "view,prompt,approve,admin";
const BUILD = 'cp VERSION "$ESTELLE_DEPLOY_OUT/version" && sh ./make.sh';
const SOUND = 'echo basil is built; cp "$BUILT" "$ESTELLE_DEPLOY_OUT/estelle"';

/** The next commit of what is deployed: its version, and the script that makes its program. */
function commit(machine: Machine, version: string, make: string): void {
  machine.write("repository/VERSION", version);
  machine.write("repository/make.sh", make);
  machine.git("repository", "add", ".");
  machine.git("repository", "commit", "--quiet", "-m", version);
}

function layOut(machine: Machine): void {
  mkdirSync(machine.path("repository"));
  machine.git("repository", "init", "--quiet", "-b", "main");
  commit(machine, "1.1", SOUND);
  machine.ownProgram();
  machine.configure("BUILT", process.env.ESTELLE_PROGRAM ?? "");
  machine.configure("ESTELLE_DEPLOY_REPOSITORY", machine.path("repository"));
  machine.configure("ESTELLE_DEPLOY_BUILD", BUILD);
  machine.configure("ESTELLE_DEPLOY_NPM", "true");
}

describe.skipIf(!hasMachine)("the work of a real machine", () => {
  const stage = rig({ prepare: layOut, workspace: "garden" });

  /** A desk at the deploy view, when nothing is being deployed: what a test before it left is taken back. */
  async function atDeploy(): Promise<Device> {
    const desk = await stage.open("Desk", { rights: RIGHTS, at: "deploy" });
    const { page } = desk;
    const isIdle = page.getByText("Nothing is being deployed");
    const cancel = page.getByRole("button", { name: "Cancel the deploy" });
    await isIdle.or(cancel).first().waitFor();
    if (await cancel.isVisible()) await cancel.click();
    await isIdle.waitFor();
    return desk;
  }

  it("writes tasks, lets the worker carry them out, and stops it after the one that it is at", async () => {
    const { machine } = stage;
    const desk = await stage.open("Desk", { rights: RIGHTS });
    const { page } = desk;
    await page.getByRole("link", { name: "Work", exact: true }).click();
    for (const [title, step] of [
      ["Water the basil", { say: "eins zwei", chunks: 2, gate: "water", gate_at: 1 }],
      ["Sow the mint", { say: "drei" }],
    ] as const) {
      await page.getByRole("button", { name: "New task" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("Title").fill(title);
      await dialog.getByLabel("What is to be done").fill(script(title, step));
      await dialog.getByRole("button", { name: "Create" }).click();
      await dialog.waitFor({ state: "detached" });
    }
    const worker = page.getByRole("region", { name: "Worker: garden" });
    await worker.getByText("2 tasks wait").waitFor();
    await worker.getByRole("button", { name: "Start", exact: true }).click();
    await worker.getByText("works on: Water the basil").waitFor();
    await page.getByRole("region", { name: "Running" }).getByText("Water the basil").waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await worker.getByRole("button", { name: "Stop the worker" }).click();
    await page.getByRole("menuitem", { name: "Stop after this task" }).click();
    await worker.getByRole("link", { name: "Watch" }).click();
    await desk.log.getByText("eins").first().waitFor();
    machine.openGate("water");
    await page.getByRole("link", { name: "Work", exact: true }).click();
    await page.getByRole("region", { name: "Done" }).getByText("Water the basil").waitFor();
    await worker.getByText("off · 1 task waits").waitFor();
    await page.getByRole("region", { name: "Pending" }).getByText("Sow the mint").waitFor();
  });

  it("starts a conversation with a planner", async () => {
    const desk = await stage.open("Desk", { rights: RIGHTS, at: "work" });
    const { page } = desk;
    await page.getByRole("button", { name: "Plan with Claude" }).click();
    await desk.field.waitFor();
    await page.getByRole("heading", { name: "Planner" }).waitFor();
  });

  it("prepares a build that fails, and says why", async () => {
    commit(stage.machine, "1.2", "echo the mint is missing; exit 3");
    const { page } = await atDeploy();
    await page.getByRole("button", { name: "Prepare" }).click();
    await page.getByRole("alert").filter({ hasText: "Build" }).waitFor();
    await page.getByRole("log").getByText("the mint is missing", { exact: true }).waitFor();
    await page.getByRole("listitem").filter({ hasText: "Program" }).getByText("failed").waitFor();
    await page.getByText("Nothing is being deployed").waitFor();
    expect(await seriousFindings(page)).toEqual([]);
  });

  it("takes a deploy back, on another device than it was begun", async () => {
    commit(stage.machine, "1.3", SOUND);
    const desk = await atDeploy();
    await desk.page.getByRole("button", { name: "Prepare" }).click();
    const phone = await stage.open("Phone", { size: PHONE, theme: "light", rights: RIGHTS, at: "deploy" });
    await phone.page.getByText("The build is ready").waitFor();
    await phone.page.getByRole("log").getByText("basil is built").waitFor();
    expect(await seriousFindings(phone.page)).toEqual([]);
    await phone.page.getByRole("button", { name: "Cancel the deploy" }).click();
    for (const { page } of [phone, desk]) await page.getByText("Nothing is being deployed").waitFor();
  });

  it("brings a build to the machine, which runs it and comes back by itself", async () => {
    const { machine } = stage;
    const { page } = await atDeploy();
    // Started anew it has a port that it keeps: at first it took any that was free, and would do so again.
    await machine.killUp();
    await page.getByText("The machine is away").waitFor();
    await machine.up();
    await page.getByText("Nothing is being deployed").waitFor();
    commit(machine, "2.0", SOUND);
    await page.getByRole("button", { name: "Prepare" }).click();
    await page.getByText("The build is ready").waitFor();
    await page.getByRole("button", { name: "Confirm" }).click();
    await page.getByRole("button", { name: "Go", exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Yes, go" }).click();
    await expect.poll(() => page.locator("dd").first().textContent()).toMatch(/^2\.0 · [0-9a-f]{10}$/);
    await page.getByText("Nothing is being deployed").waitFor();
  });

  it("lets a device that does not manage look on", async () => {
    const guest = await stage.open("Guest", { size: PHONE, at: "deploy" });
    await guest.page.getByText("Only devices that may manage others can deploy.").waitFor();
    expect(await guest.page.getByRole("button", { name: "Prepare" }).count()).toBe(0);
  });
});
