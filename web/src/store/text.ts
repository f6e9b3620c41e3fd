/** The words and formats of the chosen language, for components. English stands in while another one loads. */
import { create } from "zustand";
import { type Catalogue, en, type Language, loadCatalogue } from "@/i18n";
import { type Formats, formatsOf } from "@/i18n/format";
import { useSettings } from "./settings";

interface Loaded {
  language: Language;
  text: Catalogue;
}

const useLoaded = create<Loaded>(() => ({ language: "en", text: en }));

export function useText(): Catalogue {
  return useLoaded((loaded) => loaded.text);
}

/** The words of this moment, for what is no component. */
export function textNow(): Catalogue {
  return useLoaded.getState().text;
}

export function useFormats(): Formats {
  return formatsOf(useLoaded((loaded) => loaded.language));
}

/** Loads the language of the settings, now and whenever it changes. */
export async function followLanguage(): Promise<void> {
  const apply = async (language: Language) => {
    const text = await loadCatalogue(language).catch(() => en);
    if (useSettings.getState().language !== language) return;
    useLoaded.setState({ language, text });
    document.documentElement.lang = language;
  };
  useSettings.subscribe((now, before) => now.language !== before.language && void apply(now.language));
  await apply(useSettings.getState().language);
}
