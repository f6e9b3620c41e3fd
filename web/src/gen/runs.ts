// Made by `cargo xtask gen` from crates/proto. Do not edit.

import type { DeviceId, Generation, Seq, ToolUseId } from "./ids";

/**
 * The process will be stopped soon, because nothing happens.
 */
export type IdleWarning = { 
/**
 * Seconds until then.
 */
secondsLeft: number, };

/**
 * A line of the journal could not be read. Nothing is skipped in silence.
 */
export type JournalDamage = { 
/**
 * First byte.
 */
from: number, 
/**
 * First byte after it.
 */
to: number, 
/**
 * Which run.
 */
generation: Generation, };

/**
 * Why a process was stopped.
 */
export type PauseReason = "idle_timeout" | "manual" | "server_shutdown";

/**
 * The process was stopped and can be resumed.
 */
export type ProcessPaused = { 
/**
 * `idle_timeout`, `manual` or `server_shutdown`.
 */
reason: PauseReason, 
/**
 * How long it had been idle.
 */
idleMinutes: number, 
/**
 * Whether a session is known that a resume can take up.
 */
canResume: boolean, };

/**
 * A process was started again.
 */
export type ProcessResumed = { 
/**
 * Whether it knows what was said before.
 */
resumedWithHistory: boolean, };

/**
 * Something that the CLI says to people.
 */
export type Remark = { 
/**
 * Of which kind, in the CLI's own words.
 */
subtype: string, 
/**
 * What it says.
 */
text: string, };

/**
 * The conversation goes on from before one of its messages. What stands from there up to this event is kept, and
 * the agent does not know it any more.
 */
export type Rewound = { 
/**
 * The `seq` of the message, the first that is taken back.
 */
beforeSeq: Seq, 
/**
 * Which device asked for it.
 */
deviceId?: DeviceId, };

/**
 * What follows belongs to a new session: the agent knows nothing of what stands above.
 */
export type SessionReset = { 
/**
 * `new_session` when a person asked for it, `clear` when the agent's own command did, `resume_failed` when its
 * session was gone.
 */
reason: string, };

/**
 * A background task of the agent started, went on or ended.
 */
export type TaskUpdate = { 
/**
 * The agent's id of it.
 */
taskId: string, 
/**
 * `started`, `running`, `completed`, `failed` or `stopped`.
 */
status: string, 
/**
 * What it is or what came of it.
 */
summary?: string, 
/**
 * The call that started it.
 */
toolUseId?: ToolUseId, };
