/**
 * Colours for code, loaded when the first piece of code shows, with one chunk per language.
 *
 * Colours are CSS variables, so both themes use the same result. Long code stays plain: a regular expression that
 * stumbles over hostile text must not stop the page.
 */
import type { HighlighterCore } from "shiki/core";

export interface Piece {
  text: string;
  color?: string;
}

const LONGEST = 20_000;

const LANGUAGES = {
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
} as const;

type Known = keyof typeof LANGUAGES;

const ALIASES: Record<string, Known> = {
  ts: "typescript",
  js: "javascript",
  jsx: "tsx",
  mjs: "javascript",
  rs: "rust",
  py: "python",
  sh: "shellscript",
  bash: "shellscript",
  zsh: "shellscript",
  shell: "shellscript",
  console: "shellscript",
  yml: "yaml",
  md: "markdown",
  jsonc: "json",
  h: "c",
  cc: "cpp",
  hpp: "cpp",
  kt: "kotlin",
  rb: "ruby",
  patch: "diff",
};

/** The language we can colour for a fence's word or a file's ending. */
export function knownLanguage(name: string): string | null {
  const lower = name.toLowerCase();
  if (Object.hasOwn(LANGUAGES, lower)) return lower;
  return Object.hasOwn(ALIASES, lower) ? (ALIASES[lower] ?? null) : null;
}

export function languageOfPath(path: string): string | null {
  const ending = /\.([a-z0-9]+)$/i.exec(path)?.[1];
  return ending ? knownLanguage(ending) : null;
}

let core: Promise<HighlighterCore> | null = null;

function load(): Promise<HighlighterCore> {
  core ??= (async () => {
    const [{ createHighlighterCore, createCssVariablesTheme }, { createJavaScriptRegexEngine }] = await Promise.all([
      import("shiki/core"),
      import("shiki/engine/javascript"),
    ]);
    const theme = createCssVariablesTheme({ name: "estelle", variablePrefix: "--shiki-", fontStyle: false });
    return createHighlighterCore({ themes: [theme], langs: [], engine: createJavaScriptRegexEngine() });
  })();
  return core;
}

/** Lines of coloured pieces, or null where plain text has to do. */
export async function highlight(code: string, name: string): Promise<Piece[][] | null> {
  const language = knownLanguage(name);
  if (language === null || code.length > LONGEST) return null;
  try {
    const highlighter = await load();
    if (!highlighter.getLoadedLanguages().includes(language))
      await highlighter.loadLanguage(LANGUAGES[language as Known]());
    const { tokens } = highlighter.codeToTokens(code, { lang: language, theme: "estelle" });
    return tokens.map((line) => line.map((token) => ({ text: token.content, color: token.color })));
  } catch {
    return null;
  }
}
