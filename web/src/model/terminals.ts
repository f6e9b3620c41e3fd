/** What keys mean to a program in a terminal, and how large its screen may be. Pure. */
import type { TerminalSize } from "@/gen";

/** A key of the bar under a terminal on a phone. */
export type BarKey = "escape" | "tab" | "up" | "down" | "left" | "right";

const ARROWS = { up: "A", down: "B", right: "C", left: "D" } as const;

/** What a terminal sends for a key; arrows depend on what the program asked for. */
export function keyBytes(key: BarKey, isApplication: boolean): string {
  if (key === "escape") return "\x1b";
  if (key === "tab") return "\t";
  return `\x1b${isApplication ? "O" : "["}${ARROWS[key]}`;
}

/** What Ctrl makes of what was typed; several characters at once, as from a word that was swiped, stay as they are. */
export function withControl(typed: string): string {
  if (typed.length !== 1) return typed;
  if (typed === " ") return "\0";
  if (typed === "?") return "\x7f";
  const code = typed.toUpperCase().charCodeAt(0);
  return code >= 64 && code < 96 ? String.fromCharCode(code & 31) : typed;
}

const [LEAST, MOST_COLS, MOST_ROWS] = [2, 500, 300];

/** How many cells fit into a box; null while nothing can be measured. */
export function fitting(
  box: { width: number; height: number },
  cell: { width: number; height: number },
): TerminalSize | null {
  if (!(cell.width > 0 && cell.height > 0 && box.width >= cell.width && box.height >= cell.height)) return null;
  const between = (value: number, most: number) => Math.min(most, Math.max(LEAST, Math.floor(value)));
  return { cols: between(box.width / cell.width, MOST_COLS), rows: between(box.height / cell.height, MOST_ROWS) };
}

/** Most that is said at once, in UTF-16 units: at three bytes each it stays below what a machine takes. */
const PIECE = 16_384;

/** Long text in pieces that a machine takes, none of which ends in the middle of a character. */
export function pieces(text: string): string[] {
  const found: string[] = [];
  let at = 0;
  while (at < text.length) {
    let end = Math.min(text.length, at + PIECE);
    if (end < text.length && isHighHalf(text.charCodeAt(end - 1))) end -= 1;
    found.push(text.slice(at, end));
    at = end;
  }
  return found;
}

function isHighHalf(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}
