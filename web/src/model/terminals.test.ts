import { expect, it } from "vitest";
import { fitting, keyBytes, pieces, withControl } from "./terminals";

it("arrows follow the mode that the program asked for", () => {
  expect(keyBytes("up", false)).toBe("\x1b[A");
  expect(keyBytes("left", true)).toBe("\x1bOD");
  expect(keyBytes("escape", true)).toBe("\x1b");
  expect(keyBytes("tab", false)).toBe("\t");
});

it("Ctrl makes control characters of letters, and leaves words alone", () => {
  expect(withControl("c")).toBe("\x03");
  expect(withControl("C")).toBe("\x03");
  expect(withControl("[")).toBe("\x1b");
  expect(withControl("@")).toBe("\0");
  expect(withControl(" ")).toBe("\0");
  expect(withControl("?")).toBe("\x7f");
  expect(withControl("1")).toBe("1");
  expect(withControl("가")).toBe("가");
  expect(withControl("clear")).toBe("clear");
});

it("a screen has whole cells, within what a machine takes", () => {
  expect(fitting({ width: 805, height: 410 }, { width: 8, height: 17 })).toEqual({ cols: 100, rows: 24 });
  expect(fitting({ width: 9_000, height: 9_000 }, { width: 8, height: 17 })).toEqual({ cols: 500, rows: 300 });
  expect(fitting({ width: 10, height: 20 }, { width: 8, height: 17 })).toEqual({ cols: 2, rows: 2 });
  expect(fitting({ width: 0, height: 0 }, { width: 8, height: 17 })).toBeNull();
  expect(fitting({ width: 800, height: 400 }, { width: 0, height: 0 })).toBeNull();
  expect(fitting({ width: 800, height: 400 }, { width: Number.NaN, height: 17 })).toBeNull();
});

it("long text goes out whole, in pieces that hold whole characters", () => {
  const text = `x${"🌿".repeat(20_000)}`;
  const parts = pieces(text);
  expect(parts.join("")).toBe(text);
  expect(parts.length).toBe(3);
  for (const part of parts) {
    expect(new TextEncoder().encode(part).length).toBeLessThanOrEqual(65_536);
    expect(part).not.toMatch(/[\uD800-\uDBFF]$/);
  }
  expect(pieces("")).toEqual([]);
});
