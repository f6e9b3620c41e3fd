/** Terminals in the page: a real shell over the relay, on several devices, through reloads and kills. */
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { seriousFindings } from "../axe";
import { PHONE } from "../browser";
import type { Device } from "./device";
import { hasClaude, hasMachine, type Machine, script } from "./machine";
import { rig } from "./rig";

const RIGHTS = "view,prompt,approve,terminal";

/** What the terminal shows. */
function shown(page: Page, words: string | RegExp) {
  return page.locator(".xterm-rows > div").filter({ hasText: words }).first();
}

async function type(page: Page, words: string): Promise<void> {
  await page.getByRole("textbox", { name: /^Terminal/ }).focus();
  await page.keyboard.type(words);
  await page.keyboard.press("Enter");
}

describe.skipIf(!hasMachine)("terminals of a real machine", () => {
  const stage = rig({ workspace: "garden" });

  /** Puts away every terminal that a test has left. */
  async function none({ page }: Device): Promise<void> {
    const rows = page.getByRole("main").getByRole("listitem");
    await page.getByText("No terminal is open").or(rows.first()).first().waitFor();
    for (let left = await rows.count(); left > 0; left--) {
      await rows.first().getByRole("button", { name: /^End/ }).click();
      const sure = page.getByRole("dialog").getByRole("button", { name: "Yes, end it" });
      await expect
        .poll(async () => {
          if (await sure.isVisible()) await sure.click();
          return rows.count();
        })
        .toBe(left - 1);
    }
    await page.getByText("No terminal is open").waitFor();
  }

  /** A desk at a shell of its own, under the page's own rules; it is the only one there is. */
  async function atShell(): Promise<Device> {
    const desk = await stage.open("Desk", { rights: RIGHTS });
    const { page } = desk;
    await page.getByRole("link", { name: "Work", exact: true }).click();
    await page.getByRole("link", { name: "Terminals" }).click();
    await none(desk);
    await page.getByRole("button", { name: "New shell" }).click();
    await shown(page, /\S/).waitFor();
    return desk;
  }

  it("opens a shell in a workspace, under the page's own rules, in the colours that it asks for", async () => {
    const { page } = await atShell();
    await type(page, "PS1='$ '; pwd; echo basil-$((20+3))");
    await shown(page, /home\/garden/).waitFor();
    await shown(page, "basil-23").waitFor();
    await type(page, "printf '\\033[38;2;255;120;0mcolo''ured\\033[0m plain\\n'");
    const line = shown(page, /^coloured plain/);
    await line.waitFor();
    const colours = await line
      .locator("span")
      .evaluateAll((spans) => spans.map((one) => [one.textContent, getComputedStyle(one).color]));
    expect(colours[0]).toEqual(["coloured", "rgb(255, 120, 0)"]);
  });

  it("shows the same screen to a phone, whose keys and size count for both", async () => {
    const desk = await atShell();
    await type(desk.page, "PS1='$ '; echo basil-$((20+3))");
    await shown(desk.page, "basil-23").waitFor();
    const { page } = await stage.open("Phone", { size: PHONE, rights: RIGHTS });
    await page.getByRole("link", { name: "Work", exact: true }).click();
    await page.getByRole("link", { name: "Terminals" }).click();
    await page.getByRole("link", { name: /Shell/ }).click();
    await shown(page, "basil-23").waitFor();
    await desk.page.getByText("Sized for another screen").waitFor();
    await type(page, "echo wide-$(tput cols 2>/dev/null || stty size | cut -d' ' -f2)-");
    await expect
      .poll(async () => Number(/wide-(\d+)-/.exec((await shown(desk.page, /^wide-/).textContent()) ?? "")?.[1]))
      .toBeLessThan(60);
    await type(page, "cat > /dev/null; echo got-$?");
    await page.getByRole("button", { name: "Ctrl" }).click();
    await page.getByRole("textbox", { name: /^Terminal/ }).focus();
    await page.keyboard.type("c");
    await shown(desk.page, /\^C/).waitFor();
    await page.getByRole("button", { name: "Up", exact: true }).click();
    await shown(page, /^\$ cat > .*got-\$/).waitFor();
    await page.getByRole("button", { name: "Ctrl" }).click();
    await page.keyboard.type("u");
    expect(await seriousFindings(page)).toEqual([]);
    await desk.page.getByRole("button", { name: "Fit to this screen" }).click();
    await desk.page.getByText("Sized for another screen").waitFor({ state: "detached" });
    await page.getByText("Sized for another screen").waitFor();
  });

  it("comes back after a reload, and after relay and Pylon were killed", async () => {
    const { machine } = stage;
    const { page } = await atShell();
    await type(page, "echo before-$((30+1))");
    await shown(page, "before-31").waitFor();
    await page.reload();
    await shown(page, "before-31").waitFor();
    await machine.killUp();
    await page.getByText("The terminal goes on there").waitFor();
    await machine.up();
    await page.getByText("The terminal goes on there").waitFor({ state: "detached" });
    await shown(page, "before-31").waitFor();
    await type(page, "echo after-$((30+2))");
    await shown(page, "after-32").waitFor();
  });

  it("takes a paste as one, without keys in it", async () => {
    const { page } = await atShell();
    await type(page, 'read -r line; echo "<$line>" | cat -v');
    await page.getByRole("textbox", { name: /^Terminal/ }).evaluate((field) => {
      const data = new DataTransfer();
      data.setData("text/plain", "mint\u0003\u001b[A sage");
      field.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
    });
    await page.keyboard.press("Enter");
    await shown(page, /^<(\^\[\[200~)?mint\[A sage(\^\[\[201~)?>/).waitFor();
  });

  it("leads out by the keyboard, tells how a program ended, and puts it away", async () => {
    const { page } = await atShell();
    await page.getByRole("textbox", { name: /^Terminal/ }).focus();
    await page.keyboard.press("Control+]");
    expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe("Back");
    await type(page, "exit 3");
    await page.getByText("ended with exit code 3").waitFor();
    await page.getByRole("button", { name: "Back" }).click();
    const row = page.getByRole("listitem").filter({ hasText: "ended with exit code 3" });
    await row.getByRole("button", { name: /^End/ }).click();
    await page.getByText("No terminal is open").waitFor();
    await page.getByRole("button", { name: "New shell" }).click();
    await shown(page, /\S/).waitFor();
    await page.getByRole("button", { name: "End" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Yes, end it" }).click();
    await page.getByText("No terminal is open").waitFor();
  });

  it("says what is missing to a device without the right", async () => {
    const guest = await stage.open("Guest", { size: PHONE, theme: "light" });
    await guest.page.getByRole("link", { name: "Work", exact: true }).click();
    await guest.page.getByRole("link", { name: "Terminals" }).click();
    await guest.page.getByText("This device may not use terminals").waitFor();
    expect(await guest.page.getByRole("button", { name: "New shell" }).count()).toBe(0);
    expect(await seriousFindings(guest.page)).toEqual([]);
  });
});

/** What a person would have answered at the first start of the agent. */
function answered(folder: string): unknown {
  return {
    hasCompletedOnboarding: true,
    theme: "dark",
    bypassPermissionsModeAccepted: true,
    customApiKeyResponses: { approved: ["fake"], rejected: [] },
    projects: { [folder]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
  };
}

function settle(machine: Machine): void {
  machine.write("home/.claude.json", JSON.stringify(answered(machine.path("home/garden"))));
}

describe.skipIf(!hasClaude)("the agent's own interface", () => {
  const stage = rig({ agent: "claude", prepare: settle });

  it("takes a conversation from the chat, and gives it back", async () => {
    const desk = await stage.open("Desk", { rights: RIGHTS });
    const { page } = desk;
    await desk.makeWorkspace("garden");
    await desk.send(script("Remember the basil.", { say: "I will remember it" }));
    await desk.said("I will remember it").waitFor();
    await desk.log.getByText("Done").waitFor();
    const chat = page.url();
    await page.getByRole("button", { name: "Actions", exact: true }).click();
    await page.getByRole("menuitem", { name: /^Open in the terminal/ }).click();
    await page.getByRole("heading", { name: "Claude's own interface" }).waitFor();
    await shown(page, "I will remember it").waitFor();
    await page.goto(chat);
    await page.getByText("Claude works in a terminal.").waitFor();
    await page.getByRole("link", { name: "Show the terminal" }).click();
    await page.getByText("Ctrl ] leaves").waitFor();
    await page.getByRole("button", { name: "Back to the chat" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "End it and go back" }).click();
    await page.waitForURL(chat);
    await desk.send(script("And the mint.", { say: "The mint as well" }));
    await desk.said("The mint as well").waitFor();
  });
});
