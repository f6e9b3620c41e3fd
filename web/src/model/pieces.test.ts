import { expect, it } from "vitest";
import { piecesOf } from "./pieces";

const SAMPLES = {
  short: "a line",
  empty: "",
  lines: "a line of code\n".repeat(5_000),
  prose: "word and ".repeat(10_000),
  solid: "x".repeat(100_000),
  pairs: "😀".repeat(30_000),
};

it("together the pieces are the text, and none is long", () => {
  for (const [name, text] of Object.entries(SAMPLES)) {
    const pieces = piecesOf(text, false);
    expect(pieces.join(""), name).toBe(text);
    expect(Math.max(...pieces.map((piece) => piece.length)), name).toBeLessThan(16_002);
  }
});

it("breaks no line that is whole in exact text, and no character anywhere", () => {
  for (const piece of piecesOf(SAMPLES.lines, true).slice(0, -1)) expect(piece.endsWith("\n")).toBe(true);
  expect(piecesOf(SAMPLES.solid, true)).toHaveLength(1);
  expect(piecesOf(`${SAMPLES.solid}\n${SAMPLES.lines}`, true).length).toBeGreaterThan(3);
  for (const piece of piecesOf(SAMPLES.pairs, false)) expect(piece).toMatch(/^😀*$/u);
});
