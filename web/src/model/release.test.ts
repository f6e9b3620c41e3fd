import { expect, it } from "vitest";
import { buildMoment, standingOf } from "./release";

it("tells whether the published build is the one that runs", () => {
  expect(standingOf("0.1.0", "v0.1.0")).toBe("same");
  expect(standingOf("0.1.0", "0.2.0")).toBe("other");
  expect(standingOf(undefined, "0.2.0")).toBe("unknown");
  expect(standingOf("0.1.0", null)).toBe("unknown");
});

it("reads when a build was made, and nothing that is no moment", () => {
  expect(buildMoment("20261116093005")).toBe(Date.UTC(2026, 10, 16, 9, 30, 5));
  for (const strange of [null, "", "2026", "20261399000000", "20260231000000", "yesterday"])
    expect(buildMoment(strange)).toBeUndefined();
});
