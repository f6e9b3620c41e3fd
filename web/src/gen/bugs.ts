// Made by `cargo xtask gen` from crates/proto. Do not edit.

import type { ErrorCode, Retry } from "./error";
import type { ConversationId, DeviceId, IsoTime, ReportText, RequestId } from "./ids";

/**
 * A report; the Pylon keeps it in a file.
 */
export type BugReport = { 
/**
 * What is wrong.
 */
message: ReportText, 
/**
 * When it was written.
 */
timestamp: IsoTime, 
/**
 * The conversation that it is about; none means the one that the device looks at.
 */
conversationId?: ConversationId, 
/**
 * The build of the app, in a few words.
 */
appVersion?: string, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Whether a report was kept.
 */
export type BugReportResult = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * Why not, for a person to read; only on failure.
 */
error?: string, 
/**
 * Why not, for a program; only on failure.
 */
errorCode?: ErrorCode, 
/**
 * Whether trying again can help; only on failure.
 */
retry?: Retry, 
/**
 * The `requestId` of the request, if it had one.
 */
requestId?: RequestId, };
