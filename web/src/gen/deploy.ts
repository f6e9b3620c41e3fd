// Made by `cargo xtask gen` from crates/proto. Do not edit.

import type { ErrorCode, Retry } from "./error";
import type { DeviceId, RequestId, Timestamp } from "./ids";

/**
 * What a Pylon answered that was asked to follow.
 */
export type DeployAck = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * Whether it follows; not yet known without it.
 */
success?: boolean, 
/**
 * Why not.
 */
error?: string, };

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
 * The lead has withdrawn its deploy: nobody waits for it any more.
 */
export type DeployCancelled = { 
/**
 * The build.
 */
commitHash: string, 
/**
 * Who led.
 */
leadPylonId: DeviceId, };

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
 * A line that a deploy said.
 */
export type DeployLine = { 
/**
 * The line.
 */
line: string, 
/**
 * When.
 */
timestamp: Timestamp, };

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
 * How far a deploy is on a Pylon.
 */
export type DeployPhase = "idle" | "preparing" | "ready" | "started" | "armed" | "going" | "restarting";

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
 * Everybody restarts now who has built this.
 */
export type DeployRestart = { 
/**
 * The build; without it nobody restarts.
 */
commitHash?: string, 
/**
 * Who leads.
 */
leadPylonId?: DeviceId, 
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
leadPylonId: DeviceId, 
/**
 * When the lead built it, `YYYYMMDDHHmmss`; one for all of the deploy.
 */
buildTime?: string, };

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
 * Asks how far a deploy is.
 */
export type DeployStatusRequest = { 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * How far a deploy is, and what it said last.
 */
export type DeployStatusResult = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * Where it stands.
 */
phase: DeployPhase, 
/**
 * All steps: of this deploy, or of the last one.
 */
tasks: DeployTasks, 
/**
 * The same in one line, in the user's language.
 */
message: string, 
/**
 * The Pylons that were asked to follow.
 */
acks: Array<DeployAck>, 
/**
 * The last lines.
 */
log: Array<DeployLine>, 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * What is built.
 */
commitHash?: string, 
/**
 * Its version, once it is built.
 */
version?: string, 
/**
 * Whether it was approved beforehand.
 */
approved?: boolean, 
/**
 * Who leads; none for a deploy of one machine alone.
 */
leadPylonId?: DeviceId, 
/**
 * The build that runs now, if it came by a deploy.
 */
runningCommit?: string, 
/**
 * The version that runs now.
 */
runningVersion?: string, 
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
 * The program itself.
 */
build?: DeployTask, 
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
