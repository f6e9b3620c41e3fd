/**
 * The difference of two texts by lines, for showing what an edit changes.
 *
 * The longest common subsequence between the common head and tail; above a size both sides are shown whole, because
 * a card that asks for permission must not wait.
 */
export type DiffLine = { type: "same" | "added" | "removed"; text: string; before?: number; after?: number };

/** Most cells of the table; 2,000 by 2,000 lines take a few milliseconds. */
const LARGEST_TABLE = 4_000_000;

export function diffLines(before: string, after: string): DiffLine[] {
  const a = lines(before);
  const b = lines(after);
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const middleA = a.slice(head, a.length - tail);
  const middleB = b.slice(head, b.length - tail);
  const texts: DiffLine[] = [
    ...a.slice(0, head).map(same),
    ...middle(middleA, middleB),
    ...a.slice(a.length - tail).map(same),
  ];
  return numbered(texts);
}

export function countChanges(diff: readonly DiffLine[]): { added: number; removed: number } {
  let added = 0;
  let removed = 0;
  for (const line of diff) {
    if (line.type === "added") added++;
    if (line.type === "removed") removed++;
  }
  return { added, removed };
}

function middle(a: readonly string[], b: readonly string[]): DiffLine[] {
  if (a.length * b.length > LARGEST_TABLE) return [...a.map(removed), ...b.map(added)];
  const width = b.length + 1;
  const table = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      table[i * width + j] =
        a[i] === b[j]
          ? cell(table, (i + 1) * width + j + 1) + 1
          : Math.max(cell(table, (i + 1) * width + j), cell(table, i * width + j + 1));
    }
  }
  const out: DiffLine[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    const left = a[i];
    const right = b[j];
    if (left !== undefined && left === right) {
      out.push(same(left));
      i++;
      j++;
    } else if (
      left !== undefined &&
      (right === undefined || cell(table, (i + 1) * width + j) >= cell(table, i * width + j + 1))
    ) {
      out.push(removed(left));
      i++;
    } else if (right !== undefined) {
      out.push(added(right));
      j++;
    }
  }
  return out;
}

function cell(table: Uint32Array, index: number): number {
  return table[index] ?? 0;
}

function numbered(diff: DiffLine[]): DiffLine[] {
  let before = 0;
  let after = 0;
  return diff.map((line) => ({
    ...line,
    before: line.type === "added" ? undefined : ++before,
    after: line.type === "removed" ? undefined : ++after,
  }));
}

function lines(text: string): string[] {
  if (text === "") return [];
  const parts = text.split("\n");
  if (parts.at(-1) === "") parts.pop();
  return parts;
}

function same(text: string): DiffLine {
  return { type: "same", text };
}

function added(text: string): DiffLine {
  return { type: "added", text };
}

function removed(text: string): DiffLine {
  return { type: "removed", text };
}
