/** What a hand does to a list: only that may leave its end. */
import type { Locator } from "playwright-core";

/** Turns the wheel over a list; a negative number of pixels goes back in it. */
export async function wheel(log: Locator, pixels: number): Promise<void> {
  await log.hover({ position: { x: 20, y: 20 }, force: true });
  await log.page().mouse.wheel(0, pixels);
}

/** How far a list is from its end, in pixels. */
export function gap(log: Locator): Promise<number> {
  return log.evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight);
}
