import { expect, it } from "vitest";
import { linesOf, secondTry } from "./second-try";

it("tries again only where it is asked to", () => {
  expect(secondTry({})).toEqual({});
  expect(secondTry({ ESTELLE_SECOND_TRY: "0" })).toEqual({});
  expect(secondTry({ ESTELLE_SECOND_TRY: "1" }).retry).toBe(1);
});

it("names what was tried again, and nothing else", () => {
  const test = (fullName: string, retryCount: number) => ({
    fullName,
    diagnostic: () => ({ retryCount }),
    result: () => ({ state: "passed" }),
  });
  const children = { allTests: () => [test("talking > sends once", 1), test("talking > waits", 0)] };
  const modules = [{ relativeModuleId: "talk.e2e.ts", children }] as unknown as Parameters<typeof linesOf>[0];
  expect(linesOf(modules)).toEqual(["Tried again: talk.e2e.ts > talking > sends once (passed)"]);
});
