import { expect, it } from "vitest";
import { isEnough } from "./search";

it("looks for what the machine can find: two letters, or one character of a script without spaces", () => {
  expect(["CI", "go", "v2", "키", "検索", "の", "two words"].filter(isEnough)).toHaveLength(7);
  expect(["", " ", "a", "a-", "…", "?!"].filter(isEnough)).toEqual([]);
});
