import { expect, it } from "vitest";
import { formatsOf } from "./format";

it("says sizes in one unit of the language, from nothing to more than there is", () => {
  const { bytes } = formatsOf("en");
  expect([0, 999, 1_000, 18_400_000, 2_500_000_000, 7e15].map(bytes)).toEqual([
    "0 byte",
    "999 byte",
    "1 kB",
    "18.4 MB",
    "2.5 GB",
    "7,000 TB",
  ]);
});
