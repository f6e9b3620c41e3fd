import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { expect, it } from "vitest";
import { withoutInlineStyles } from "./terminal-styles";

it("the terminal that is installed writes no inline styles once it was changed", () => {
  const file = createRequire(import.meta.url).resolve("@xterm/xterm/lib/xterm.mjs");
  const drawn = withoutInlineStyles(readFileSync(file, "utf8"));
  expect(drawn.match(/createElement\("estelle-sheet"\)/g)?.length).toBe(3);
  expect(drawn).toContain(".style.cssText+=");
});

it("another way of writing them is not let through", () => {
  expect(() => withoutInlineStyles('e.setAttribute("style","color:red")')).toThrow("inline styles");
  expect(() => withoutInlineStyles("e.append(f)")).toThrow("nobody knows");
});
