import { describe, expect, it } from "vitest";
import { AT_END, drawn, type Following, followsGrowth, handMoved, pressed, scrolled } from "./following";

function rest(following: Following): Following {
  let now = following;
  for (let frame = 0; frame < 60; frame++) now = drawn(now);
  return now;
}

describe("following the end", () => {
  it("stays at the end when the list moves by itself, however far", () => {
    const moved = scrolled(scrolled(AT_END, 9_000), 4_000);
    expect(moved.isAtEnd).toBe(true);
    expect(followsGrowth(moved)).toBe(true);
  });

  it("leaves with a hand, also when the movement goes on after it", () => {
    const pushed = scrolled(handMoved(AT_END), 30);
    expect(pushed.isAtEnd).toBe(true);
    expect(followsGrowth(pushed)).toBe(false);
    const rolling = scrolled(drawn(drawn(pushed)), 400);
    expect(rolling.isAtEnd).toBe(false);
    expect(followsGrowth(rest(rolling))).toBe(false);
  });

  it("is at the end again when the hand came to rest near it", () => {
    expect(followsGrowth(rest(scrolled(handMoved(AT_END), 30)))).toBe(true);
  });

  it("does not take what the list does later for the hand", () => {
    expect(scrolled(rest(handMoved(AT_END)), 2_000).isAtEnd).toBe(true);
  });

  it("waits for a hand that holds the bar, as long as it does", () => {
    const held = rest(pressed(AT_END, true));
    expect(scrolled(held, 500).isAtEnd).toBe(false);
    expect(followsGrowth(held)).toBe(false);
    expect(followsGrowth(rest(pressed(held, false)))).toBe(true);
  });

  it("comes back by whatever brings it there", () => {
    const away = rest(scrolled(handMoved(AT_END), 900));
    expect(scrolled(away, 10).isAtEnd).toBe(true);
  });
});
