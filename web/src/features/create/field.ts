/** How fields of the windows that make something look. */
export const FIELD = "min-h-11 w-full rounded-md border border-line-strong bg-bg px-3 text-[15px] text-ink";
