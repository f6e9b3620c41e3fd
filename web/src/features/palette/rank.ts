/** Finds by letters in order: starts of words count most, runs of letters more than scattered ones. Pure. */
export function rank<T>(items: readonly T[], query: string, name: (item: T) => string): T[] {
  const wanted = query.trim().toLowerCase();
  if (wanted === "") return [...items];
  const scored = items.map((item) => ({ item, score: score(name(item).toLowerCase(), wanted) }));
  return scored
    .filter((one) => one.score > 0)
    .sort((a, b) => b.score - a.score)
    .map((one) => one.item);
}

function score(text: string, wanted: string): number {
  const whole = text.indexOf(wanted);
  if (whole >= 0) return 1_000 - whole + (isWordStart(text, whole) ? 500 : 0);
  let at = 0;
  let points = 0;
  for (const letter of wanted) {
    if (letter === " ") continue;
    const found = text.indexOf(letter, at);
    if (found < 0) return 0;
    points += isWordStart(text, found) ? 5 : found === at ? 3 : 1;
    at = found + 1;
  }
  return points;
}

function isWordStart(text: string, index: number): boolean {
  return index === 0 || /[\s\-_/·.]/.test(text[index - 1] ?? "");
}
