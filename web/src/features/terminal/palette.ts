/** The colours of a terminal: those of the page, and sixteen that programs name. */
import type { ITheme } from "@xterm/xterm";

const DARK = {
  black: "#3a4256",
  magenta: "#ef9fc4",
  cyan: "#7fd3d6",
  white: "#d8dce8",
  brightBlack: "#868ea2",
  brightRed: "#ffa9ab",
  brightGreen: "#8ee0b5",
  brightYellow: "#ffd58a",
  brightBlue: "#a3d0ff",
  brightMagenta: "#f8bfd8",
  brightCyan: "#a5e6e8",
  brightWhite: "#ffffff",
};

const LIGHT = {
  black: "#20212a",
  magenta: "#a02468",
  cyan: "#0f6a70",
  white: "#696d7b",
  brightBlack: "#565a69",
  brightRed: "#c2363c",
  brightGreen: "#1f7d4d",
  brightYellow: "#936200",
  brightBlue: "#2469ba",
  brightMagenta: "#b03478",
  brightCyan: "#14757c",
  brightWhite: "#20212a",
};

/** What the page looks like now, for a terminal. */
export function palette(): ITheme {
  const page = document.documentElement;
  const style = getComputedStyle(page);
  const of = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return {
    ...(page.dataset.theme === "light" ? LIGHT : DARK),
    background: of("code"),
    foreground: of("ink"),
    cursor: of("accent"),
    cursorAccent: of("code"),
    selectionBackground: of("accent-soft"),
    scrollbarSliderBackground: of("line-strong"),
    red: of("red"),
    green: of("green"),
    yellow: of("amber"),
    blue: of("blue"),
  };
}
