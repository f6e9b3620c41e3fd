import { expect, it } from "vitest";
import { rank } from "./rank";

it("puts what begins like the query first and leaves out what does not fit", () => {
  const names = ["Fix the relay", "Relay tests", "Write docs"];
  expect(rank(names, "relay", (name) => name)).toEqual(["Relay tests", "Fix the relay"]);
  expect(rank(names, "wd", (name) => name)).toEqual(["Write docs"]);
  expect(rank(names, "", (name) => name)).toEqual(names);
});
