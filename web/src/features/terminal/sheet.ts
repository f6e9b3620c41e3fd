/** An element that takes styles as text and hands them to a sheet of the page, which the page's rules allow. */
class SheetElement extends HTMLElement {
  readonly #sheet = new CSSStyleSheet();

  override set textContent(text: string) {
    this.#sheet.replaceSync(text);
  }

  connectedCallback(): void {
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, this.#sheet];
  }

  disconnectedCallback(): void {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== this.#sheet);
  }
}

/** The name that `scripts/terminal-styles.ts` gives it. */
export function defineSheet(): void {
  if (!customElements.get("estelle-sheet")) customElements.define("estelle-sheet", SheetElement);
}
