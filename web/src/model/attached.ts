/**
 * The files that went with a message, read out of its text: the agent is told them by their paths, and people are shown
 * their names. Pure.
 */
export interface AttachedFile {
  name: string;
  size: number;
  /** Where it is on the machine; only once the machine has told. */
  path?: string;
}

export interface Told {
  /** What the person wrote. */
  words: string;
  files: readonly AttachedFile[];
}

/** Only what a machine appends: files in its own folder for them, at the very end. */
const LIST = /\n\nAttached files:((?:\n- [^\n]*-uploads\/[^/\n]+\/[^/\n]+\/[^/\n]+ \(\d+ bytes\))+)$/;
const LINE = /^- (.*\/([^/]+)) \((\d+) bytes\)$/;

export function splitAttached(text: string): Told {
  const found = LIST.exec(text);
  if (!found) return { words: text, files: [] };
  const files = (found[1] ?? "").split("\n").flatMap((line) => {
    const [, path, name, size] = LINE.exec(line) ?? [];
    return path === undefined || name === undefined ? [] : [{ name, path, size: Number(size) }];
  });
  return { words: text.slice(0, found.index), files };
}
