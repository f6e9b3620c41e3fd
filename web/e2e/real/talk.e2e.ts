/** The app on the real machine: relay, Pylon and host as they are shipped, with the simulated agent. */
import { readFileSync } from "node:fs";
import { beforeEach, describe, expect, it } from "vitest";
import { seriousFindings } from "../axe";
import { PHONE } from "../browser";
import { wheel } from "../hand";
import type { Device } from "./device";
import { hasMachine, script } from "./machine";
import { rig } from "./rig";

const QUESTION = {
  questions: [
    {
      question: "Which plant?",
      header: "Plant",
      multiSelect: false,
      options: [
        { label: "Basil", description: "likes sun" },
        { label: "Mint", description: "likes water" },
      ],
    },
  ],
};

function isInView(element: Element): boolean {
  const { top } = element.getBoundingClientRect();
  return top >= 0 && top <= innerHeight / 2;
}

describe.skipIf(!hasMachine)("on a real machine", () => {
  const stage = rig({
    workspace: "garden",
    prepare: (machine) => machine.write("home/shed/rake.txt", "iron\n"),
  });
  let phone: Device;
  let desk: Device;

  beforeEach(async () => {
    desk = await stage.open("Desk");
    phone = await stage.open("Phone", { size: PHONE, theme: "light", at: "list" });
  });

  /** A conversation of its own for a test, open on the desk. */
  async function conversation(): Promise<string> {
    const name = `Talk ${stage.next()}`;
    await desk.makeConversation(name);
    return name;
  }

  /** Opens a conversation on the phone. */
  async function onPhone(name: string): Promise<void> {
    await phone.page.goto(`${stage.machine.address}/#/list`);
    await phone.enter(name);
  }

  it("draws a picture that the agent looked at, live and after a reload, and in the files of the folder", async () => {
    const { page } = desk;
    const icon = readFileSync(new URL("../../public/icon-192.png", import.meta.url));
    stage.machine.write("home/garden/star.png", icon);
    await conversation();
    await desk.send(script("Look.", { tool: "Read", input: { file_path: "star.png" } }, { say: "A star" }));
    await desk.said("A star").waitFor();
    const drawn = async () => {
      await desk.log.getByRole("button", { name: /^Read/ }).click();
      const picture = desk.log.getByRole("img", { name: "Picture" });
      await picture.waitFor();
      await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(192);
      expect(await desk.log.getByText("[image:").count()).toBe(0);
    };
    await drawn();
    await page.reload();
    await desk.said("A star").waitFor();
    await drawn();
    await page.goto(`${page.url()}/files`);
    await page.getByRole("button", { name: /^star\.png/ }).click();
    const file = page.getByRole("img", { name: "star.png" });
    await expect.poll(() => file.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(192);
    expect(desk.errors).toEqual([]);
    expect(desk.strangers).toEqual([]);
  });

  it("makes a workspace out of a folder of the machine", async () => {
    const { page } = desk;
    await page.getByRole("button", { name: "New workspace" }).first().click();
    const dialog = page.getByRole("dialog", { name: "New workspace" });
    await dialog.getByRole("button", { name: "shed" }).click();
    await expect.poll(() => dialog.getByLabel("Folder").inputValue()).toMatch(/home\/shed$/);
    await dialog.getByRole("button", { name: "Create" }).click();
    await page.getByText("Say what you want done.").waitFor();
    await page.getByRole("button", { name: "shed", exact: true }).waitFor();
  });

  it("lets a device in by a link, once the person at the machine agrees", async () => {
    const { link, agree } = await stage.machine.pair();
    const stranger = await stage.come("stranger", { size: PHONE });
    await stranger.page.getByLabel("Link").fill(link);
    await stranger.page.getByLabel("Name of this device").fill("Phone of Ada");
    await stranger.page.getByRole("button", { name: "Pair" }).click();
    await stranger.page.getByText("Confirm at the machine").waitFor();
    expect(await agree()).toBe("Phone of Ada");
    await stranger.page.getByRole("button", { name: "garden", exact: true }).waitFor();
    await stranger.page.reload();
    await stranger.page.getByRole("button", { name: "garden", exact: true }).waitFor();
  });

  it("shows what is said on both devices, with thinking folded and the end in view", async () => {
    const name = await conversation();
    await onPhone(name);
    await desk.send(script("Hello.", { think: "They greet me.", say: "Good **morning** to you", chunks: 5 }));
    for (const device of [desk, phone]) {
      await device.said("Good morning to you").waitFor();
      await device.log.getByText("Done").waitFor();
      expect(await device.page.getByRole("article", { name: "You" }).count()).toBe(1);
      expect(await device.said("They greet me.").isVisible()).toBe(false);
    }
    await phone.log.getByText("from Desk").waitFor();
  });

  it("takes the first of two answers to a permission, and both devices see whose it was", async () => {
    const name = await conversation();
    await onPhone(name);
    const file = stage.machine.path("home/garden/plan.txt");
    const write = { tool: "Write", input: { file_path: file, content: "water the basil" } };
    await desk.send(script("Write it down.", write, { say: "It is written" }));
    const cards = [desk, phone].map((device) => device.page.getByRole("region", { name: "May this be changed?" }));
    await Promise.all(cards.map((card) => card.getByText("water the basil").waitFor()));
    expect(stage.machine.read("home/garden/plan.txt")).toBe("");
    expect(await phone.page.title()).toMatch(/^\(1\)/);
    const buttons = cards.map((card) =>
      card.getByRole("button", { name: "Allow once", disabled: false }).elementHandle(),
    );
    const both = await Promise.all(buttons);
    await Promise.all(both.map((button) => button?.evaluate((element) => (element as HTMLElement).click())));
    for (const device of [desk, phone]) {
      await device.said("It is written").waitFor();
      expect(await device.page.getByRole("region", { name: "May this be changed?" }).count()).toBe(0);
      await device.page.getByRole("button", { name: /^Write .*plan\.txt/ }).click();
      await device.log.getByText(/allowed by/).waitFor();
    }
    expect(stage.machine.read("home/garden/plan.txt")).toBe("water the basil");
    expect(await desk.page.title()).not.toMatch(/^\(/);
    await desk.page.keyboard.press("Alt+i");
    const lately = desk.page.getByRole("region", { name: "Decided lately" });
    await lately.getByText(/allowed by (you|Phone)/).waitFor();
  });

  it("asks a question on every device, and the answer of one takes it off the others", async () => {
    const name = await conversation();
    await onPhone(name);
    await desk.send(script("Ask me.", { tool: "AskUserQuestion", input: QUESTION }, { say: "Noted" }));
    await desk.page.getByText("Which plant?").first().waitFor();
    await phone.page.getByLabel(/^Mint/).check();
    await phone.page.getByRole("button", { name: "Answer" }).click();
    await desk.said("Noted").waitFor();
    await phone.said("Noted").waitFor();
    await desk.page.getByRole("region", { name: "Claude asks" }).waitFor({ state: "detached" });
  });

  it("stops a turn and goes on with the next message", async () => {
    await conversation();
    const words = { say: "one two three four", chunks: 4, gate: "never", gate_at: 1 };
    await desk.send(script("Count.", words));
    await desk.said("one").waitFor();
    await desk.page.getByRole("button", { name: "Stop", exact: true }).click();
    await desk.log.getByText("Stopped by you").waitFor();
    await desk.send(script("Go on.", { say: "five six" }));
    await desk.said("five six").waitFor();
  });

  it("shows what waits for the end of a turn, and takes it back on request", async () => {
    await conversation();
    await desk.send(script("Count.", { say: "one two three four", chunks: 4, gate: "wait", gate_at: 1 }));
    await desk.said("one").waitFor();
    for (const words of ["first", "second"]) {
      await desk.field.fill(script(words, { say: `answer to ${words}` }));
      await desk.page.getByRole("button", { name: "How to send while Claude works" }).click();
      await desk.page.getByRole("menuitemradio", { name: /Send afterwards/ }).click();
      await desk.page.getByRole("article", { name: "You" }).filter({ hasText: words }).getByText("Take back").waitFor();
    }
    const first = desk.page.getByRole("article", { name: "You" }).filter({ hasText: "first" });
    await first.getByText("Take back").click();
    await desk.log.getByText("A message was taken back").waitFor();
    stage.machine.openGate("wait");
    await desk.said("answer to second").waitFor();
    expect(await desk.said("answer to first").count()).toBe(0);
  });

  it("shows after a reload in mid-stream what was said before and what comes, once", async () => {
    await conversation();
    await desk.send(script("Count.", { say: "alpha beta gamma delta", chunks: 4, gate: "reload", gate_at: 2 }));
    await desk.said("alpha beta").waitFor();
    await desk.page.reload();
    await desk.said("alpha beta").waitFor();
    expect(await desk.said("alpha").count()).toBe(1);
    stage.machine.openGate("reload");
    await desk.said("alpha beta gamma delta").waitFor();
    await desk.log.getByText("Done").waitFor();
    expect(await desk.said("alpha").count()).toBe(1);
  });

  it("goes on by itself when relay and Pylon were killed in mid-turn", async () => {
    const name = await conversation();
    await onPhone(name);
    await desk.send(script("Count.", { say: "uno due tre quattro", chunks: 4, gate: "killed", gate_at: 2 }));
    for (const device of [desk, phone]) await device.said("uno due").waitFor();
    await stage.machine.killUp();
    await desk.page.getByText("Connection lost").waitFor();
    await desk.send(script("And then?", { say: "cinque" }));
    await desk.log.getByText("Waits for the connection").waitFor();
    stage.machine.openGate("killed");
    await stage.machine.up();
    for (const device of [desk, phone]) {
      await device.said("uno due tre quattro").waitFor();
      await device.said("cinque").waitFor();
      expect(await device.said("uno due tre quattro").count()).toBe(1);
      expect(await device.page.getByRole("article", { name: "You" }).count()).toBe(2);
    }
  });

  it("keeps to a rule that a person sets, and offers the commands of the CLI", async () => {
    const admin = await stage.open("Admin", { rights: "view,prompt,approve,admin", at: "rules" });
    await admin.page.getByRole("textbox", { name: "Calls" }).fill("Bash(rm:*)");
    await admin.page.getByLabel("What happens").selectOption("deny");
    await admin.page.getByRole("button", { name: "Add rule" }).click();
    await admin.page.getByRole("button", { name: "Remove the rule Bash(rm:*)" }).waitFor();
    await admin.page
      .getByRole("listitem")
      .getByText(/everywhere · since/)
      .waitFor();
    const attempt = admin.page.getByRole("form", { name: "Try it out" });
    await attempt.getByRole("textbox", { name: "Command" }).fill("rm -r seeds");
    await attempt.getByRole("button", { name: "Judge" }).click();
    await attempt.getByRole("status").getByText("Denied").waitFor();
    await attempt.getByText(/Bash\(rm:\*\)/).waitFor();
    await attempt.getByRole("textbox", { name: "Command" }).fill("ls");
    await attempt.getByRole("button", { name: "Judge" }).click();
    await attempt.getByRole("status").getByText("Asks").waitFor();
    expect(await seriousFindings(admin.page)).toEqual([]);
    await conversation();
    await desk.send(script("Tidy up.", { tool: "Bash", input: { command: "rm seeds.txt" } }, { say: "I may not" }));
    await desk.said("I may not").waitFor();
    await desk.log.getByText("failed").waitFor();
    expect(await desk.page.getByRole("region", { name: "May this run?" }).count()).toBe(0);
    await desk.field.fill("/");
    await desk.page.getByRole("listbox", { name: "Commands" }).waitFor();
    await desk.page.keyboard.press("Tab");
    await expect.poll(() => desk.field.inputValue()).toMatch(/^\/\S+ $/);
    await desk.field.fill("");
    await admin.page.getByRole("button", { name: "Remove the rule Bash(rm:*)" }).click();
    await admin.page.getByText("No rules yet.").waitFor();
  });

  it("resumes after the machine was switched off, with everything that was said", async () => {
    const name = await conversation();
    await desk.send(script("Remember.", { say: "I remember" }));
    await desk.said("I remember").waitFor();
    await stage.machine.switchOff();
    await desk.page.getByText("Connection lost").waitFor();
    await stage.machine.up();
    await desk.page.getByText("Connection lost").waitFor({ state: "detached" });
    await desk.send(script("Do you?", { say: "I do" }));
    await desk.said("I do").waitFor();
    await desk.log.getByText("Resumed, with everything that was said before").waitFor();
    expect(await desk.said("I remember").count()).toBe(1);
    await onPhone(name);
    await phone.said("I do").waitFor();
  });

  it("marks where a summary has taken the place of what was said, also after a reload", async () => {
    await conversation();
    await desk.send(script("Remember much.", { say: "I remember much" }));
    await desk.said("I remember much").waitFor();
    await desk.log.getByText("Done").waitFor();
    await desk.send("/compact");
    const mark = desk.log.getByText(/^Summed up: .* \(125 → 654 tokens\)$/);
    await mark.waitFor();
    await desk.page.reload();
    await mark.waitFor();
    expect(await mark.count()).toBe(1);
  });

  it("pages back through a long conversation and finds what was said in it", async () => {
    const name = await conversation();
    const lines = Array.from({ length: 120 }, (_, index) => ({ tool: "Read", input: { file_path: `/none/${index}` } }));
    await desk.send(script("Begin at the needle.", ...lines, { say: "that was long" }));
    await desk.said("that was long").waitFor();
    await desk.page.reload();
    await desk.said("that was long").waitFor();
    const top = desk.log.getByText(/Begin at the needle/);
    expect(await top.count()).toBe(0);
    await desk.page.keyboard.press("Control+k");
    await desk.page.getByRole("combobox").fill("needle");
    await desk.page.getByRole("option", { name: new RegExp(`needle.*${name}`) }).click();
    await top.waitFor();
    await expect.poll(() => top.evaluate(isInView)).toBe(true);
    await desk.page.getByRole("button", { name: /newest/ }).click();
    await desk.said("that was long").waitFor();
    const up = async () => {
      await wheel(desk.log, -10_000);
      return desk.log.getByText("Beginning of the conversation").isVisible();
    };
    await expect.poll(up).toBe(true);
  });

  it("speaks three languages, and shuts nobody out in light and dark", async () => {
    const { page } = desk;
    for (const [language, word] of [
      ["한국어", "설정"],
      ["日本語", "設定"],
      ["English", "Settings"],
    ] as const) {
      await page.goto(`${stage.machine.address}/#/settings`);
      await page.getByText(language, { exact: true }).click();
      await page.getByRole("heading", { name: word, level: 1 }).waitFor();
    }
    for (const device of [desk, phone]) {
      for (const view of ["inbox", "list", "settings", "usage", "work"]) {
        await device.page.goto(`${stage.machine.address}/#/${view}`);
        await device.page.getByRole("main").waitFor();
        expect(await seriousFindings(device.page), view).toEqual([]);
        const isWide = await device.page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
        expect(isWide, view).toBe(false);
      }
    }
  });
});
