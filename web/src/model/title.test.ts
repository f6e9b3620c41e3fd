import { expect, it } from "vitest";
import { titleOf } from "./title";

it("takes the first line, cut between words, never inside a character", () => {
  expect(titleOf("  Fix the  relay.\nIt drops devices.")).toBe("Fix the relay");
  const long = titleOf("Please find out why the relay drops a device when two frames arrive in the same tick");
  expect(long).toBe("Please find out why the relay drops a device when two…");
  expect(titleOf("🌱".repeat(80))).toBe(`${"🌱".repeat(56)}…`);
});

it("names nothing by a command or by nothing", () => {
  expect(titleOf("/compact now")).toBe(null);
  expect(titleOf(" \n ")).toBe(null);
});
