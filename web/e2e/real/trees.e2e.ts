/** A conversation with a folder and a branch of its own: made, looked at, merged and removed, on a real machine. */
import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { seriousFindings } from "../axe";
import { PHONE } from "../browser";
import type { Device } from "./device";
import { hasMachine, type Machine, script } from "./machine";
import { rig } from "./rig";

function layOut(machine: Machine): void {
  machine.write("home/garden/basil.txt", "green\n");
  machine.git("home/garden", "init", "--quiet", "-b", "main");
  machine.git("home/garden", "add", ".");
  machine.git("home/garden", "commit", "--quiet", "-m", "Plant basil");
}

/** The folder of the worktree whose branch begins so. */
function folderOf(machine: Machine, branch: string): string {
  const root = "data-worktrees";
  const [workspace = ""] = readdirSync(machine.path(root));
  const trees = readdirSync(machine.path(`${root}/${workspace}`)).map((tree) => `${root}/${workspace}/${tree}`);
  const found = trees.find((tree) => machine.git(tree, "branch", "--show-current").startsWith(branch));
  if (found === undefined) throw new Error(`no worktree has the branch ${branch}`);
  return found;
}

describe.skipIf(!hasMachine)("worktrees of a real machine", () => {
  const stage = rig({ prepare: layOut, workspace: "garden" });
  const rights = "view,prompt,approve,admin";

  /** Makes a conversation with a worktree, and gives its folder. */
  async function withTree(desk: Device, name: string, branch: string): Promise<string> {
    const { page } = desk;
    await page.keyboard.press("Alt+n");
    const dialog = page.getByRole("dialog", { name: "New conversation" });
    await dialog.getByLabel("Name").fill(name);
    await dialog.getByLabel(/^A folder and a branch of its own/).check();
    await dialog.getByRole("button", { name: "Create" }).click();
    await page.getByRole("heading", { name }).waitFor();
    return folderOf(stage.machine, branch);
  }

  it("makes a conversation with a worktree, and merges what was committed there", async () => {
    const { machine } = stage;
    const desk = await stage.open("Desk", { rights });
    const { page } = desk;
    await page.getByRole("button", { name: "garden", exact: true }).waitFor();
    const folder = await withTree(desk, "Sow mint", "estelle/sow-mint");
    await desk.send(script("Sow mint here.", { say: "It is sown" }));
    await desk.said("It is sown").waitFor();
    await desk.log.getByText("Done").waitFor();
    machine.write(`${folder}/mint.txt`, "fresh\n");
    machine.git(folder, "add", ".");
    machine.git(folder, "commit", "--quiet", "-m", "Sow mint");
    await page.getByRole("link", { name: "Work", exact: true }).click();
    await page.getByRole("link", { name: "Worktrees" }).click();
    const row = page.getByRole("listitem").filter({ hasText: /estelle\/sow-mint/ });
    await row.getByText("1 commit", { exact: true }).waitFor();
    await row.getByText("+1").waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    expect(machine.read("home/garden/mint.txt")).toBe("");
    await row.getByRole("button", { name: "Merge…" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Yes, merge" }).click();
    await row.getByText("Merged: 1 commit came.").waitFor();
    expect(machine.read("home/garden/mint.txt")).toBe("fresh\n");
  });

  it("gives a task of the board a worktree of its own", async () => {
    const { page } = await stage.open("Desk", { rights, at: "work" });
    await page.getByRole("button", { name: "New task" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Title").fill("Plant sage");
    await dialog.getByLabel("What is to be done").fill(script("Plant sage.", { say: "planted" }));
    await dialog.getByRole("button", { name: "Create" }).click();
    await dialog.waitFor({ state: "detached" });
    const worker = page.getByRole("region", { name: "Worker: garden" });
    await worker.getByRole("button", { name: "Start, and where tasks are worked on" }).click();
    await page.getByRole("menuitem", { name: /^Start, each task by itself/ }).click();
    await page.getByRole("region", { name: "Done" }).getByText("Plant sage").waitFor();
    await page.goto(`${stage.machine.address}/#/worktrees`);
    await page
      .getByRole("listitem")
      .filter({ hasText: /estelle\/.*plant-sage/ })
      .first()
      .waitFor();
  });

  it("removes it with what is in no commit only when that was said", async () => {
    const { machine } = stage;
    const desk = await stage.open("Desk", { rights });
    await desk.page.getByRole("button", { name: "garden", exact: true }).waitFor();
    const folder = await withTree(desk, "Pull weeds", "estelle/pull-weeds");
    machine.write(`${folder}/weed.txt`, "wild\n");
    const phone = await stage.open("Phone", { size: PHONE, theme: "light", rights, at: "worktrees" });
    const { page } = phone;
    const row = page.getByRole("listitem").filter({ hasText: /estelle\/pull-weeds/ });
    await row.getByText("1 file uncommitted").waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await row.getByRole("button", { name: "Remove…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("whose changes are in no commit").waitFor();
    await dialog.getByRole("button", { name: "Discard them and remove" }).click();
    await expect.poll(() => row.getByRole("button", { name: "Remove…" }).count()).toBe(0);
    expect(machine.read(`${folder}/weed.txt`)).toBe("");
  });
});
