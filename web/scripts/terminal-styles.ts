// Lets xterm.js draw on a page that allows no inline styles.
//
// It writes `style` elements and one `style` attribute, which the browser refuses there. The same without them: an element
// of ours that hands its text to a sheet (`features/terminal/sheet.ts`), and the attribute as a property.
import type { Plugin } from "vite";

const SHEET = 'createElement("style")';
const ATTRIBUTE = /(\w+)\.setAttribute\("style",`\$\{\1\.getAttribute\("style"\)\|\|""\}\$\{(\w+)\};`\)/g;

export function terminalStyles(): Plugin {
  return {
    name: "estelle-terminal-styles",
    apply: "build",
    transform(code, id) {
      return id.endsWith("/@xterm/xterm/lib/xterm.mjs") ? { code: withoutInlineStyles(code), map: null } : null;
    },
  };
}

/** Fails when another version writes its styles in another way: then a terminal would be drawn without them. */
export function withoutInlineStyles(code: string): string {
  const drawn = code
    .replaceAll(SHEET, 'createElement("estelle-sheet")')
    .replace(ATTRIBUTE, (_, element, style) => `${element}.style.cssText+=${style}+";"`);
  if (drawn.includes('"style"')) throw new Error("xterm.js writes inline styles that nobody replaced");
  if (!drawn.includes(".style.cssText+=")) throw new Error("xterm.js styles its cells in a way that nobody knows");
  return drawn;
}
