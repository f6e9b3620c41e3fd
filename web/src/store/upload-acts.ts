/**
 * Carries files to their machines: one file at a time, a few chunks of it under way, and from where it was after a loss.
 *
 * What follows from an answer or a failure is decided in `model/uploads.ts`; this file has the bytes and the requests.
 */
import { freshId } from "@/api/fresh-id";
import { RequestError } from "@/api/requests";
import { base64 } from "@/model/base64";
import type { Place } from "@/model/fleet";
import { type Pace, RESTED, take } from "@/model/pace";
import {
  admit,
  CHUNK_BYTES,
  chunksOf,
  lostTwin,
  MOST_FILES,
  MOST_MIB,
  mimeOf,
  nextUp,
  ofConversation,
  safeName,
  type Upload,
} from "@/model/uploads";
import { tell } from "./acts";
import { ask, useApp } from "./app";
import { textNow } from "./text";
import { turnUploads, useUploads } from "./uploads";

/** Chunks under way: enough to keep a line busy, few enough to be answered in time on a slow one. */
const UNDER_WAY = 3;
/** After a failure that passes by itself. */
const REST_MS = 1_000;
/** Read at a time for a checksum: a short task also on a slow phone. */
const SUM_BYTES = 256 * 1024;

/** The file cannot be read any more, or never could. */
class UnreadableError extends Error {}
/** The person does not want it any more. */
class UnwantedError extends Error {}

const files = new Map<string, File>();
const sums = new Map<string, Promise<string>>();
let pace: Pace = RESTED;
let isCarrying = false;

useUploads.subscribe(({ uploads }) => {
  for (const key of [...files.keys()]) {
    if (uploads.some((one) => one.key === key)) continue;
    files.delete(key);
    sums.delete(key);
  }
});
useApp.subscribe((now, before) => {
  if (now.phase !== before.phase || now.world.fleet !== before.world.fleet) pump();
});

/** The file behind a chip, for its picture. */
export function fileOf(key: string): File | undefined {
  return files.get(key);
}

export function attachFiles(place: Place, chosen: readonly File[]): void {
  const { conversationId } = place.conversation;
  const { uploads } = useUploads.getState();
  const isFresh = (file: File) => {
    const twin = lostTwin(useUploads.getState().uploads, conversationId, file);
    if (!twin) return true;
    files.set(twin.key, file);
    turnUploads({ type: "found", key: twin.key });
    return false;
  };
  const { taken, tooLarge, leftOut } = admit(ofConversation(uploads, conversationId).length, chosen.filter(isFresh));
  const text = textNow();
  for (const file of tooLarge) tell(text.attach.tooLarge(file.name, MOST_MIB));
  if (leftOut > 0) tell(text.attach.tooMany(MOST_FILES, leftOut));
  turnUploads({ type: "added", uploads: taken.map((file) => newUpload(place, file)) });
  pump();
}

function newUpload({ machine, workspace, conversation }: Place, file: File): Upload {
  const key = freshId();
  files.set(key, file);
  return {
    key,
    blobId: key,
    deviceId: machine.deviceId,
    workspaceId: workspace.workspaceId,
    conversationId: conversation.conversationId,
    name: safeName(file.name),
    size: file.size,
    mimeType: mimeOf(file.type),
    addedAt: Date.now(),
    state: "waiting",
    sent: 0,
    tries: 0,
  };
}

export function retryUpload(key: string): void {
  sums.delete(key);
  turnUploads({ type: "retried", key, blobId: freshId() });
  pump();
}

export function removeUpload(key: string): void {
  turnUploads({ type: "removed", keys: [key] });
}

function isReachable(deviceId: number): boolean {
  const { phase, world } = useApp.getState();
  return phase.name === "online" && world.fleet.some((one) => one.deviceId === deviceId && one.isOnline);
}

function pump(): void {
  if (isCarrying) return;
  const upload = nextUp(useUploads.getState().uploads, isReachable);
  if (!upload) return;
  isCarrying = true;
  void carry(upload).finally(() => {
    isCarrying = false;
    pump();
  });
}

