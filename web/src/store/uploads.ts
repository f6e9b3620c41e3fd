/**
 * The files for the next messages, as far as views must know of them from the start. What sends them is loaded with the
 * first of them (`upload-acts.ts`).
 *
 * Kept for the page in this tab: a page that is loaded anew still has what was whole, and another tab has its own.
 */
import { create } from "zustand";
import type { Place } from "@/model/fleet";
import type { Outgoing } from "@/model/outbox";
import { ofConversation, restored, step, type UploadEvent, type Uploads } from "@/model/uploads";
import { tell } from "./acts";
import { load, save } from "./storage";
import { textNow } from "./text";

interface UploadsState {
  uploads: Uploads;
}

export const useUploads = create<UploadsState>(() => ({
  uploads: restored(load<Uploads>("uploads", [], "tab"), Date.now()),
}));

/** The only place where they change. How far one came is told by its machine, and not worth keeping. */
export function turnUploads(event: UploadEvent): void {
  const uploads = step(useUploads.getState().uploads, event);
  useUploads.setState({ uploads });
  if (event.type !== "came" && event.type !== "begun") save("uploads", uploads, "tab");
}

/** Begins to send files that go with the next message of a conversation. */
export function attach(place: Place, files: readonly File[]): void {
  if (files.length === 0) return;
  import("./upload-acts").then(
    (acts) => acts.attachFiles(place, files),
    () => tell(textNow().refusal.offline),
  );
}

/** Takes the files of a conversation for a message; all of them must be there. */
export function takeFiles(conversationId: string): NonNullable<Outgoing["files"]> {
  const own = ofConversation(useUploads.getState().uploads, conversationId);
  const files = own.flatMap(({ fileId, name, size }) => (fileId === undefined ? [] : [{ fileId, name, size }]));
  if (own.length > 0) turnUploads({ type: "removed", keys: own.map((one) => one.key) });
  return files;
}
