import { expect, it } from "vitest";
import { inputOf, TRIED, type Tried } from "./try-input";

it("each tool gets what was typed in the field that its rules look at", () => {
  for (const tool of Object.keys(TRIED) as Tried[]) expect(inputOf(tool, " it ")[TRIED[tool]]).toBe("it");
  expect(Object.keys(inputOf("Edit", "a"))).toContain("old_string");
});
