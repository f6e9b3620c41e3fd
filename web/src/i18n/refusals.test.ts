/** Every refusal that the protocol knows has words in every language. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { refusal as en } from "./refusals/en";
import { refusal as ja } from "./refusals/ja";
import { refusal as ko } from "./refusals/ko";

/** The codes as the protocol's types name them: types are gone when a test runs, their text is not. */
function codes(): string[] {
  const source = readFileSync(fileURLToPath(new URL("../gen/error.ts", import.meta.url)), "utf8");
  const [, union = ""] = /export type ErrorCode = ([^;]+);/.exec(source) ?? [];
  return [...union.matchAll(/"(\w+)"/g)].map(([, code = ""]) => code);
}

it("has words for every code, in every language", () => {
  expect(codes().length).toBeGreaterThan(30);
  for (const [language, words] of Object.entries({ en, ko, ja })) {
    const known: Record<string, string> = words;
    const missing = codes().filter((code) => !known[code]?.trim());
    expect(missing, language).toEqual([]);
  }
});

it("says nothing twice the same way in two languages", () => {
  const others: Record<string, string>[] = [ko, ja];
  for (const [code, words] of Object.entries(en)) for (const other of others) expect(other[code], code).not.toBe(words);
});
