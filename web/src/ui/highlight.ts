/**
 * Colours for code, made by a worker that starts when the first piece of code shows.
 *
 * Long code stays plain: a regular expression that stumbles over hostile text must not run for ever, and one that does
 * is ended with its worker.
 */
import workerUrl from "./highlight.worker?worker&url";
import { scriptUrl } from "./trusted";

export interface Piece {
  text: string;
  color?: string;
}

/** What the worker is asked, and what it answers. */
export interface Asked {
  id: number;
  code: string;
  language: Language;
}
export interface Coloured {
  id: number;
  lines: Piece[][] | null;
}

const LONGEST = 20_000;
/** A piece that takes longer than this will never be done. */
const PATIENCE_MS = 8_000;

const LANGUAGES = [
  "typescript",
  "tsx",
  "javascript",
  "json",
  "rust",
  "python",
  "shellscript",
  "go",
  "html",
  "css",
  "yaml",
  "toml",
  "sql",
  "markdown",
  "diff",
  "java",
  "c",
  "cpp",
  "kotlin",
  "swift",
  "ruby",
] as const;
export type Language = (typeof LANGUAGES)[number];

const ALIASES: Record<string, Language> = {
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
export function knownLanguage(name: string): Language | null {
  const lower = name.toLowerCase();
  const known = LANGUAGES.find((one) => one === lower);
  return known ?? (Object.hasOwn(ALIASES, lower) ? (ALIASES[lower] ?? null) : null);
}

export function languageOfPath(path: string): Language | null {
  const ending = /\.([a-z0-9]+)$/i.exec(path)?.[1];
  return ending ? knownLanguage(ending) : null;
}

let worker: Worker | null = null;
let nextId = 0;
const waiting = new Map<number, (lines: Piece[][] | null) => void>();

/** Lines of coloured pieces, or null where plain text has to do. */
export function highlight(code: string, name: string): Promise<Piece[][] | null> {
  const language = knownLanguage(name);
  if (language === null || code.length > LONGEST || typeof Worker === "undefined") return Promise.resolve(null);
  return new Promise((resolve) => {
    const id = nextId++;
    const timer = setTimeout(restart, PATIENCE_MS);
    waiting.set(id, (lines) => {
      clearTimeout(timer);
      waiting.delete(id);
      resolve(lines);
    });
    running().postMessage({ id, code, language } satisfies Asked);
  });
}

function running(): Worker {
  if (worker) return worker;
  worker = new Worker(scriptUrl(workerUrl), { type: "module" });
  worker.onmessage = ({ data }: MessageEvent<Coloured>) => waiting.get(data.id)?.(data.lines);
  worker.onerror = restart;
  return worker;
}

/** Ends a worker that hangs; everything it was asked stays plain. */
function restart(): void {
  worker?.terminate();
  worker = null;
  for (const settle of [...waiting.values()]) settle(null);
}
