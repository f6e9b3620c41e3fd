// Puts the rules of the page into the built page itself, and the list of files into the service worker.
//
// The server sends the same policy as a header; the copy in the page holds when somebody else serves the files.
import type { Plugin } from "vite";

/** What the page may do: its own files and its own server, no inline script, no frame. */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types estelle",
].join("; ");

const FILES_MARK = "__ESTELLE_FILES__";

export function pageRules(): Plugin {
  return {
    name: "estelle-page-rules",
    apply: "build",
    transformIndexHtml: {
      order: "post",
      handler: (html) => ({
        html,
        tags: [
          {
            tag: "meta",
            attrs: { "http-equiv": "Content-Security-Policy", content: PAGE_POLICY },
            injectTo: "head-prepend",
          },
        ],
      }),
    },
    generateBundle: {
      order: "post",
      handler(_options, bundle) {
        const worker = bundle["sw.js"];
        if (worker?.type !== "chunk") return;
        worker.code = worker.code.replaceAll(FILES_MARK, firstLoad(bundle).join(" "));
      },
    },
  };
}

/** The files of the first load: kept by the service worker so that the app opens at once and without network. */
function firstLoad(bundle: Record<string, { type: string; fileName: string }>): string[] {
  const chunks = Object.values(bundle) as { type: string; fileName: string; isEntry?: boolean; imports?: string[] }[];
  const wanted = new Set<string>();
  const visit = (name: string) => {
    if (wanted.has(name)) return;
    wanted.add(name);
    for (const next of chunks.find((chunk) => chunk.fileName === name)?.imports ?? []) visit(next);
  };
  for (const chunk of chunks) if (chunk.isEntry && chunk.fileName !== "sw.js") visit(chunk.fileName);
  for (const chunk of chunks) if (chunk.fileName.endsWith(".css")) wanted.add(chunk.fileName);
  return ["", ...wanted].map((name) => `/${name}`);
}
