import { expect, it } from "vitest";
import { moved, released, type Swipe, touched } from "./swipe";

const WIDTH = 390;

/** A finger that goes through places, one every `ms`. */
function finger(places: [number, number][], ms = 16): { swipe: Swipe; at: number } {
  const [first = [0, 0], ...others] = places;
  const start = { swipe: touched(first[0], first[1], 0, WIDTH), at: 0 };
  return others.reduce(({ swipe, at }, [x, y]) => ({ swipe: moved(swipe, x, y, at + ms), at: at + ms }), start);
}
const way = (places: [number, number][], ms?: number) => {
  const { swipe, at } = finger(places, ms);
  return released(swipe, at);
};

it("goes back to the right and forth to the left", () => {
  expect(
    way([
      [100, 400],
      [130, 402],
      [220, 405],
    ]),
  ).toBe("back");
  expect(
    way([
      [300, 400],
      [270, 398],
      [180, 390],
    ]),
  ).toBe("forth");
});

it("a quick flick is enough, a slow and short one is taken back", () => {
  expect(
    way([
      [100, 400],
      [120, 400],
      [150, 400],
    ]),
  ).toBe("back");
  expect(
    way(
      [
        [100, 400],
        [120, 400],
        [150, 400],
      ],
      180,
    ),
  ).toBeNull();
  expect(
    way([
      [100, 400],
      [220, 400],
      [110, 400],
    ]),
  ).toBeNull();
});

it("what scrolls, rests or begins at the edge is none, wherever it goes later", () => {
  expect(
    way([
      [100, 400],
      [104, 430],
      [300, 440],
    ]),
  ).toBeNull();
  expect(
    way([
      [100, 400],
      [120, 415],
      [300, 440],
    ]),
  ).toBeNull();
  expect(
    way(
      [
        [100, 400],
        [102, 400],
        [300, 400],
      ],
      300,
    ),
  ).toBeNull();
  expect(
    way([
      [10, 400],
      [60, 400],
      [300, 400],
    ]),
  ).toBeNull();
  expect(
    way([
      [385, 400],
      [300, 400],
      [100, 400],
    ]),
  ).toBeNull();
});
