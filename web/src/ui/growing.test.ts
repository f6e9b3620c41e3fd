import fc from "fast-check";
import { lexer, type Token } from "marked";
import { describe, expect, it } from "vitest";
import { type Grown, grow } from "./growing";

/** What a block says, without what only the parser cares for. */
function plain(blocks: readonly Token[]): string {
  return JSON.stringify(blocks);
}

const PARTS = [
  "A word. ",
  "**bold** and `code` ",
  "\n",
  "\n\n",
  "- item\n",
  "1. one\n",
  "2",
  ". two\n",
  "  more\n",
  "    deep\n",
  "```js\n",
  "```\n",
  "```",
  "`",
  "# Head\n",
  "#",
  "***",
  "> said\n",
  "| a | b |\n",
  "|---|---|\n",
  "| 1 | 2 |\n",
  "<div>\n",
  "<!-- ",
  "-->\n",
  "===\n",
  "---\n",
  "\t",
  " ",
  "\\",
  "[a](https://a.example) ",
];

function isAsWhole(parts: readonly string[]): void {
  let grown: Grown | null = null;
  let source = "";
  for (const part of parts) {
    source += part;
    grown = grow(grown, source);
    expect(plain(grown.blocks)).toBe(plain(lexer(source, { gfm: true })));
  }
}

describe("growing text", () => {
  it("has at every moment the blocks that the whole text has", () => {
    fc.assert(fc.property(fc.array(fc.constantFrom(...PARTS), { maxLength: 40 }), isAsWhole), {
      numRuns: 600,
      seed: 7,
    });
  });

  it.each([
    ["a list that goes on behind a blank line", ["Text\n\n", "1. one\n\n", "2", ". two\n\n", "  more\n"]],
    ["a fence that is none", ["Text\n", "```js", "`", " and more"]],
    ["code that goes on behind a blank line", ["Text\n\n", "    one\n\n", " ", "   two\n"]],
    ["a heading that is none", ["Text\n\nmore\n", "#", "1 is here\n\nend"]],
  ])("has the same blocks for %s", (_name, parts) => isAsWhole(parts));

  it("looks again at its end only", () => {
    const paragraph = "Some words that stay as they are.\n\n";
    let grown: Grown | null = null;
    let source = "";
    for (let index = 0; index < 50; index++) {
      source += paragraph;
      grown = grow(grown, source);
    }
    expect(source.length - (grown?.offset ?? 0)).toBeLessThanOrEqual(2 * paragraph.length);
    const later = grow(grown, `${source}The end`);
    expect(later.blocks[10]).toBe(grown?.blocks[10]);
  });

  it("begins anew when the text is another one", () => {
    const grown = grow(grow(null, "One\n\ntwo\n\nthree"), "Another\n\ntext");
    expect(plain(grown.blocks)).toBe(plain(lexer("Another\n\ntext", { gfm: true })));
  });
});
