/** Very long text in pieces, so that only those near the screen have to be laid out. Pure; together they are the text. */

/** About how long a piece is, in characters. */
const PIECE = 16_000;

/**
 * Each piece stands in a block of its own, so it ends where a line does. Prose without such an end is cut at a space;
 * `isExact` text never is, because a line break that is not in it would be seen.
 */
export function piecesOf(text: string, isExact: boolean): string[] {
  const pieces: string[] = [];
  let from = 0;
  while (text.length - from > PIECE) {
    const end = endOf(text, from, isExact);
    if (end <= from) break;
    pieces.push(text.slice(from, end));
    from = end;
  }
  if (from < text.length || pieces.length === 0) pieces.push(text.slice(from));
  return pieces;
}

function endOf(text: string, from: number, isExact: boolean): number {
  // Looked for in the piece alone: a search in the whole text would go back to its beginning each time.
  const piece = text.slice(from, from + PIECE);
  const line = piece.lastIndexOf("\n") + 1;
  if (line > 0) return from + line;
  if (isExact) return text.indexOf("\n", from + PIECE) + 1;
  const space = piece.lastIndexOf(" ") + 1;
  return space > 0 ? from + space : whole(text, from + PIECE);
}

/** Not between the two halves of one character. */
function whole(text: string, at: number): number {
  return text.codePointAt(at - 1) === text.charCodeAt(at - 1) ? at : at + 1;
}
