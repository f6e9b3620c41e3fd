import { describe, expect, it } from "vitest";
import { en, LANGUAGES, type Language, loadCatalogue } from "@/i18n";
import { errorText, refusalText } from "./label";

describe("refusals", () => {
  it.each(Object.keys(LANGUAGES) as Language[])("are in the reader's words in %s", async (language) => {
    const text = await loadCatalogue(language);
    expect(refusalText(text, { code: "forbidden", words: "device lacks the right admin" })).toBe(
      text.refusal.forbidden,
    );
    expect(refusalText(text, { code: "bad_path", words: "/none is no folder" })).toBe(
      `${text.refusal.bad_path} (/none is no folder)`,
    );
    expect(refusalText(text, { words: "" })).toBe(text.errors.unknown);
    expect(refusalText(text, { words: "somebody\u2019s own words" })).toBe("somebody\u2019s own words");
    expect(errorText(text, Object.assign(new Error("x"), { code: "disk_full" }))).toBe(text.refusal.disk_full);
    expect(errorText(text, "nothing")).toBe(text.errors.unknown);
  });

  it("of a kind that came later are said in the machine's words", () => {
    expect(refusalText(en, { code: "of_tomorrow" as "internal", words: "Try tomorrow." })).toBe("Try tomorrow.");
  });
});
