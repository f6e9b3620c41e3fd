import { describe, expect, it } from "vitest";
import { hasHidden, hidesSomething, splitHidden } from "./hidden";

describe("hidden characters", () => {
  it.each([
    ["an escape", "ls \u001b[2K"],
    ["a carriage return", "rm -rf /\rls"],
    ["a reordering", "a\u202eb"],
    ["an isolate", "a\u2066b"],
    ["a zero-width space", "r\u200bm"],
    ["a line separator", "ls\u2028rm"],
    ["a filler", "a\u3164b"],
    ["a tag", "a\u{e0041}"],
    ["half a pair", "a\ud800"],
    ["a joiner between letters", "a\u200db"],
  ])("sees %s", (_name, text) => {
    expect(hasHidden(text)).toBe(true);
    expect(splitHidden(text).length).toBeGreaterThan(1);
    expect(hidesSomething({ command: ["ls", { deep: text }] })).toBe(true);
    expect(hidesSomething({ [text]: 1 })).toBe(true);
  });

  it.each([["plain words\n\twith lines"], ["한국어 日本語 עברית"], ["👩‍💻 and 👨‍👩‍👧 and 🏳️‍🌈"], ["❤️"]])(
    "leaves %s alone",
    (text) => {
      expect(hasHidden(text)).toBe(false);
      expect(hidesSomething({ text, list: [1, null, true] })).toBe(false);
    },
  );
});
