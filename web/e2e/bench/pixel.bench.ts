/**
 * From a line of the agent to the screen: the simulator writes into each piece of text when it was made, the page says
 * after which frame it stood there. One line of JSON with the figures is printed.
 */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { DESK, launch, PHONE } from "../browser";
import { Device } from "../real/device";
import { Machine, script } from "../real/machine";

const PIECES = Number(process.env.ESTELLE_PIECES ?? 500);
/** A hundred pieces a second are more than any agent writes. */
const DISTANCE_MS = 10;

let browser: Browser;
let machine: Machine;

beforeAll(async () => {
  browser = await launch();
  machine = await Machine.start("simulator");
});

afterAll(async () => {
  await browser?.close();
  await machine?.stop();
});

/** How long each piece took, in milliseconds, and how long frames were apart meanwhile. */
interface Seen {
  delays: number[];
  frames: number[];
}

/** Looks at the newest text after every frame until the last piece stands there. Runs in the page. */
function watch(pieces: number): Promise<Seen> {
  const delays: number[] = [];
  const frames: number[] = [];
  let next = 0;
  let before = performance.now();
  return new Promise((done) => {
    const frame = () => {
      const text = [...document.querySelectorAll("[role=log] .prose p")].at(-1)?.textContent ?? "";
      const made: number[] = [];
      for (;;) {
        const found = new RegExp(`(?:^|\\s)${next}:(\\d{16})(?=\\s|$)`).exec(text);
        if (!found) break;
        made.push(Number(found[1]) / 1000);
        next += 1;
      }
      // A message to itself is taken when the frame is drawn.
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        const now = performance.timeOrigin + performance.now();
        delays.push(...made.map((at) => now - at));
        frames.push(performance.now() - before);
        before = performance.now();
        if (next >= pieces) done({ delays, frames });
        else requestAnimationFrame(frame);
      };
      port2.postMessage(0);
    };
    requestAnimationFrame(frame);
  });
}

function quantile(sorted: number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

it("takes a piece of text from the agent to the screen", async () => {
  const figures: Record<string, unknown> = {};
  for (const [name, size] of [
    ["desk", DESK],
    ["phone", PHONE],
  ] as const) {
    const device = await Device.open(browser, machine, { size, token: machine.device(name) });
    await device.makeWorkspace("garden");
    const seen = device.page.evaluate(watch, PIECES);
    await device.send(script("Count.", { say: "x", chunks: PIECES, delay_ms: DISTANCE_MS, stamp: true }));
    const { delays, frames } = await seen;
    expect(delays).toHaveLength(PIECES);
    const [sorted, apart] = [delays, frames].map((list) => list.toSorted((one, other) => one - other)) as [
      number[],
      number[],
    ];
    figures[name] = {
      p50_ms: quantile(sorted, 0.5),
      p99_ms: quantile(sorted, 0.99),
      frame_ms: quantile(apart, 0.5),
    };
    await device.close();
  }
  console.log(JSON.stringify(figures));
});
