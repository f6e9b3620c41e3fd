/** A finger between list and conversation on a phone, and everything else a finger does there. */
import type { CDPSession, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PHONE, Stage } from "./browser";
import { settle } from "./scenes";

const stage = new Stage();
beforeAll(() => stage.open());
afterAll(() => stage.close());

type Point = { x: number; y: number };

/** Draws a finger over the page, as the system reports it. */
async function draw(session: CDPSession, from: Point, to: Point, steps = 6): Promise<void> {
  const touch = (type: "touchStart" | "touchMove" | "touchEnd", points: Point[]) =>
    session.send("Input.dispatchTouchEvent", { type, touchPoints: points });
  await touch("touchStart", [from]);
  for (let step = 1; step <= steps; step++) {
    const part = step / steps;
    await touch("touchMove", [{ x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part }]);
  }
  await touch("touchEnd", []);
}

async function phone(scene: string): Promise<{ page: Page; session: CDPSession }> {
  const { page } = await stage.visit({ scene, size: PHONE });
  await settle(page, scene);
  return { page, session: await page.context().newCDPSession(page) };
}

const path = (page: Page) => page.evaluate(() => location.hash);

describe("a finger", () => {
  it("goes from the conversation to the list, and back to the one that was read", async () => {
    const { page, session } = await phone("chat");
    await draw(session, { x: 100, y: 300 }, { x: 300, y: 310 });
    await expect.poll(() => path(page)).toBe("#/list");
    await draw(session, { x: 300, y: 400 }, { x: 90, y: 400 });
    await expect.poll(() => path(page)).toBe("#/c/relay");
    await page.getByText("Shall I also note it").waitFor();
    expect(await page.locator("#main").evaluate((one) => (one as HTMLElement).style.transform)).toBe("");
    await page.context().close();
  });

  it("scrolls code sideways without leaving the conversation", async () => {
    const { page, session } = await phone("chat");
    const code = page.locator("figure pre, figure [class*=overflow-x]").filter({ hasText: "has_frame" }).first();
    await code.scrollIntoViewIfNeeded();
    const box = await code.boundingBox();
    if (!box) throw new Error("there is no code");
    const y = box.y + box.height / 2;
    await draw(session, { x: 300, y }, { x: 120, y });
    await draw(session, { x: 120, y }, { x: 320, y });
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    expect(await path(page)).toBe("#/c/relay");
    await page.context().close();
  });

  it("stays while text is selected, in the field, at the edge and when it goes down", async () => {
    const { page, session } = await phone("chat");
    const answer = page.getByText("Shall I also note it");
    await answer.evaluate((one) => getSelection()?.selectAllChildren(one));
    await draw(session, { x: 100, y: 300 }, { x: 300, y: 310 });
    expect(await path(page)).toBe("#/c/relay");
    await page.evaluate(() => getSelection()?.removeAllRanges());
    const field = await page.locator("#composer").boundingBox();
    if (!field) throw new Error("there is no field");
    const inside = { x: field.x + 20, y: field.y + 15 };
    await draw(session, inside, { x: inside.x + 200, y: inside.y });
    await draw(session, { x: 8, y: 300 }, { x: 300, y: 300 });
    await draw(session, { x: 100, y: 240 }, { x: 180, y: 500 });
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    expect(await path(page)).toBe("#/c/relay");
    await page.context().close();
  });

  it("leads nowhere from other views", async () => {
    for (const scene of ["settings", "inbox", "work"]) {
      const { page, session } = await phone(scene);
      const before = await path(page);
      await draw(session, { x: 100, y: 30 }, { x: 330, y: 30 });
      await draw(session, { x: 330, y: 30 }, { x: 100, y: 30 });
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
      expect(await path(page)).toBe(before);
      await page.context().close();
    }
  });
});
