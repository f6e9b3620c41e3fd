/**
 * Characters that hide or reorder what is around them, or that nobody sees at all. Pure.
 *
 * What is shown for approval must look like what will run: these are always drawn as marks.
 */

/**
 * Controls except tab and line feed, soft hyphen, fillers, zero-width and bidirectional characters, line separators,
 * the byte order mark, tags and the selectors beyond those of emoji. Joiners inside an emoji belong to it.
 */
const HIDDEN = new RegExp(
  [
    "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f]",
    "[\\u200b\\u200c\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u2800\\u3164\\ufeff\\uffa0\\ufff9-\\ufffb]",
    "[\\u{e0000}-\\u{e0fff}]",
    "\\p{Surrogate}",
    "(?<![\\p{Extended_Pictographic}\\u{1f3fb}-\\u{1f3ff}\\ufe0f])\\u200d",
    "\\u200d(?!\\p{Extended_Pictographic})",
  ].join("|"),
  "u",
);
const SPLIT = new RegExp(`(${HIDDEN.source})`, "u");

export function hasHidden(text: string): boolean {
  return HIDDEN.test(text);
}

/** The text in parts: at odd places what is hidden, one character each. */
export function splitHidden(text: string): string[] {
  return text.split(SPLIT);
}

/** Whether any text in a value hides something, names of fields included. */
export function hidesSomething(value: unknown): boolean {
  if (typeof value === "string") return hasHidden(value);
  if (Array.isArray(value)) return value.some(hidesSomething);
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([name, one]) => hasHidden(name) || hidesSomething(one));
}
