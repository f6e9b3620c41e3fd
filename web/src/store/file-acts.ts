/** Looking into the folder of a conversation: its files, and what is not committed. */
import type { ChangesResult, FileEntry, FileReadResult, TurnChangesResult } from "@/gen";
import type { Place } from "@/model/fleet";
import { ask } from "./app";

/** The most that is read of a diff or a file at a time, in characters; more comes when it is wanted. */
const ENOUGH = 400_000;

export interface Folder {
  path: string;
  entries: FileEntry[];
  isCut: boolean;
}

/** The names in a folder, all pages of it. */
export async function listFiles(place: Place, path: string): Promise<Folder> {
  const entries: FileEntry[] = [];
  let cursor: string | undefined;
  let isCut = false;
  do {
    const page = await ask(
      place.machine.deviceId,
      (requestId) => ({ type: "file_list", payload: { ...where(place), path: path || undefined, cursor, requestId } }),
      (frame) => (frame.type === "file_list_result" ? { value: frame.payload } : null),
    );
    entries.push(...page.entries);
    isCut ||= page.truncated === true;
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return { path, entries, isCut };
}

export interface FileText {
  size: number;
  isBinary: boolean;
  text: string;
  /** Where to read on; absent at the end. */
  next?: number;
}

/** A file from a place on, as far as one wants to read at once. */
export async function readFile(place: Place, path: string, from = 0): Promise<FileText> {
  let text = "";
  let next: number | undefined = from;
  let last: FileReadResult | undefined;
  while (next !== undefined && text.length < ENOUGH) {
    const offset: number = next;
    last = await ask(
      place.machine.deviceId,
      (requestId) => ({ type: "file_read", payload: { ...where(place), path, offset, requestId } }),
      (frame) => (frame.type === "file_read_result" ? { value: frame.payload } : null),
    );
    text += last.content ?? "";
    next = last.nextOffset;
  }
  return { size: last?.size ?? 0, isBinary: last?.binary === true, text, next };
}

/** The most bytes of a picture that is fetched to be drawn. */
const MOST_OF_A_PICTURE = 12 * 1024 * 1024;

/** A whole file in Base64, for a picture. Each chunk but the last has bytes by threes, so that they can be joined. */
export async function readPicture(place: Place, path: string): Promise<string> {
  let data = "";
  let next: number | undefined = 0;
  while (next !== undefined) {
    const offset: number = next;
    const chunk: FileReadResult = await ask(
      place.machine.deviceId,
      (requestId) => ({
        type: "file_read",
        payload: { ...where(place), path, offset, limit: 98_304, encoding: "base64", requestId },
      }),
      (frame) => (frame.type === "file_read_result" ? { value: frame.payload } : null),
    );
    if ((chunk.size ?? 0) > MOST_OF_A_PICTURE) throw Object.assign(new Error(path), { code: "too_large" });
    data += chunk.content ?? "";
    next = chunk.nextOffset;
  }
  return data;
}

export function loadChanges(place: Place): Promise<ChangesResult> {
  return ask(
    place.machine.deviceId,
    (requestId) => ({ type: "changes_request", payload: { ...where(place), requestId } }),
    (frame) => (frame.type === "changes_result" ? { value: frame.payload } : null),
  );
}

/** The difference of one file, and whether there is more of it. */
export async function loadDiff(place: Place, path: string): Promise<{ diff: string; isCut: boolean }> {
  let diff = "";
  let offset: number | undefined;
  let digest: string | undefined;
  let isCut = false;
  do {
    const chunk = await ask(
      place.machine.deviceId,
      (requestId) => ({ type: "diff_request", payload: { ...where(place), path, offset, digest, requestId } }),
      (frame) => (frame.type === "diff_result" ? { value: frame.payload } : null),
    );
    diff += chunk.diff ?? "";
    isCut ||= chunk.truncated === true;
    offset = chunk.nextOffset;
    digest = chunk.digest;
  } while (offset !== undefined && diff.length < ENOUGH);
  return { diff, isCut: isCut || offset !== undefined };
}

/** What the tools of a turn changed, as the machine's own record of it tells: the turn that has the event `seq`. */
export function loadTurnChanges(place: Place, seq: number): Promise<TurnChangesResult> {
  return ask(
    place.machine.deviceId,
    (requestId) => ({ type: "turn_changes", payload: { ...where(place), seq, requestId } }),
    (frame) => (frame.type === "turn_changes_result" ? { value: frame.payload } : null),
  );
}

function where({ workspace, conversation }: Place): { workspaceId: string; conversationId: string } {
  return { workspaceId: workspace.workspaceId, conversationId: conversation.conversationId };
}
