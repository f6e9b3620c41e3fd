import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countChanges, diffLines } from "./diff";

const marks = { same: " ", added: "+", removed: "-" };
const show = (before: string, after: string) => diffLines(before, after).map((line) => marks[line.type] + line.text);

describe("difference by lines", () => {
  it("keeps what is common and shows the rest", () => {
    expect(show("a\nb\nc\n", "a\nx\nc\nd\n")).toEqual([" a", "-b", "+x", " c", "+d"]);
  });

  it("shows a new file as added", () => {
    expect(show("", "one\ntwo")).toEqual(["+one", "+two"]);
    expect(countChanges(diffLines("", "one\ntwo"))).toEqual({ added: 2, removed: 0 });
  });

  it("numbers both sides", () => {
    expect(diffLines("a\nb", "b\nc").map((line) => [line.before, line.after])).toEqual([
      [1, undefined],
      [2, 1],
      [undefined, 2],
    ]);
  });

  it("gives both texts back, whatever they are", () => {
    const text = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 30 });
    fc.assert(
      fc.property(text, text, (a, b) => {
        const diff = diffLines(a.join("\n"), b.join("\n"));
        expect(diff.filter((line) => line.type !== "added").map((line) => line.text)).toEqual(a);
        expect(diff.filter((line) => line.type !== "removed").map((line) => line.text)).toEqual(b);
      }),
    );
  });
});
