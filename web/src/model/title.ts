/** A name for a conversation out of its first message: its first line, cut between words. Pure. */
const LONGEST = 56;

/** Null if the message names nothing: a command of the CLI, or no words. */
export function titleOf(message: string): string | null {
  const line = message.trim().split("\n")[0]?.replaceAll(/\s+/g, " ").trim() ?? "";
  if (line === "" || line.startsWith("/")) return null;
  const letters = [...line];
  if (letters.length <= LONGEST) return line.replace(/[.。]$/, "");
  const cut = letters.slice(0, LONGEST).join("");
  const space = cut.lastIndexOf(" ");
  return `${space > LONGEST / 2 ? cut.slice(0, space) : cut}…`;
}
