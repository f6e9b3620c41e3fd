/**
 * Colours code in a thread of its own, so that a long piece never holds up the page.
 *
 * Colours are CSS variables, so both themes use the same result. Each language is loaded when it first shows.
 */
/// <reference lib="webworker" />

import type { LanguageRegistration } from "shiki/core";
import { createCssVariablesTheme, createHighlighterCore } from "shiki/core";
import { createJavaScriptRegexEngine } from "shiki/engine/javascript";
import type { Asked, Coloured, Language } from "./highlight";

declare const self: DedicatedWorkerGlobalScope;

const LANGUAGES: Record<Language, () => Promise<{ default: LanguageRegistration[] }>> = {
  typescript: () => import("shiki/langs/typescript.mjs"),
  tsx: () => import("shiki/langs/tsx.mjs"),
  javascript: () => import("shiki/langs/javascript.mjs"),
  json: () => import("shiki/langs/json.mjs"),
  rust: () => import("shiki/langs/rust.mjs"),
  python: () => import("shiki/langs/python.mjs"),
  shellscript: () => import("shiki/langs/shellscript.mjs"),
  go: () => import("shiki/langs/go.mjs"),
  html: () => import("shiki/langs/html.mjs"),
  css: () => import("shiki/langs/css.mjs"),
  yaml: () => import("shiki/langs/yaml.mjs"),
  toml: () => import("shiki/langs/toml.mjs"),
  sql: () => import("shiki/langs/sql.mjs"),
  markdown: () => import("shiki/langs/markdown.mjs"),
  diff: () => import("shiki/langs/diff.mjs"),
  java: () => import("shiki/langs/java.mjs"),
  c: () => import("shiki/langs/c.mjs"),
  cpp: () => import("shiki/langs/cpp.mjs"),
  kotlin: () => import("shiki/langs/kotlin.mjs"),
  swift: () => import("shiki/langs/swift.mjs"),
  ruby: () => import("shiki/langs/ruby.mjs"),
};

const theme = createCssVariablesTheme({ name: "estelle", variablePrefix: "--shiki-", fontStyle: false });
const ready = createHighlighterCore({ themes: [theme], langs: [], engine: createJavaScriptRegexEngine() });

self.onmessage = async ({ data }: MessageEvent<Asked>) => {
  self.postMessage({ id: data.id, lines: await colour(data).catch(() => null) } satisfies Coloured);
};

async function colour({ code, language }: Asked): Promise<Coloured["lines"]> {
  const highlighter = await ready;
  if (!highlighter.getLoadedLanguages().includes(language)) {
    await highlighter.loadLanguage((await LANGUAGES[language]()).default);
  }
  const { tokens } = highlighter.codeToTokens(code, { lang: language, theme: "estelle" });
  return tokens.map((line) => line.map((token) => ({ text: token.content, color: token.color })));
}
