/** What a machine says beside the conversation is shown, and can be acted on. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Stage } from "./browser";

const stage = new Stage();
beforeAll(() => stage.open());
afterAll(() => stage.close());

interface StandIn {
  scene: { machines: { workspaces: { leftOut?: number }[] }[] };
  asked: string[];
  pour(conversationId: string, events: unknown[]): void;
  say(frame: unknown): void;
  cut(): void;
}

function pour(page: Page, events: unknown[]): Promise<void> {
  return page.evaluate((said) => {
    (globalThis as unknown as { peer: StandIn }).peer.pour("relay", said);
  }, events);
}

describe("what a machine says", () => {
  it("names the messages that a lost process was working on, and lets them be written again", async () => {
    const { page } = await stage.visit({ scene: "chat" });
    await page.getByText("Shall I also note it").waitFor();
    const content = "Look at the frames of the relay, one after another";
    await pour(page, [
      { type: "userMessage", content, timestamp: 1, clientMessageId: "m9" },
      {
        type: "claudeAborted",
        reason: "session_ended",
        messages: [{ content: "Look at the frames", clientMessageId: "m9" }],
      },
    ]);
    await page.getByText("It was working on:").waitFor();
    await page.getByRole("button", { name: "Write again" }).click();
    expect(await page.locator("#composer").inputValue()).toBe(content);
    await page.context().close();
  });

  it("goes on by a press when it was stopped or paused, and offers it no longer then", async () => {
    const { page } = await stage.visit({ scene: "chat" });
    await page.getByText("Shall I also note it").waitFor();
    const goOn = page.getByRole("button", { name: "Go on now" });
    expect(await goOn.count()).toBe(0);
    await pour(page, [{ type: "process_paused", reason: "idle_timeout", idleMinutes: 30, canResume: true }]);
    await goOn.click();
    await page.getByText("Go on where you stopped.").first().waitFor();
    await goOn.waitFor({ state: "detached" });
    const asked = await page.evaluate(() => (globalThis as unknown as { peer: StandIn }).peer.asked);
    expect(asked.filter((type) => type === "claude_send")).toHaveLength(1);
    await pour(page, [
      { type: "claudeAborted", reason: "user" },
      { type: "state", state: "idle" },
    ]);
    await goOn.waitFor();
    await page.context().close();
  });

  it("warns of a budget until it was read", async () => {
    const { page } = await stage.visit({ scene: "chat" });
    await page.getByText("Shall I also note it").waitFor();
    await page.evaluate(() => {
      const budget = { scope: "conversation", conversationId: "relay", spentUsd: 31, softUsd: 30, hardUsd: 40 };
      const { peer } = globalThis as unknown as { peer: StandIn };
      peer.say({ type: "budget_warning", payload: { deviceId: 1, line: "soft", budget } });
      peer.say({ type: "budget_warning", payload: { deviceId: 1, line: "hard", budget: { ...budget, spentUsd: 41 } } });
    });
    const notice = page.getByRole("status").getByText(/used up: \$41/);
    await notice.waitFor();
    expect(await page.getByText(/above the warning/).count()).toBe(0);
    await page.getByRole("status").getByRole("button", { name: "Close" }).click();
    await notice.waitFor({ state: "detached" });
    await page.context().close();
  });

  it("tells the budget of a task from that of its conversation", async () => {
    const { page } = await stage.visit({ scene: "chat" });
    await page.getByText("Shall I also note it").waitFor();
    await page.evaluate(() => {
      const talk = { scope: "conversation", conversationId: "relay", spentUsd: 31, softUsd: 30, hardUsd: 40 };
      const task = { scope: "task", conversationId: "relay", taskId: "tidy", spentUsd: 2, hardUsd: 1 };
      const { peer } = globalThis as unknown as { peer: StandIn };
      peer.say({ type: "budget_warning", payload: { deviceId: 1, line: "soft", budget: talk } });
      peer.say({ type: "budget_warning", payload: { deviceId: 1, line: "hard", budget: task } });
    });
    await page
      .getByRole("status")
      .getByText(/above the warning at \$30/)
      .waitFor();
    await page
      .getByRole("status")
      .getByText(/Task “tidy” in .* used up its budget: \$2/)
      .waitFor();
    await page.context().close();
    const { page: usage } = await stage.visit({ scene: "usage" });
    const budgets = usage.getByRole("region", { name: /^Budgets of/ }).first();
    const row = budgets.getByRole("listitem").filter({ hasText: "Task “20260125-tidy-the-parser”" });
    await row.getByText("stand in the file of the task").waitFor();
    // What would be removed there is the budget of the conversation.
    expect(await row.getByRole("button").count()).toBe(0);
    expect(await budgets.getByRole("button", { name: /^Remove the budget/ }).count()).toBe(2);
    await usage.context().close();
  });

  it("says how many conversations found no room in the list", async () => {
    const { page } = await stage.visit({ scene: "chat" });
    await page.getByText("Shall I also note it").waitFor();
    await page.evaluate(() => {
      const { peer } = globalThis as unknown as { peer: StandIn };
      const [workspace] = peer.scene.machines[0]?.workspaces ?? [];
      if (workspace) workspace.leftOut = 312;
      peer.cut();
    });
    await page.getByText("312 older conversations are not listed").first().waitFor();
    await page.context().close();
  });

  it("makes a folder and gives it another name where a workspace is chosen", async () => {
    const { page } = await stage.visit({ scene: "chat" });
    await page.getByRole("button", { name: "New workspace" }).first().click();
    const window = page.getByRole("dialog", { name: "New workspace" });
    const path = window.getByRole("textbox", { name: "Folder", exact: true });
    await expect.poll(() => path.inputValue()).toBe("/home/mina/code");
    await window.getByRole("button", { name: "New folder here" }).click();
    await window.getByRole("textbox", { name: "Name of the new folder" }).fill("kites");
    await page.keyboard.press("Enter");
    await expect.poll(() => path.inputValue()).toBe("/home/mina/code/kites");
    await window.getByRole("button", { name: "Rename this folder" }).click();
    await window.getByRole("textbox", { name: "New name of this folder" }).fill("gliders");
    await window.getByRole("button", { name: "Save" }).click();
    await expect.poll(() => path.inputValue()).toBe("/home/mina/code/gliders");
    await page.context().close();
  });

  it("lists what was saved in a folder without Estelle, shows it, and goes on from it in a conversation", async () => {
    const { page } = await stage.visit({ scene: "chat" });
    await page.getByText("Shall I also note it").waitFor();
    await page.getByRole("button", { name: "Actions for estelle" }).click();
    await page.getByRole("menuitem", { name: /^Saved sessions/ }).click();
    await page.getByRole("link", { name: /a conversation here/ }).waitFor();
    await page.getByRole("button", { name: "Show older ones" }).click();
    await page.getByRole("link", { name: /The very first session/ }).waitFor();
    await page.getByRole("link", { name: /^Why the relay drops frames/ }).click();
    await page.getByText("is thrown away").waitFor();
    await page.getByRole("button", { name: "Go on in a conversation" }).click();
    await page.getByRole("heading", { name: "Went on from a saved session" }).waitFor();
    await page.context().close();
  });

  it("says why a worker rests in the reader's language, with the machine's own words as a detail", async () => {
    const { page } = await stage.visit({ scene: "work", language: "ko" });
    await page.locator("main h2").first().waitFor();
    await page.evaluate(() => {
      const rest = { cause: "budget", message: "the budget of the day is spent" };
      const workerStatus = { running: false, on: true, rest };
      const payload = { deviceId: 1, workspaceId: "ws-estelle", tasks: [], workerStatus, success: true };
      (globalThis as unknown as { peer: StandIn }).peer.say({ type: "task_list_result", payload });
    });
    await page.getByText("예산을 다 썼습니다").waitFor();
    const detail = page.getByText("the budget of the day is spent");
    expect(await detail.getAttribute("lang")).toBe("en");
    await page.context().close();
  });
});
