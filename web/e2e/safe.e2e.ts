/** What the page must never do, whatever a conversation says, and what it must always be: usable by everybody. */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seriousFindings } from "./axe";
import { DESK, PHONE, Stage } from "./browser";

const stage = new Stage();
beforeAll(() => stage.open());
afterAll(() => stage.close());

describe("hostile text", () => {
  it("stays text: no script, no remote picture, no bad link, no frame", async () => {
    const { page, requests, errors } = await stage.visit({ scene: "hostile" });
    await page.getByText("<script>alert(1)</script>", { exact: true }).waitFor();
    const found = await page.evaluate(() => ({
      scripts: document.querySelectorAll("#root script, #root iframe, #root img, #root object, #root svg script")
        .length,
      links: [...document.querySelectorAll("#main a")].map((link) => (link as HTMLAnchorElement).href),
    }));
    expect(found.scripts).toBe(0);
    for (const link of found.links) expect(link).toMatch(/^https:\/\//);
    expect(requests.filter((url) => !url.startsWith(stage.address))).toEqual([]);
    await page.getByText("goes to evil.example").waitFor();
    await page.getByText("U+202E").first().waitFor();
    expect(errors).toEqual([]);
    await page.context().close();
  });
});

const SCENES = [
  "chat",
  "permission",
  "question",
  "plan",
  "failed",
  "inbox",
  "list",
  "settings",
  "usage",
  "work",
  "pairing",
  "lost",
];

describe("accessibility", () => {
  for (const scene of SCENES) {
    it(`finds nothing serious in ${scene}, on phone and desk, light and dark`, async () => {
      for (const [size, theme] of [
        [PHONE, "light"],
        [DESK, "dark"],
      ] as const) {
        const { page } = await stage.visit({ scene, size, theme });
        await page.waitForTimeout(scene === "lost" ? 1_500 : 400);
        const findings = await seriousFindings(page);
        expect(findings).toEqual([]);
        await page.context().close();
      }
    });
  }
});

describe("languages", () => {
  for (const language of ["en", "ko", "ja"] as const) {
    it(`${language} fits a phone without sideways scrolling`, async () => {
      for (const scene of ["permission", "question", "inbox", "list", "settings", "pairing", "lost"]) {
        const { page } = await stage.visit({ scene, size: PHONE, language });
        await page.waitForTimeout(300);
        const isWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
        expect(isWide, scene).toBe(false);
        expect(await page.evaluate(() => document.documentElement.lang)).toBe(language);
        await page.context().close();
      }
    });
  }
});
