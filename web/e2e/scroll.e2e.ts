/**
 * A quick hand on a long conversation, on a phone four times slower: there is always something to read.
 *
 * Two ways to look. One asks the page at every frame, at three places, before the list could answer the movement; it is
 * exact and does not depend on the machine. The other looks at the pictures that the browser really showed.
 */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PHONE, Stage } from "./browser";
import { emptyStretch, picturesOf } from "./pictures";
import { slow } from "./slow";

const stage = new Stage();
beforeAll(() => stage.open());
afterAll(() => stage.close());

/** Empty room between what is said is at most this high, in pixels; more is a hole. */
const HOLE_PX = 90;

async function open(more: string): Promise<Page> {
  const { page } = await stage.visit({ scene: "long", size: PHONE, more });
  await page.getByText("It is called from").first().waitFor();
  await slow(page);
  return page;
}

/** Rows exist around the picture: those that are made when the page has time, too. */
async function warm(page: Page): Promise<void> {
  await page.waitForFunction(() => {
    const log = document.querySelector("[role=log]");
    const first = log?.querySelector("[data-row]");
    return log && first && first.getBoundingClientRect().top < log.getBoundingClientRect().top - 2_000;
  });
}

describe("a quick hand", () => {
  it("finds a row at every place of every frame, there and back", { timeout: 600_000 }, async () => {
    const page = await open("&entries=10000");
    await warm(page);
    const seen = await page.evaluate(async () => {
      const log = document.querySelector("[role=log]") as HTMLElement;
      // A list that moves takes no hits; the question is what is there, not what can be pressed.
      const style = new CSSStyleSheet();
      style.replaceSync("[role=log] * { pointer-events: auto !important }");
      document.adoptedStyleSheets.push(style);
      const isRow = (x: number, y: number) =>
        document.elementsFromPoint(x, y).some((one) => {
          const row = one.closest("[data-row]");
          return row !== null && row.textContent !== "" && getComputedStyle(row).visibility === "visible";
        });
      const { left, width, top, height } = log.getBoundingClientRect();
      const places = [0.05, 0.5, 0.95].map((part) => top + height * part);
      let [frames, holes, travelled] = [0, 0, 0];
      // Right after a picture: what is there then is what it showed, and nothing that is being made for the next one.
      const shown = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      // Six hundred pixels a frame are six thousand a second on a phone that manages ten frames.
      const fling = async (step: number, count: number) => {
        for (let index = 0; index < count; index++) {
          log.dispatchEvent(new WheelEvent("wheel", { deltaY: step, bubbles: true }));
          const before = log.scrollTop;
          log.scrollTop += step;
          travelled += Math.abs(log.scrollTop - before);
          if (!places.every((y) => isRow(left + width / 2, y))) holes++;
          frames++;
          await shown();
        }
      };
      for (let round = 0; round < 3; round++) {
        await fling(-600, 40);
        await fling(600, 12);
      }
      return { frames, holes, travelled };
    });
    console.log(
      `A quick hand: ${seen.holes} of ${seen.frames} frames with an empty place, over ${seen.travelled} pixels`,
    );
    expect(seen.travelled).toBeGreaterThan(60_000);
    // Without rows on both sides it is nine of ten frames.
    expect(seen.holes).toBe(0);
    await page.context().close();
  });

  it("sees no hole in any picture that the browser shows", { timeout: 600_000 }, async () => {
    const page = await open("&entries=10000");
    await warm(page);
    const box = await page.getByRole("log").boundingBox();
    if (!box) throw new Error("there is no list");
    const session = await page.context().newCDPSession(page);
    const fling = (yDistance: number) =>
      session.send("Input.synthesizeScrollGesture", {
        ...{ x: 195, y: 400, yDistance, speed: 5_000 },
        gestureSourceType: "mouse",
      });
    const pictures = await picturesOf(page, async () => {
      for (const distance of [6_000, 6_000, -4_000, 6_000, 6_000, -4_000]) await fling(distance);
    });
    const part = { x: 16, y: box.y + 4, width: PHONE.width - 32, height: box.height - 8 };
    const stretches = pictures.map((png) => emptyStretch(png, part, PHONE.width)).sort((a, b) => b - a);
    console.log(
      `${pictures.length} pictures of a quick hand: highest empty stretches ${stretches.slice(0, 3).map(Math.round)} px`,
    );
    expect(pictures.length).toBeGreaterThan(10);
    expect(stretches[0]).toBeLessThan(HOLE_PX);
    await page.context().close();
  });

  it("goes back through all of it to the beginning", { timeout: 600_000 }, async () => {
    const page = await open("&entries=1000");
    const isAtTop = await page.evaluate(async () => {
      const log = document.querySelector("[role=log]") as HTMLElement;
      // The head may say so a picture before the rows below it are there.
      const isThere = () => log.textContent.includes("Beginning") && log.textContent.includes("Question 0:");
      for (let tries = 0; tries < 2_000 && !isThere(); tries++) {
        log.dispatchEvent(new WheelEvent("wheel", { deltaY: -600, bubbles: true }));
        log.scrollTop -= 600;
        await new Promise(requestAnimationFrame);
      }
      return isThere();
    });
    expect(isAtTop).toBe(true);
    await page.context().close();
  });
});
