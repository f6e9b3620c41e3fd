/**
 * Files that go with the next message of a conversation: how far each came, and what follows when something fails.
 *
 * Pure. The bytes and the requests are in `store/upload-acts.ts`. A machine keeps as much as came, under an id that stays
 * the same; so whatever breaks on the way, a file begins again by asking how far it came.
 */
import type { Refusal } from "./refusal";

export const MOST_FILES = 10;
export const MOST_MIB = 64;
const MOST_BYTES = MOST_MIB * 1024 * 1024;
export const CHUNK_BYTES = 65_536;
/** Failures in a row, without a connection being lost, after which a person is asked. */
const MOST_TRIES = 5;
/** The machine forgets by then what nobody finished. */
const FORGOTTEN_MS = 24 * 3_600_000;
const NAME_BYTES = 255;

/** Why a file is not there: what the machine said, or that the browser could not read it. */
export type Problem = Refusal["code"] | "unreadable";

export interface Upload {
  /** What the app calls it; the machine knows it by `blobId`. */
  key: string;
  blobId: string;
  deviceId: number;
  workspaceId: string;
  conversationId: string;
  name: string;
  size: number;
  mimeType: string;
  addedAt: number;
  /** `waiting` for its turn or its machine; `lost` is one whose bytes went with the page that was loaded anew. */
  state: "waiting" | "sending" | "ready" | "failed" | "lost";
  /** Bytes that are there. */
  sent: number;
  tries: number;
  fileId?: string;
  problem?: Problem;
  /** The machine's own words about the problem. */
  words?: string;
}

export type Uploads = readonly Upload[];

export type UploadEvent =
  | { type: "added"; uploads: Uploads }
  | { type: "begun"; key: string }
  | { type: "came"; key: string; chunks: number }
  | { type: "kept"; key: string; fileId: string }
  | { type: "broke"; key: string; problem: Problem; words: string; isAtEnd: boolean }
  | { type: "retried"; key: string; blobId: string }
  | { type: "found"; key: string }
  | { type: "removed"; keys: readonly string[] };

export function step(uploads: Uploads, event: UploadEvent): Uploads {
  switch (event.type) {
    case "added":
      return [...uploads, ...event.uploads];
    case "removed":
      return uploads.filter((one) => !event.keys.includes(one.key));
    case "begun":
      return changed(uploads, event.key, () => ({ state: "sending" }));
    case "came":
      return changed(uploads, event.key, (one) => came(one, event.chunks));
    case "kept":
      return changed(uploads, event.key, ({ size }) => ({ state: "ready", sent: size, fileId: event.fileId }));
    case "broke":
      return changed(uploads, event.key, (one) => broken(one, event));
    case "retried":
      // Under an id of which the machine thinks otherwise it would be refused for ever.
      return changed(uploads, event.key, (one) => ({
        ...AFRESH,
        ...(one.problem === "conflict" ? { blobId: event.blobId, sent: 0 } : {}),
      }));
    case "found":
      return changed(uploads, event.key, () => AFRESH);
  }
}

const AFRESH: Partial<Upload> = { state: "waiting", tries: 0, problem: undefined, words: undefined };

function changed(uploads: Uploads, key: string, change: (one: Upload) => Partial<Upload>): Uploads {
  return uploads.map((one) => (one.key === key ? { ...one, ...change(one) } : one));
}

function came({ size, sent }: Upload, chunks: number): Partial<Upload> {
  const now = Math.min(size, chunks * CHUNK_BYTES);
  return now > sent ? { sent: now, tries: 0 } : { sent: now };
}

/** What passes by itself; after it the file begins again where it was. */
const PASSING = new Set<Problem>([
  "offline",
  "timeout",
  "undeliverable",
  "rate_limited",
  "internal",
  "conflict",
  "unknown_upload",
]);

type Broke = Extract<UploadEvent, { type: "broke" }>;

function broken({ tries }: Upload, { problem, words, isAtEnd }: Broke): Partial<Upload> {
  // A lost connection is nobody's failure; that the whole does not fit its checksum is one that sending again may repeat.
  const isDamaged = problem === "conflict" && isAtEnd;
  const next = problem === "offline" ? tries : tries + 1;
  if (PASSING.has(problem) && !isDamaged && next < MOST_TRIES) return { state: "waiting", tries: next };
  return { state: "failed", problem, words };
}

/** The next file to send: one at a time, as each is the faster for it. */
export function nextUp(uploads: Uploads, isReachable: (deviceId: number) => boolean): Upload | undefined {
  if (uploads.some((one) => one.state === "sending")) return undefined;
  return uploads.find((one) => one.state === "waiting" && isReachable(one.deviceId));
}

export function ofConversation(uploads: Uploads, conversationId: string): Uploads {
  return uploads.filter((one) => one.conversationId === conversationId);
}

/** One that was begun before the page was loaded anew, and is chosen again. */
export function lostTwin(
  uploads: Uploads,
  conversationId: string,
  file: { name: string; size: number; type: string },
): Upload | undefined {
  return uploads.find(
    (one) =>
      one.state === "lost" &&
      one.conversationId === conversationId &&
      one.name === safeName(file.name) &&
      one.size === file.size &&
      one.mimeType === mimeOf(file.type),
  );
}

export interface Admitted<T> {
  taken: T[];
  tooLarge: T[];
  /** How many were left out because there are enough. */
  leftOut: number;
}

/** Which files are taken beside so many; what the machine would refuse later is refused at once. */
export function admit<T extends { size: number }>(present: number, files: readonly T[]): Admitted<T> {
  const tooLarge = files.filter((file) => file.size > MOST_BYTES);
  const fitting = files.filter((file) => file.size <= MOST_BYTES);
  const taken = fitting.slice(0, Math.max(0, MOST_FILES - present));
  return { taken, tooLarge, leftOut: fitting.length - taken.length };
}

/** What is left of the files of a page that was loaded anew: those that were whole, and the names of the others. */
export function restored(uploads: Uploads, now: number): Uploads {
  return uploads
    .filter((one) => one.state === "ready" || now - one.addedAt < FORGOTTEN_MS)
    .map((one) => (one.state === "ready" ? one : { ...one, state: "lost" }));
}

export function chunksOf(size: number): number {
  return Math.ceil(size / CHUNK_BYTES);
}

/** A name that every machine takes: no folder, nothing unprintable, not too long. */
export function safeName(name: string): string {
  let kept = name.replace(/[/\\\p{Cc}]/gu, "_");
  if (kept.trim() === "") kept = "file";
  const bytes = (text: string) => new TextEncoder().encode(text).length;
  const dot = kept.lastIndexOf(".");
  const ending = dot > 0 && bytes(kept.slice(dot)) <= 20 ? kept.slice(dot) : "";
  let stem = [...kept.slice(0, kept.length - ending.length)];
  while (bytes(stem.join("") + ending) > NAME_BYTES) stem = stem.slice(0, -1);
  return stem.join("") + ending;
}

export function mimeOf(type: string): string {
  return type === "" || type.length > NAME_BYTES ? "application/octet-stream" : type;
}
