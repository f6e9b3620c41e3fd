/** When words are enough to look for: the machine finds beginnings of words from two letters on, and single characters of
 * scripts that write no spaces between words. */
const DENSE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
const LETTERS = /[\p{Letter}\p{Number}]/gu;

export function isEnough(query: string): boolean {
  return DENSE.test(query) || (query.match(LETTERS)?.length ?? 0) >= 2;
}
