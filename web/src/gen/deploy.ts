// Made by `cargo xtask gen` from crates/proto. Do not edit.

import type { ErrorCode, Retry } from "./error";
import type { DeviceId, RequestId, Timestamp } from "./ids";

/**
 * A Pylon answered the lead.
 */
export type DeployAckReceived = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * Answers so far.
 */
totalAcks: number, 
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

/**
 * Approves a deploy, beforehand or when it is ready.
 */
export type DeployConfirm = { 
/**
 * Start as soon as the builds are ready.
 */
preApproved: boolean, 
/**
 * Withdraw the approval.
 */
cancel: boolean, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * The last step of a deploy failed.
 */
export type DeployError = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * Why.
 */
error: string, };

/**
 * Makes the prepared build the running one.
 */
export type DeployGo = { 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * A line of the deploy's output.
 */
export type DeployLog = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * The line.
 */
line: string, 
/**
 * When.
 */
timestamp: Timestamp, };

/**
 * Builds everything for a deploy.
 */
export type DeployPrepare = { 
/**
 * Whether this Pylon also deploys the relay: it is the lead.
 */
relayDeploy: boolean, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Whether the builds are ready.
 */
export type DeployReady = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * What was built; only on success.
 */
commitHash?: string, 
/**
 * Its version; only on success.
 */
version?: string, 
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

/**
 * Everybody restarts now.
 */
export type DeployRestart = { 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * This Pylon restarts now.
 */
export type DeployRestarting = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, };

/**
 * All Pylons shall go to this build.
 */
export type DeployStart = { 
/**
 * The build.
 */
commitHash: string, 
/**
 * Its version.
 */
version: string, 
/**
 * Who leads.
 */
leadPylonId: DeviceId, };

/**
 * Whether a Pylon followed. To the lead.
 */
export type DeployStartAck = { 
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

/**
 * How far a deploy is.
 */
export type DeployStatus = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * All steps.
 */
tasks: DeployTasks, 
/**
 * The same in one line, in the user's language.
 */
message: string, };

/**
 * How far a step is.
 */
export type DeployTask = "waiting" | "running" | "done" | "error";

/**
 * All steps of a deploy.
 */
export type DeployTasks = { 
/**
 * Bringing the source up to date.
 */
git: DeployTask, 
/**
 * The phone app.
 */
apk: DeployTask, 
/**
 * The desktop app.
 */
exe: DeployTask, 
/**
 * Packages.
 */
npm: DeployTask, 
/**
 * The description of the release.
 */
json: DeployTask, 
/**
 * Uploading the release.
 */
upload?: DeployTask, 
/**
 * Deploying the relay.
 */
relay?: DeployTask, 
/**
 * Copying.
 */
copy?: DeployTask, };
