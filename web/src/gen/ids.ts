// Made by `cargo xtask gen` from crates/proto. Do not edit.


/**
 * A file on its way to a Pylon, chosen by whoever sends it.
 */
export type BlobId = string;

/**
 * The hash of a conversation log up to an event, in hexadecimal digits.
 */
export type ChainHash = string;

/**
 * Claude's own id of a session, which a later run resumes.
 */
export type ClaudeSessionId = string;

/**
 * A program that is connected to the host, the same for as long as it remembers what it has begun.
 */
export type ClientId = string;

/**
 * Chosen by the client for each user message; the same id runs once, however often it is sent.
 */
export type ClientMessageId = string;

/**
 * A conversation. On the host's IPC the same id is called `sessionId`.
 */
export type ConversationId = string;

/**
 * A device within its realm: Pylons from configuration (1 to 99), apps from 100.
 */
export type DeviceId = number;

/**
 * A device of a realm, the same after every reconnect.
 */
export type DeviceKey = string;

/**
 * Changes when a published log had to be rebuilt or shortened: cursors of another epoch are void.
 */
export type Epoch = number;

/**
 * A file that a Pylon keeps, to go with a message.
 */
export type FileId = string;

/**
 * The number of a run within its conversation.
 */
export type Generation = number;

/**
 * A moment as ISO 8601 text.
 */
export type IsoTime = string;

/**
 * A name that people gave: of a workspace, a conversation or a device.
 */
export type Name = string;

/**
 * An offer to pair.
 */
export type PairId = string;

/**
 * A path on the machine of the Pylon, in its own notation.
 */
export type PathText = string;

/**
 * What a person writes to the agent.
 */
export type Prompt = string;

/**
 * What a person searches for.
 */
export type QueryText = string;

/**
 * What a person reports.
 */
export type ReportText = string;

/**
 * Marks a request so that its result can be told apart.
 */
export type RequestId = string;

/**
 * A permission rule, in the notation of the CLI.
 */
export type RuleText = string;

/**
 * The dense number of a durable event in its conversation, from 1.
 */
export type Seq = number;

/**
 * A task of a workspace: its id, or the name of its file. People write both by hand.
 */
export type TaskId = string;

/**
 * What is to be done.
 */
export type TaskText = string;

/**
 * A terminal of a machine.
 */
export type TerminalId = string;

/**
 * Milliseconds since 1970.
 */
export type Timestamp = number;

/**
 * The secret of a device. Its text is not shown by `Debug`, so that it reaches no log.
 */
export type Token = string;

/**
 * One call of a tool, and the decision about it.
 */
export type ToolUseId = string;

/**
 * A workspace.
 */
export type WorkspaceId = string;
