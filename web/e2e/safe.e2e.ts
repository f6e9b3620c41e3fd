/**
 * What the page must never do, whatever a conversation says, and what it must always be: usable by everybody.
 *
 * Every view that is checked leaves a picture in `shots/`, to be looked at.
 */
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seriousFindings } from "./axe";
import { DESK, PHONE, Stage } from "./browser";
import { wheel } from "./hand";
import { SHOWN, settle } from "./scenes";

const SHOTS = fileURLToPath(new URL("../shots/", import.meta.url));

const stage = new Stage();
beforeAll(() => stage.open());
afterAll(() => stage.close());

describe("hostile text", () => {
  it("stays text: no script, no remote picture, no bad link, no frame, no control that is not ours", async () => {
    const { page, requests, errors } = await stage.visit({ scene: "hostile" });
    const asked: string[] = [];
    page.on("dialog", (dialog) => {
      asked.push(dialog.message());
      void dialog.dismiss();
    });
    await settle(page, "hostile");
    const seen = new Set<string>();
    const log = page.getByRole("log");
    // From the end to the beginning: only what is near the screen exists.
    const look = async () => {
      await wheel(log, -400);
      const found = await page.evaluate(() => {
        const all = (what: string) => [...document.querySelectorAll(what)];
        return {
          alien: all(
            "#root :is(script, iframe, img, object, embed, form, math, base, link, meta, video, audio), .prose :is(style, svg *[onload], foreignObject)",
          ).map((one) => one.outerHTML),
          inside: all(".prose :is(button, input, select, textarea, [onclick], [style])").filter(
            (one) => !one.closest("figure") && !(one instanceof HTMLInputElement && one.disabled),
          ).length,
          links: all("#main a").map((one) => (one as HTMLAnchorElement).href),
        };
      });
      expect(found.alien).toEqual([]);
      expect(found.inside).toBe(0);
      for (const link of found.links) seen.add(link);
      return log.evaluate((element) => element.scrollTop);
    };
    await expect.poll(look, { interval: 50 }).toBe(0);
    for (const link of seen) expect(link).toMatch(/^https?:\/\//);
    expect(seen.size).toBeGreaterThan(5);
    expect(requests.filter((url) => !url.startsWith(stage.address))).toEqual([]);
    await page.getByText("goes to evil.example").first().waitFor();
    await page.getByText("U+202E").first().waitFor();
    // What only looks like a card is text; no decision is open here.
    expect(await page.getByRole("region", { name: "May this run?" }).count()).toBe(0);
    expect(asked).toEqual([]);
    expect(errors).toEqual([]);
    await page.context().close();
  });
});

describe("a finger", () => {
  for (const scene of ["chat", "permission", "question", "inbox", "list", "settings", "lost"]) {
    it(`has room on everything that is pressed in ${scene}`, async () => {
      const { page } = await stage.visit({ scene, size: PHONE });
      await settle(page, scene);
      const small = await page.evaluate(() => {
        const pressed = [
          ...document.querySelectorAll("button, summary, select, nav a, [role=option], [role=menuitem]"),
        ];
        return pressed
          .filter((one) => !one.matches(".sr-only-focusable"))
          .map((one) => ({ one, box: one.getBoundingClientRect() }))
          .filter(({ box }) => box.width > 0 && box.bottom > 0 && box.top < innerHeight)
          .filter(({ box }) => box.height < 43.5 || box.width < 43.5)
          .map(({ one, box }) => `${Math.round(box.width)}×${Math.round(box.height)} ${one.outerHTML.slice(0, 120)}`);
      });
      expect(small).toEqual([]);
      await page.context().close();
    });
  }
});

/** Every size in every light. */
const LOOKS = (["light", "dark"] as const).flatMap((theme) => [
  { name: `phone-${theme}`, size: PHONE, theme },
  { name: `desk-${theme}`, size: DESK, theme },
]);

/** Windows that open over a conversation, and the words by which one knows that they are there. */
const WINDOWS: Record<string, (page: Page) => Promise<void>> = {
  palette: async (page) => {
    await page.keyboard.press("Control+k");
    await page.getByRole("option").first().waitFor();
  },
  help: async (page) => {
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
  },
  report: async (page) => {
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill("report");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Report a fault" }).waitFor();
  },
  create: async (page) => {
    await page.keyboard.press("Alt+n");
    await page.getByRole("dialog", { name: "New conversation" }).waitFor();
  },
  find: async (page) => {
    await page.keyboard.press("Alt+f");
    await page.getByRole("searchbox", { name: "Search in this conversation" }).fill("buffer");
    await page.getByText("1 of").waitFor();
  },
  message: async (page) => {
    await wheel(page.getByRole("log"), -10_000);
    await page.getByRole("button", { name: "Message", exact: true }).first().click();
    await page.getByRole("button", { name: /^Branch from here/ }).waitFor();
  },
  changes: async (page) => {
    await page.getByRole("button", { name: "1 file" }).click();
    await page.getByRole("dialog", { name: "Changed in this turn" }).getByText("has_frame").waitFor();
  },
  actions: async (page) => {
    await page.getByRole("button", { name: "Actions", exact: true }).click();
    await page.getByRole("menu", { name: "Actions", exact: true }).waitFor();
  },
};

describe("accessibility", () => {
  for (const scene of Object.keys(SHOWN)) {
    it(`finds nothing serious in ${scene}, on phone and desk, light and dark`, async () => {
      for (const { name, size, theme } of LOOKS) {
        const { page } = await stage.visit({ scene, size, theme });
        await settle(page, scene);
        await page.screenshot({ path: `${SHOTS}${scene}-${name}.png` });
        expect(await seriousFindings(page)).toEqual([]);
        await page.context().close();
      }
    });
  }

  for (const [window, open] of Object.entries(WINDOWS)) {
    it(`finds nothing serious with ${window} open`, async () => {
      for (const { name, size, theme } of LOOKS) {
        const { page } = await stage.visit({ scene: "chat", size, theme });
        await settle(page, "chat");
        await open(page);
        await page.screenshot({ path: `${SHOTS}${window}-${name}.png` });
        expect(await seriousFindings(page)).toEqual([]);
        await page.context().close();
      }
    });
  }
});

describe("languages", () => {
  for (const language of ["en", "ko", "ja"] as const) {
    it(`${language} fits a phone without sideways scrolling`, async () => {
      for (const scene of [
        "permission",
        "question",
        "inbox",
        "list",
        "settings",
        "rules",
        "changes",
        "files",
        "usage",
        "work",
        "terminals",
        "terminal",
        "worktrees",
        "deploy",
        "saved",
        "pairing",
        "lost",
      ]) {
        const { page } = await stage.visit({ scene, size: PHONE, language });
        await settle(page, scene);
        const isWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
        expect(isWide, scene).toBe(false);
        expect(await page.evaluate(() => document.documentElement.lang)).toBe(language);
        await page.context().close();
      }
    });
  }
});
