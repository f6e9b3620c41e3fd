import { expect, it } from "vitest";
import { base64 } from "./base64";
import { RESTED, take } from "./pace";

/** What the relay lets an app send: 1 MiB a second, ten seconds' worth at once. */
const RATE = 1024 * 1024;
const FRAME = 87_700;

it("never sends more than the relay lets an app send", () => {
  let [pace, now, sent] = [RESTED, 1_000_000, 0];
  const begun = now;
  while (sent < 90 * RATE) {
    const next = take(pace, FRAME, now);
    pace = next.pace;
    now += next.waitMs;
    sent += FRAME;
    expect(sent).toBeLessThan(10 * RATE + ((now - begun) / 1_000) * RATE);
  }
  expect((now - begun) / 1_000).toBeLessThan(150);
});

it("does not hold up a small file", () => {
  expect(take(RESTED, FRAME, 5).waitMs).toBe(0);
});

it("writes bytes as base64 with padding, whatever their length", () => {
  for (const length of [0, 1, 2, 3, 24_575, 24_576, 24_577, 65_536]) {
    const bytes = Uint8Array.from({ length }, (_, index) => index % 251);
    expect(base64(bytes)).toBe(Buffer.from(bytes).toString("base64"));
  }
});
