import { expect, it } from "vitest";
import { fitting, typed } from "./commands";

it("offers commands only while one is being typed, and nothing else", () => {
  expect(typed("/re")).toBe("re");
  expect(typed("/")).toBe("");
  for (const other of ["re", "/review now", "see /re", "", "/path/to"]) expect(typed(other)).toBeNull();
});

it("puts those first that begin with it", () => {
  expect(fitting(["pr-review", "compact", "review"], "/re")).toEqual(["review", "pr-review"]);
  expect(fitting(["compact"], "compact")).toEqual([]);
});
