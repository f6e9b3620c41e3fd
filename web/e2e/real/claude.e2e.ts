/** The main path with the real CLI, whose model is a script. */
import { describe, expect, it } from "vitest";
import { PHONE } from "../browser";
import { hasClaude, script } from "./machine";
import { rig } from "./rig";

describe.skipIf(!hasClaude)("with the real CLI", () => {
  const stage = rig({ agent: "claude" });

  it("makes a workspace, talks, allows a tool, is killed in mid-turn and goes on", async () => {
    const { machine } = stage;
    const phone = await stage.open("Phone", { size: PHONE });
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
  });
});
