/** A phone: its processor is four times slower than the one that runs the test. */
import type { Page } from "playwright-core";

export async function slow(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate: 4 });
}