async function carry(upload: Upload): Promise<void> {
  const { key } = upload;
  let isAtEnd = false;
  turnUploads({ type: "begun", key });
  try {
    const file = files.get(key);
    if (!file) throw new UnreadableError();
    const begun = await start(upload);
    let { fileId } = begun;
    if (fileId === undefined) {
      await sendChunks(upload, file, begun.nextChunk ?? 0);
      const checksum = await sumOf(key, file);
      wanted(key);
      isAtEnd = true;
      fileId = await end(upload, checksum);
    }
    turnUploads({ type: "kept", key, fileId });
  } catch (error) {
    if (error instanceof UnwantedError) return;
    const problem = error instanceof UnreadableError ? "unreadable" : problemOf(error);
    turnUploads({ type: "broke", key, problem, words: error instanceof Error ? error.message : "", isAtEnd });
    if (isReachable(upload.deviceId)) await new Promise((done) => setTimeout(done, REST_MS));
  }
}

function problemOf(error: unknown): RequestError["code"] {
  return error instanceof RequestError ? error.code : undefined;
}

function wanted(key: string): void {
  if (!files.has(key)) throw new UnwantedError();
}

function start({ deviceId, workspaceId, conversationId, blobId, ...what }: Upload) {
  const { name: filename, mimeType, size: totalSize } = what;
  const sizes = { totalSize, chunkSize: CHUNK_BYTES, totalChunks: chunksOf(totalSize) };
  const payload = { workspaceId, conversationId, blobId, filename, mimeType, ...sizes };
  return ask(
    deviceId,
    (requestId) => ({ type: "blob_start", payload: { ...payload, requestId } }),
    (frame) => (frame.type === "blob_start_result" ? { value: frame.payload } : null),
  );
}

/** Sends what is missing. Answers come in the order of the chunks, so the oldest one is waited for. */
async function sendChunks(upload: Upload, file: File, from: number): Promise<void> {
  const { key } = upload;
  turnUploads({ type: "came", key, chunks: from });
  const underWay: Promise<void>[] = [];
  for (let index = from; index < chunksOf(upload.size); index++) {
    const data = base64(await read(file, index * CHUNK_BYTES, CHUNK_BYTES));
    await paced(data.length);
    wanted(key);
    const answered = sendChunk(upload, index, data);
    // It is looked at in its turn; until then its failure is nobody's.
    answered.catch(() => undefined);
    underWay.push(answered);
    if (underWay.length >= UNDER_WAY) await underWay.shift();
  }
  await Promise.all(underWay);
}

async function sendChunk(
  { key, deviceId, conversationId, blobId }: Upload,
  index: number,
  data: string,
): Promise<void> {
  const next = await ask(
    deviceId,
    (requestId) => ({ type: "blob_chunk", payload: { conversationId, blobId, index, data, requestId } }),
    (frame) => (frame.type === "blob_chunk_result" ? { value: frame.payload.nextChunk } : null),
  );
  turnUploads({ type: "came", key, chunks: next ?? index + 1 });
}

function end({ deviceId, conversationId, blobId }: Upload, checksum: string): Promise<string> {
  return ask(
    deviceId,
    (requestId) => ({ type: "blob_end", payload: { conversationId, blobId, checksum, requestId } }),
    (frame) => (frame.type === "blob_end_result" ? { value: frame.payload.fileId ?? "" } : null),
  );
}

async function paced(bytes: number): Promise<void> {
  const next = take(pace, bytes, Date.now());
  pace = next.pace;
  if (next.waitMs > 0) await new Promise((done) => setTimeout(done, next.waitMs));
}

async function read(file: File, from: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return new Uint8Array(await file.slice(from, from + length).arrayBuffer());
  } catch {
    throw new UnreadableError();
  }
}

/** Of the whole file; once, however often it begins again. */
function sumOf(key: string, file: File): Promise<string> {
  const known = sums.get(key);
  if (known) return known;
  const made = checksum(file);
  sums.set(key, made);
  made.catch(() => sums.delete(key));
  return made;
}

async function checksum(file: File): Promise<string> {
  // Over plain http, as in a home network, the browser offers none.
  if (globalThis.crypto.subtle) {
    const sum = await crypto.subtle.digest("SHA-256", await read(file, 0, file.size));
    return `sha256:${[...new Uint8Array(sum)].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
  }
  const { Sha256 } = await import("@/model/sha256");
  const sum = new Sha256();
  for (let from = 0; from < file.size; from += SUM_BYTES) sum.update(await read(file, from, SUM_BYTES));
  return `sha256:${sum.hex()}`;
}
