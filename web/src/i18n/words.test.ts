/** The catalogue has the words that are shown, and no others. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { en } from "./en";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Sections whose words are picked by a value of the protocol. */
const PICKED = new Set([
  "refusal",
  "reasons",
  "cause",
  "causeHelp",
  "right",
  "rightHelp",
  "mode",
  "skill",
  "rules",
  "work",
  "state",
  "composer",
  "pairing",
]);

it("every word is used somewhere", () => {
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter(
    (name) => /\.tsx?$/.test(name) && !/^(i18n|gen)\//.test(name),
  );
  const source = files.map((name) => readFileSync(root + name, "utf8")).join("\n");
  const unused = Object.entries(en).flatMap(([section, words]) =>
    Object.keys(words)
      .filter((word) => !PICKED.has(section) && !source.includes(`.${section}.${word}`))
      .map((word) => `${section}.${word}`),
  );
  expect(unused).toEqual([]);
});
