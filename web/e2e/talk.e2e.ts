/** What a person does with a conversation, in a real page. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PHONE, Stage } from "./browser";
import { gap, wheel } from "./hand";

const stage = new Stage();
beforeAll(() => stage.open());
afterAll(() => stage.close());

describe("talking", () => {
  it("shows a message once, streams the answer and keeps the end in view", async () => {
    const { page } = await stage.visit({ scene: "fresh", size: PHONE });
    await page.getByLabel("Message to Claude").fill("Add a column for watering");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByRole("log").getByText("Shall I begin?").waitFor();
    expect(await page.getByRole("article", { name: "You" }).count()).toBe(1);
    await page.getByText("Done").waitFor();
    await expect.poll(() => gap(page.getByRole("log"))).toBeLessThan(4);
    expect(await page.getByLabel("Message to Claude").inputValue()).toBe("");
    await page.context().close();
  });

  it("keeps the end in view when many rows come at once, one of them very long", async () => {
    const { page } = await stage.visit({ scene: "long", size: PHONE, more: "&entries=400" });
    const log = page.getByRole("log");
    await log.getByText("It is called from").first().waitFor();
    for (const round of [1, 2, 3]) {
      await page.evaluate(async (round) => {
        // A list that measures its rows may put itself anywhere; no hand did this.
        const list = document.querySelector("[role=log]") as HTMLElement;
        list.scrollTop -= round * 1_500;
        for (const _ of [1, 2, 3]) await new Promise(requestAnimationFrame);
        const { peer } = globalThis as unknown as { peer: { pour(id: string, events: unknown[]): void } };
        const long = Array.from({ length: 300 }, (_, line) => `Line ${line} of a long answer.`).join("\n\n");
        const calls = Array.from({ length: 80 }, (_, index) => {
          const call = { toolName: "Read", toolUseId: `many${round}-${index}`, input: { file_path: `/none/${index}` } };
          return { type: "toolInfo", ...call };
        });
        const end = { type: "textComplete", text: `This is end ${round}.` };
        peer.pour("long", [{ type: "textComplete", text: long }, ...calls, end]);
      }, round);
      await log.getByText(`This is end ${round}.`).waitFor();
      await expect.poll(() => gap(log)).toBeLessThan(4);
      await expect.poll(() => page.getByRole("button", { name: /newest|below/ }).count()).toBe(0);
    }
    await wheel(log, -900);
    await page.getByRole("button", { name: /newest|below/ }).waitFor();
    await page.evaluate(() => {
      const { peer } = globalThis as unknown as { peer: { pour(id: string, events: unknown[]): void } };
      peer.pour("long", [{ type: "textComplete", text: "Nobody looks here." }]);
    });
    await page.getByRole("button", { name: /newest|below/ }).click();
    await log.getByText("Nobody looks here.").waitFor();
    await expect.poll(() => gap(log)).toBeLessThan(4);
    await page.context().close();
  });

  it("keeps what is selected in a text that grows and ends", async () => {
    const { page } = await stage.visit({ scene: "fresh" });
    await page.getByText("Say what you want done.").waitFor();
    const say = (event: unknown) =>
      page.evaluate((event) => {
        const { peer } = globalThis as unknown as { peer: { pour(id: string, events: unknown[]): void } };
        peer.pour("fresh", [event]);
      }, event);
    const log = page.getByRole("log");
    await say({ type: "state", state: "working" });
    await say({ type: "text", content: "The **first** part stands", generation: 1, block: 0, at: 0 });
    await log.getByText("part stands").waitFor();
    const chosen = await log.evaluate((element) => {
      const part = [...element.querySelectorAll("p span")].find((one) => one.textContent?.includes("part stands"));
      const range = document.createRange();
      if (part?.firstChild) range.setStart(part.firstChild, 1);
      if (part?.firstChild) range.setEnd(part.firstChild, 12);
      getSelection()?.removeAllRanges();
      getSelection()?.addRange(range);
      return getSelection()?.toString();
    });
    expect(chosen).toBe("part stands");
    await say({ type: "text", content: " and grows on", generation: 1, block: 0, at: 25 });
    await log.getByText("and grows on").waitFor();
    expect(await page.evaluate(() => getSelection()?.toString())).toBe(chosen);
    // Something else is said meanwhile, which is numbered like the text that is to come.
    await say({ type: "userMessage", content: "Go on", timestamp: Date.now() });
    await log.getByText("Go on").waitFor();
    expect(await page.evaluate(() => getSelection()?.toString())).toBe(chosen);
    await say({ type: "textComplete", text: "The **first** part stands and grows on to its end." });
    await log.getByText("to its end").waitFor();
    expect(await page.evaluate(() => getSelection()?.toString())).toBe(chosen);
    await page.context().close();
  });

  it("keeps what is selected in code that becomes complete, and colours it afterwards", async () => {
    const { page } = await stage.visit({ scene: "fresh" });
    await page.getByText("Say what you want done.").waitFor();
    const say = (event: unknown) =>
      page.evaluate((event) => {
        const { peer } = globalThis as unknown as { peer: { pour(id: string, events: unknown[]): void } };
        peer.pour("fresh", [event]);
      }, event);
    const log = page.getByRole("log");
    const source = "```rust\nlet first = 1;\nlet second = 2;\n";
    await say({ type: "state", state: "working" });
    await say({ type: "text", content: source, generation: 1, block: 0, at: 0 });
    await log.getByText("let second").waitFor();
    const chosen = await log.locator("pre code").evaluate((code) => {
      const range = document.createRange();
      range.setStart(code.firstChild as Text, 4);
      range.setEnd(code.firstChild as Text, 9);
      getSelection()?.removeAllRanges();
      getSelection()?.addRange(range);
      return getSelection()?.toString();
    });
    expect(chosen).toBe("first");
    await say({ type: "textComplete", text: `${source}\`\`\`\n\nThat is all.` });
    await log.getByText("That is all.").waitFor();
    expect(await page.evaluate(() => getSelection()?.toString())).toBe(chosen);
    await page.evaluate(() => getSelection()?.removeAllRanges());
    await log.locator("pre code span[style*=color]").first().waitFor();
    await page.context().close();
  });

  it("keeps what is written while the connection is gone, visibly, and sends it once", async () => {
    const { page } = await stage.visit({ scene: "fresh" });
    await page.getByText("Say what you want done.").waitFor();
    await page.evaluate(() => {
      const { peer } = globalThis as unknown as { peer: { scene: { isUnreachable: boolean }; cut(): void } };
      peer.scene.isUnreachable = true;
      peer.cut();
    });
    await page.getByLabel("Message to Claude").fill("Written offline");
    await page.keyboard.press("Enter");
    await page.getByText("Waits for the connection").waitFor();
    await page.getByText("Connection lost").waitFor();
    // The way is free from the click on, so that the page cannot find it by itself before.
    await page.evaluate(() => {
      const { peer } = globalThis as unknown as { peer: { scene: { isUnreachable: boolean } } };
      const free = () => {
        peer.scene.isUnreachable = false;
      };
      addEventListener("click", free, { capture: true, once: true });
    });
    await page.getByRole("button", { name: "Try now" }).click();
    await page.getByRole("log").getByText("Shall I begin?").waitFor();
    expect(await page.getByText("Written offline", { exact: true }).count()).toBe(1);
    await page.context().close();
  });

  it("completes files behind an @, into folders, by key and by thumb", async () => {
    const { page } = await stage.visit({ scene: "chat", size: PHONE });
    await page.getByText("Shall I also note it").waitFor();
    const field = page.getByLabel("Message to Claude");
    const list = page.getByRole("listbox", { name: "Files in this folder" });
    await field.fill("Look at @cr");
    await list.getByRole("option", { name: "crates/" }).waitFor();
    await page.keyboard.press("Enter");
    expect(await field.inputValue()).toBe("Look at @crates/");
    await list.getByRole("option", { name: "crates/relay/" }).click();
    await list.getByRole("option", { name: "crates/relay/Cargo.toml" }).click();
    expect(await field.inputValue()).toBe("Look at @crates/relay/Cargo.toml ");
    expect(await list.count()).toBe(0);
    await field.fill("Look at @");
    await list.waitFor();
    await page.keyboard.press("Escape");
    expect(await list.count()).toBe(0);
    await page.context().close();
  });

  it("says when a limit of the plan is reached and when it begins anew, and that a request comes again", async () => {
    const { page } = await stage.visit({ scene: "chat", size: PHONE });
    await page.getByText("Shall I also note it").waitFor();
    const say = (...events: unknown[]) =>
      page.evaluate((events) => {
        const { peer } = globalThis as unknown as { peer: { pour(id: string, events: unknown[]): void } };
        peer.pour("relay", events);
      }, events);
    await say(
      { type: "state", state: "working" },
      { type: "apiRetry", attempt: 3, cause: "overloaded", maxRetries: 10, delayMs: 3_600_000, apiStatus: 529 },
    );
    await page.getByText("Claude is overloaded. Claude tries again by itself").waitFor();
    await page.getByText(/try 3 of 10 · in .* · HTTP 529/).waitFor();
    const resetsAt = Date.now() + 7_260_000;
    await say(
      { type: "limits", limits: [{ window: "five_hour", status: "rejected", resetsAt }] },
      { type: "error", error: "Claude usage limit reached.", cause: "usage_limit", apiStatus: 429 },
      { type: "state", state: "idle" },
    );
    await page.getByText(/5-hour limit reached · begins anew .*, in 2 hr/).waitFor();
    await page.getByText("Send your message again once the limit begins anew").waitFor();
    expect(await page.getByText("tries again by itself").count()).toBe(0);
    await page.getByRole("button", { name: "Go on by itself then" }).click();
    await page.getByText(/^Goes on by itself: /).waitFor();
    await page.getByRole("button", { name: "Do not go on" }).click();
    await page.getByRole("button", { name: "Go on by itself then" }).waitFor();
    await say({ type: "limits", limits: [{ window: "five_hour", status: "allowed" }] });
    await page.getByText("5-hour limit reached").waitFor({ state: "detached" });
    await page.context().close();
  });

  it("keeps messages in sight that wait for Claude, and takes one back", async () => {
    const { page } = await stage.visit({ scene: "chat", size: PHONE });
    await page.getByText("Shall I also note it").waitFor();
    await page.evaluate(() => {
      const { peer } = globalThis as unknown as { peer: { pour(id: string, events: unknown[]): void } };
      const messages = ["Check the years too", "And the page numbers"].map((content, index) => ({
        ...{ content, clientMessageId: `q${index}`, deviceId: 101 },
      }));
      const said = messages.map((one) => ({ type: "userMessage", ...one, timestamp: Date.now() }));
      const calls = Array.from({ length: 30 }, (_, index) => {
        return { type: "toolInfo", toolName: "Read", toolUseId: `later${index}`, input: { file_path: `/${index}` } };
      });
      peer.pour("relay", [{ type: "state", state: "working" }, ...said, { type: "waiting", messages }, ...calls]);
    });
    const queue = page.getByRole("list", { name: "Messages that wait for Claude" });
    await queue.getByText("And the page numbers").waitFor();
    expect(await queue.getByRole("listitem").count()).toBe(2);
    await queue.getByRole("listitem").filter({ hasText: "years" }).getByRole("button", { name: "Take back" }).click();
    await queue.getByText("Check the years too").waitFor({ state: "detached" });
    expect(await queue.getByText("And the page numbers").count()).toBe(1);
    await page.context().close();
  });

  it("keeps a draft when another conversation is opened and comes back to it", async () => {
    const { page } = await stage.visit({ scene: "fresh" });
    await page.getByLabel("Message to Claude").fill("half a thought");
    await page.getByRole("link", { name: /Update dependencies/ }).click();
    await page.getByText("API Error").waitFor();
    expect(await page.getByLabel("Message to Claude").inputValue()).toBe("");
    await page.goBack();
    await page.getByText("Say what you want done.").waitFor();
    expect(await page.getByLabel("Message to Claude").inputValue()).toBe("half a thought");
    await page.context().close();
  });

  it("shows what a sub-agent did below its call, and an edit as a difference", async () => {
    const { page } = await stage.visit({ scene: "chat" });
    await page.getByText("Shall I also note it").waitFor();
    const card = page.getByRole("button", { name: /Sub-agent Check the other readers/ });
    const inside = page.getByText("drains its buffer in a loop");
    const look = async () => {
      await wheel(page.getByRole("log"), -10_000);
      if ((await card.getAttribute("aria-expanded")) !== "true") await card.click();
      return inside.isVisible();
    };
    await expect.poll(look).toBe(true);
    await page.getByRole("button", { name: /^Edit .*link\.rs/ }).click();
    await page.getByText("while !self.buffer.has_frame() {").first().waitFor();
    await page.context().close();
  });

  it("has the palette take the very next key, so that nothing typed at once acts on the page", async () => {
    const { page } = await stage.visit({ scene: "chat" });
    await page.getByText("Shall I also note it").waitFor();
    const focused = await page.evaluate(async () => {
      dispatchEvent(new KeyboardEvent("keydown", { code: "KeyK", key: "k", ctrlKey: true }));
      await Promise.resolve();
      return document.activeElement?.getAttribute("role");
    });
    expect(focused).toBe("combobox");
    await page.context().close();
  });

  it("goes to any conversation by the keyboard alone", async () => {
    const { page } = await stage.visit({ scene: "chat" });
    await page.getByText("Shall I also note it").waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill("depen");
    await page.keyboard.press("Enter");
    await page.getByText("API Error").waitFor();
    await page.keyboard.press("Alt+i");
    await page.getByRole("heading", { name: "Inbox" }).waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
    await page.keyboard.press("Escape");
    expect(await page.getByRole("dialog").count()).toBe(0);
    await page.context().close();
  });
});

describe("the machines themselves", () => {
  it("shows which build runs and which one is published, with a link that is only followed by hand", async () => {
    const { page, requests } = await stage.visit({ scene: "settings" });
    await page.getByRole("button", { name: "Look for a new version" }).click();
    await page
      .getByText(/published: 0\.2\.0 · 4f2a9c1d7be0 .* this machine runs another one/)
      .first()
      .waitFor();
    const link = page.getByRole("link", { name: /Phone app/ }).first();
    expect(await link.getAttribute("href")).toBe("https://example.org/estelle.apk");
    expect(requests.filter((url) => !url.startsWith(stage.address))).toEqual([]);
    await page.context().close();
  });

  it("keeps a report of a fault, once", async () => {
    const { page } = await stage.visit({ scene: "settings", size: PHONE });
    await page.getByRole("button", { name: "Report a fault" }).click();
    const dialog = page.getByRole("dialog", { name: "Report a fault" });
    const send = dialog.getByRole("button", { name: "Keep the report" });
    expect(await send.isDisabled()).toBe(true);
    await dialog.getByRole("textbox").fill("The list jumped.");
    await send.evaluate((button) => {
      for (const _ of [1, 2]) (button as HTMLElement).click();
    });
    await page.getByText("The report is kept on").waitFor();
    await dialog.waitFor({ state: "detached" });
    const reports = await page.evaluate(() => (globalThis as unknown as { peer: { reports: string[] } }).peer.reports);
    expect(reports).toEqual(["The list jumped."]);
    await page.context().close();
  });
});

describe("tasks", () => {
  it("writes one, shows its text, and marks it by hand", async () => {
    const { page } = await stage.visit({ scene: "work", size: PHONE });
    await page.getByRole("button", { name: "New task" }).click();
    const dialog = page.getByRole("dialog", { name: "New task" });
    await dialog.getByLabel("Title").fill("Water the basil");
    await dialog.getByRole("button", { name: "Create" }).click();
    await dialog.waitFor({ state: "detached" });
    const pending = page.getByRole("region", { name: "Pending" });
    await pending.getByRole("button", { name: /Water the basil/ }).click();
    const sheet = page.getByRole("dialog", { name: "Water the basil" });
    await sheet.getByText("the rest is sent again").waitFor();
    await sheet.getByRole("button", { name: "Done" }).click();
    await sheet.waitFor({ state: "detached" });
    await page.getByRole("region", { name: "Done" }).getByText("Water the basil").waitFor();
    await page.context().close();
  });
});

describe("the folder", () => {
  it("shows what is not committed, the difference of a file, and what must not be shown not at all", async () => {
    const { page } = await stage.visit({ scene: "chat", size: PHONE });
    await page.getByRole("button", { name: "Actions", exact: true }).click();
    await page.getByRole("menuitem", { name: "Files and changes" }).click();
    await page.getByText("fix/two-frames").waitFor();
    await page.getByRole("button", { name: /crates\/relay\/src\/link\.rs/ }).click();
    await page.getByText("while !self.buffer.has_frame() {").waitFor();
    await page.getByRole("button", { name: /^\.env/ }).click();
    await page.getByText("Not shown, because it holds secrets.").waitFor();
    await page.getByRole("link", { name: "Files", exact: true }).click();
    await page.getByRole("button", { name: /^crates/ }).click();
    await page.getByRole("button", { name: /^relay/ }).click();
    await page.getByRole("button", { name: /^Cargo\.toml/ }).click();
    await page.getByText("estelle-relay").first().waitFor();
    await page.getByRole("button", { name: "Back" }).click();
    await page.getByText("Shall I also note it").waitFor();
    await page.context().close();
  });

  it("asks the machine what a turn has changed, and says what cannot be seen", async () => {
    const { page } = await stage.visit({ scene: "chat" });
    await page.getByRole("button", { name: "1 file" }).click();
    const window = page.getByRole("dialog", { name: "Changed in this turn" });
    await window.getByText("has_frame").waitFor();
    await window.getByText("2 other calls").waitFor();
    await window.getByText("holds secrets").waitFor();
    await window.getByRole("button", { name: "Close" }).click();
    // Without the machine it shows what is loaded, and says so.
    await page.evaluate(() => (globalThis as unknown as { peer: { leave(): void } }).peer.leave());
    await page.getByText("Connection lost").first().waitFor();
    await page.getByRole("button", { name: "1 file" }).click();
    await window.getByText("which may not be all").waitFor();
    await page.context().close();
  });
});

describe("use", () => {
  it("says when machines cannot be asked, and never that nothing was used", async () => {
    const { page } = await stage.visit({ scene: "usage" });
    await page.locator("main figure li").first().waitFor();
    expect(await page.getByText("Not counted here").count()).toBe(0);
    await page.evaluate(() => {
      const { peer } = globalThis as unknown as {
        peer: { scene: { machines: { device: unknown }[] }; say(message: unknown): void };
      };
      const devices = [peer.scene.machines[0]?.device];
      peer.say({ type: "device_status", payload: { devices } });
    });
    await page.getByText("Not counted here: Stella.").waitFor();
    await page.locator("main figure li").first().waitFor();
    await page.evaluate(() => (globalThis as unknown as { peer: { leave(): void } }).peer.leave());
    await page.getByText("What was used is counted on the machine").waitFor();
    expect(await page.getByText("Nothing used yet").count()).toBe(0);
    await page.context().close();
  });
});
