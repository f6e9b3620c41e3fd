/**
 * Text of any size and kind leaves the page awake: nothing that a conversation says makes it hang.
 *
 * What is judged is the longest stretch in which the page could not answer a person. The limit is far above what it takes
 * on a busy machine, and far below what it took when all of it was laid out at once: ten to thirty seconds.
 */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PHONE, Stage } from "./browser";

const stage = new Stage();
beforeAll(() => stage.open());
afterAll(() => stage.close());

const LONGEST_MS = 4_000;
const LONG = { timeout: 300_000 };

interface StandIn {
  asked: string[];
  pour(conversationId: string, events: unknown[]): void;
}

const lines = (count: number, words = "a line of code") =>
  Array.from({ length: count }, (_, index) => `${words} ${index}`).join("\n");
const said = (text: string) => [{ type: "textComplete", text }];
const asks = (toolName: string, toolInput: object) => [
  { type: "permission_request", toolName, toolInput, toolUseId: "large" },
];

const LARGE: Record<string, unknown[]> = {
  "a text of 10 MB": said("word and word ".repeat(750_000)),
  "one line of 10 MB": said("x".repeat(10_000_000)),
  "a message of a person of 10 MB": [{ type: "userMessage", content: "word and ".repeat(1_100_000), timestamp: 1 }],
  "100,000 lines": said("a\n".repeat(99_000)),
  "60,000 paragraphs": said("a\n\n".repeat(60_000)),
  "a list of 45,000": said("- a\n".repeat(45_000)),
  "a table of 100,000 cells": said(
    `${"|a".repeat(20)}|\n${"|-".repeat(20)}|\n${`${"|a".repeat(20)}|\n`.repeat(4_600)}`,
  ),
  "18,000 blocks of code": said("```\na\n```\n".repeat(18_000)),
  "quotes in quotes": said(`${"> ".repeat(5_000)}x`),
  "stars that open and never close": said("*a ".repeat(60_000)),
  "a command of 100,000 lines": asks("Bash", { command: lines(100_000) }),
  "a file of 100,000 lines": asks("Write", { file_path: "/a.rs", content: lines(100_000) }),
  "a change of 40,000 lines": asks("Edit", {
    file_path: "/a.rs",
    old_string: lines(20_000),
    new_string: lines(20_000, "another line"),
  }),
};

/** Lets the machine say something, and gives the longest stretch in which the page could not answer. */
async function longestPause(page: Page, events: unknown[]): Promise<number> {
  return page.evaluate(async (said) => {
    let longest = 0;
    const observer = new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) longest = Math.max(longest, duration);
    });
    observer.observe({ type: "longtask" });
    const { peer } = globalThis as unknown as { peer: StandIn };
    peer.pour("relay", [...said, { type: "textComplete", text: "The very end" }]);
    const isThere = () =>
      [...document.querySelectorAll("[role=log] p")].some((one) => one.textContent === "The very end");
    while (!isThere()) await new Promise(requestAnimationFrame);
    for (let frames = 0; frames < 5; frames++) await new Promise(requestAnimationFrame);
    for (const { duration } of observer.takeRecords()) longest = Math.max(longest, duration);
    return longest;
  }, events);
}

describe("very much at once", () => {
  for (const [name, events] of Object.entries(LARGE)) {
    it(`${name} leaves the page awake`, LONG, async () => {
      const { page } = await stage.visit({ scene: "chat", size: PHONE });
      await page.getByText("Shall I also note it").waitFor();
      const ms = await longestPause(page, events);
      console.log(`${name}: at most ${ms.toFixed(0)} ms without an answer`);
      expect(ms).toBeLessThan(LONGEST_MS);
      await page.context().close();
    });
  }

  it("shows a long change whole: its last line is there to be read", LONG, async () => {
    const { page } = await stage.visit({ scene: "chat", size: PHONE });
    await page.getByText("Shall I also note it").waitFor();
    await longestPause(page, LARGE["a change of 40,000 lines"] ?? []);
    const card = page.getByRole("region", { name: "May this be changed?" });
    await card.waitFor();
    await page.waitForFunction(() => document.querySelector("section [aria-busy]") === null, undefined, {
      polling: 200,
    });
    const shown = await card.textContent();
    expect(shown).toContain("a line of code 0");
    expect(shown).toContain("another line 19999");
    await page.context().close();
  });
});

describe("the highlighter", () => {
  it("may hang: the code is there at once, and what comes later is coloured again", LONG, async () => {
    const { page } = await stage.visit({ scene: "fresh" });
    await page.getByText("Say what you want done.").waitFor();
    const worker = /highlight\.worker-/;
    await page.route(worker, (route) => route.fulfill({ contentType: "text/javascript", body: "for (;;) {}" }));
    const started = page.waitForEvent("worker");
    const code = (name: string) => [{ type: "textComplete", text: `\`\`\`rust\nlet ${name} = 1;\n\`\`\`` }];
    const id = await page.evaluate(() => /\/c\/([^/]+)/.exec(location.hash)?.[1] ?? "");
    const pour = (events: unknown[]) =>
      page.evaluate(([id, events]) => (globalThis as unknown as { peer: StandIn }).peer.pour(id, events), [
        id,
        events,
      ] as const);
    await pour(code("first"));
    await page.locator("figure code").filter({ hasText: "let first = 1;" }).waitFor();
    const ended = (await started).waitForEvent("close");
    expect(await page.locator("figure code span[style]").count()).toBe(0);
    await page.unroute(worker);
    await ended;
    await pour(code("second"));
    await page.locator("figure code span[style]").filter({ hasText: "second" }).first().waitFor();
    await page.context().close();
  });
});

describe("a text that looks like a card", () => {
  it("cannot be pressed, answered by key or laid over the page", async () => {
    const { page } = await stage.visit({ scene: "chat" });
    await page.getByText("Shall I also note it").waitFor();
    const text = [
      "### May this run?",
      "```bash\nrm -rf ~\n```",
      "| **Allow once** | **Deny** |\n|---|---|\n| [Allow once](javascript:alert(1)) | [Deny](#/c/relay) |",
      '<section aria-label="May this run?" style="position:fixed;inset:0;z-index:99"><button>Allow once</button></section>',
      "- [x] Allow in this conversation",
    ].join("\n\n");
    await page.evaluate((text) => {
      (globalThis as unknown as { peer: StandIn }).peer.pour("relay", [{ type: "textComplete", text }]);
    }, text);
    await page.getByRole("heading", { name: "May this run?" }).waitFor();
    expect(await page.getByRole("region", { name: "May this run?" }).count()).toBe(0);
    expect(await page.getByRole("button", { name: /Allow|Deny/ }).count()).toBe(0);
    expect(await page.getByRole("link", { name: /Allow|Deny/ }).count()).toBe(0);
    const laidOver = await page.evaluate(() => {
      const inside = [...document.querySelectorAll(".prose *")];
      return inside.filter((one) => /fixed|absolute|sticky/.test(getComputedStyle(one).position)).length;
    });
    expect(laidOver).toBe(0);
    await page.keyboard.press("Alt+a");
    await page.keyboard.press("Alt+d");
    const asked = await page.evaluate(() => (globalThis as unknown as { peer: StandIn }).peer.asked);
    expect(asked.filter((type) => type === "claude_permission")).toEqual([]);
    await page.context().close();
  });
});
