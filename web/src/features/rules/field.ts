/** How fields on the page of rules look. */
export const FIELD =
  "min-h-11 w-full min-w-0 rounded-md border border-line-strong bg-bg px-3 text-[14px] text-ink lg:min-h-9";
