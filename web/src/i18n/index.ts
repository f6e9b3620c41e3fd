/**
 * Languages of the app. English is always there; the others are loaded when they are chosen.
 *
 * The type of the English catalogue is the contract: a missing key or a wrong argument does not compile.
 */
import { type Catalogue, en } from "./en";

export type { Catalogue };
export { en };

export const LANGUAGES = { en: "English", ko: "한국어", ja: "日本語" } as const;
export type Language = keyof typeof LANGUAGES;

export async function loadCatalogue(language: Language): Promise<Catalogue> {
  switch (language) {
    case "en":
      return en;
    case "ko":
      return (await import("./ko")).ko;
    case "ja":
      return (await import("./ja")).ja;
  }
}

/** The first language the browser asks for that we have. */
export function preferredLanguage(wanted: readonly string[]): Language {
  for (const tag of wanted) {
    const base = tag.toLowerCase().split("-")[0];
    if (base && base in LANGUAGES) return base as Language;
  }
  return "en";
}
