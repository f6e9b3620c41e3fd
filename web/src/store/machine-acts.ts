/** What a person asks of a machine as a whole: its published build, and to keep a report of a fault. */
import type { VersionCheckResult } from "@/gen";
import { ask } from "./app";

/** The build that is published, as a machine reads it. What it does not know is `null`. */
export function checkVersion(deviceId: number): Promise<VersionCheckResult> {
  return ask(
    deviceId,
    (requestId) => ({ type: "version_check_request", payload: { requestId } }),
    (frame) => (frame.type === "version_check_result" && frame.payload ? { value: frame.payload } : null),
  );
}

/** Keeps a report on a machine, with the conversation it is about. */
export function reportBug(deviceId: number, message: string, conversationId: string | undefined): Promise<void> {
  const timestamp = new Date().toISOString();
  // The file that this stands in is named after its contents, so its name tells the build.
  const appVersion = `web ${new URL(import.meta.url).pathname.split("/").at(-1) ?? ""}`;
  return ask(deviceId, (requestId) => ({
    type: "bug_report",
    payload: { message, timestamp, conversationId, appVersion, requestId },
  }));
}
