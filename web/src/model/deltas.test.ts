import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { complete, fromBlocks, type OpenText, place } from "./deltas";

const at = (place: number, content: string, block = 0, generation = 1) => ({ content, at: place, block, generation });

function all(deltas: ReturnType<typeof at>[], open: readonly OpenText[] = []) {
  const outcomes: string[] = deltas.map((delta) => {
    const placed = place(open, delta, 0);
    if (placed.type === "applied") open = placed.open;
    return placed.type;
  });
  return [...outcomes, ...open.map((text) => text.text)];
}

describe("pieces of text", () => {
  it("are appended where they belong, ignored when known, and a hole is noticed", () => {
    expect(all([at(0, "Hel"), at(3, "lo"), at(3, "lo"), at(9, "!")])).toEqual([
      "applied",
      "applied",
      "ignored",
      "gap",
      "Hello",
    ]);
  });

  it("of an unseen block that does not begin at its beginning are a hole", () => {
    expect(all([at(4, "late")])).toEqual(["gap"]);
  });

  it("count UTF-16 units, as the machine does", () => {
    expect(all([at(0, "🌙"), at(2, "!")])).toEqual(["applied", "applied", "🌙!"]);
  });

  it("of two blocks are kept apart, and the complete text takes the first away", () => {
    const open = [at(0, "one", 0), at(0, "two", 2)].reduce<readonly OpenText[]>((list, delta) => {
      const placed = place(list, delta, 0);
      return placed.type === "applied" ? placed.open : list;
    }, []);
    expect(complete(open, undefined).open.map((text) => text.text)).toEqual(["two"]);
  });

  it("go on where the machine says that a block is", () => {
    const open = fromBlocks([{ kind: "text", generation: 1, block: 2, content: "Hel" }], 0);
    expect(all([at(3, "lo", 2), at(5, " you", 2), at(5, " you", 2)], open)).toEqual([
      "applied",
      "applied",
      "ignored",
      "Hello you",
    ]);
  });

  it("that are known in part add the rest, and another beginning replaces what was broken off", () => {
    expect(all([at(0, "Hel"), at(0, "Hello")])).toEqual(["applied", "applied", "Hello"]);
    expect(all([at(0, "Hel"), at(0, "Good")])).toEqual(["applied", "applied", "Good"]);
  });

  it("of thinking are no text", () => {
    const thinking = place([], at(0, "hm"), 0, "thinking");
    const open = thinking.type === "applied" ? thinking.open : [];
    expect(all([at(0, "Hi", 1)], open)).toEqual(["applied", "hm", "Hi"]);
    expect(complete(open, undefined).open).toEqual(open);
    expect(complete(open, undefined, "thinking").open).toEqual([]);
  });

  it("make the same text however often they are repeated", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ minLength: 1 }), { minLength: 1 }),
        fc.infiniteStream(fc.nat(3)),
        (pieces, repeats) => {
          let open: readonly OpenText[] = [];
          let length = 0;
          for (const content of pieces) {
            for (let times = 0; times <= (repeats.next().value ?? 0); times++) {
              const placed = place(open, at(length, content), 0);
              if (placed.type === "applied") open = placed.open;
            }
            length += content.length;
          }
          expect(open[0]?.text).toBe(pieces.join(""));
        },
      ),
    );
  });
});
