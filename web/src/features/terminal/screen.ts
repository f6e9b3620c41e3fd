/** A terminal's screen on the page: xterm.js, with the page's colours, its own keys and a finger that scrolls. */
import { Terminal } from "@xterm/xterm";
import "@xterm/xterm/css/xterm.css";
import type { TerminalSize } from "@/gen";
import { type BarKey, fitting, keyBytes } from "@/model/terminals";
import { palette } from "./palette";
import { defineSheet } from "./sheet";

export interface ScreenEvents {
  typed(data: string): void;
  pasted(text: string): void;
  /** The key that leads out of the terminal. */
  left(): void;
}

const FONT = 'ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, "DejaVu Sans Mono", monospace';
/** Clears what was shown, in the same stream as what follows. */
const RESET = "\x1bc";
const KEPT_LINES = 5_000;

export class Screen {
  readonly #terminal: Terminal;
  readonly #themes = new MutationObserver(() => {
    this.#terminal.options.theme = palette();
  });
  readonly #ending = new AbortController();

  constructor(
    readonly root: HTMLElement,
    label: string,
    private readonly events: ScreenEvents,
  ) {
    const isSmall = matchMedia("(pointer: coarse)").matches;
    this.#terminal = new Terminal({
      fontFamily: FONT,
      fontSize: isSmall ? 12 : 13,
      lineHeight: 1.15,
      scrollback: KEPT_LINES,
      cursorBlink: !matchMedia("(prefers-reduced-motion: reduce)").matches,
      // What a program colours badly can still be read.
      minimumContrastRatio: 4.5,
      theme: palette(),
    });
    defineSheet();
    this.#terminal.open(root);
    this.#terminal.textarea?.setAttribute("aria-label", label);
    this.#terminal.onData((data) => this.events.typed(data));
    this.#terminal.attachCustomKeyEventHandler((event) => this.#onKey(event));
    this.#themes.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    const { signal } = this.#ending;
    root.addEventListener("paste", (event) => this.#onPaste(event), { capture: true, signal });
    this.#scrollByFinger(signal);
  }

  get size(): TerminalSize {
    return { cols: this.#terminal.cols, rows: this.#terminal.rows };
  }

  /** How much would fit into the page's room. */
  get room(): TerminalSize | null {
    const cells = this.root.querySelector(".xterm-screen")?.getBoundingClientRect();
    if (!cells) return null;
    const { cols, rows } = this.size;
    const box = { width: this.root.clientWidth, height: this.root.clientHeight };
    return fitting(box, { width: cells.width / cols, height: cells.height / rows });
  }

  /** Shows a piece, or with a size the whole screen instead of all before. */
  show(data: string, size: TerminalSize | undefined, done: () => void): void {
    if (size && (size.cols !== this.size.cols || size.rows !== this.size.rows)) {
      this.#terminal.resize(size.cols, size.rows);
    }
    this.#terminal.write(size ? RESET + data : data, done);
  }

  press(key: BarKey): void {
    this.events.typed(keyBytes(key, this.#terminal.modes.applicationCursorKeysMode));
  }

  focus(): void {
    this.#terminal.focus();
  }

  /** Reads everything aloud that appears, for who cannot see it. */
  setSpoken(isSpoken: boolean): void {
    this.#terminal.options.screenReaderMode = isSpoken;
  }

  dispose(): void {
    this.#ending.abort();
    this.#themes.disconnect();
    this.#terminal.dispose();
  }

  #onKey(event: KeyboardEvent): boolean {
    if (event.type !== "keydown" || !event.ctrlKey || event.altKey || event.metaKey) return true;
    if (event.key === "]") {
      event.preventDefault();
      this.events.left();
      return false;
    }
    // With something marked, Ctrl C copies as everywhere on the page; the browser does it.
    if (event.code === "KeyC" && !event.shiftKey && this.#terminal.hasSelection()) return false;
    return !(event.code === "KeyV" && event.shiftKey);
  }

  /** A paste goes to the machine as one, where it can neither end itself nor press keys. */
  #onPaste(event: ClipboardEvent): void {
    event.preventDefault();
    event.stopPropagation();
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (text !== "") this.events.pasted(text);
  }

  #scrollByFinger(signal: AbortSignal): void {
    let last = 0;
    const at = (event: TouchEvent) => event.touches[0]?.clientY ?? last;
    const begin = (event: TouchEvent) => {
      last = at(event);
    };
    const move = (event: TouchEvent) => {
      const height = this.root.clientHeight / this.#terminal.rows;
      const lines = Math.trunc((last - at(event)) / height);
      if (lines === 0) return;
      last -= lines * height;
      this.#terminal.scrollLines(lines);
    };
    this.root.addEventListener("touchstart", begin, { passive: true, signal });
    this.root.addEventListener("touchmove", move, { passive: true, signal });
  }
}
