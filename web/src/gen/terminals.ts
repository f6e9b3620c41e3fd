// Made by `cargo xtask gen` from crates/proto. Do not edit.

import type { ErrorCode, Retry } from "./error";
import type { ConversationId, DeviceId, PathText, Prompt, RequestId, TerminalId, Timestamp, WorkspaceId } from "./ids";

/**
 * A terminal.
 */
export type Terminal = { 
/**
 * Which.
 */
terminalId: TerminalId, 
/**
 * What runs in it.
 */
kind: TerminalKind, 
/**
 * The folder it began in.
 */
workingDir: PathText, 
/**
 * How it is.
 */
state: TerminalState, 
/**
 * When it began.
 */
createdAt: Timestamp, 
/**
 * The conversation that it holds; nobody else writes to it while the terminal runs.
 */
conversationId?: ConversationId, 
/**
 * What its program returned.
 */
exitCode?: number, 
/**
 * The signal that ended its program.
 */
signal?: number, };

/**
 * Everything up to an output was shown.
 */
export type TerminalAck = { 
/**
 * Of which terminal.
 */
terminalId: TerminalId, 
/**
 * Up to which output.
 */
frame: number, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Begins to look at a terminal.
 */
export type TerminalAttach = { 
/**
 * Which.
 */
terminalId: TerminalId, 
/**
 * The terminal gets this size, for everybody.
 */
size?: TerminalSize, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Whether one looks at a terminal now. Its screen follows.
 */
export type TerminalAttachResult = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * Which terminal.
 */
terminalId: TerminalId, 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * How it is.
 */
terminal?: Terminal, 
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
 * Ends a terminal and everything that runs in it.
 */
export type TerminalClose = { 
/**
 * Which.
 */
terminalId: TerminalId, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Whether a terminal is gone.
 */
export type TerminalCloseResult = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * Which terminal.
 */
terminalId: TerminalId, 
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
 * Starts a terminal: in the folder of a conversation, of a workspace, or in a folder under the configured roots.
 */
export type TerminalCreate = { 
/**
 * What runs in it.
 */
kind: TerminalKind, 
/**
 * How large.
 */
size: TerminalSize, 
/**
 * Of which conversation; needed for `agent`, which takes it from the chat until the terminal ends.
 */
conversationId?: ConversationId, 
/**
 * In which workspace.
 */
workspaceId?: WorkspaceId, 
/**
 * In which folder, if not that of the conversation or the workspace.
 */
path?: PathText, 
/**
 * What to say to the agent first.
 */
prompt?: Prompt, 
/**
 * Which model it uses, if not that of the conversation; `auto` leaves it to the agent.
 */
model?: string, 
/**
 * Asking again with the same id changes nothing.
 */
terminalId?: TerminalId, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Whether a terminal was started.
 */
export type TerminalCreateResult = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * The terminal.
 */
terminal?: Terminal, 
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
 * Looks away from a terminal, which goes on.
 */
export type TerminalDetach = { 
/**
 * From which terminal.
 */
terminalId: TerminalId, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * The program of a terminal ended. Whoever looks at it sees the last screen until it detaches.
 */
export type TerminalEnded = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * Which terminal.
 */
terminalId: TerminalId, 
/**
 * How it is.
 */
state: TerminalState, 
/**
 * What the program returned.
 */
exitCode?: number, 
/**
 * The signal that ended it.
 */
signal?: number, };

/**
 * Types something. Needs an attached terminal.
 */
export type TerminalInput = { 
/**
 * Into which terminal.
 */
terminalId: TerminalId, 
/**
 * What, as a terminal sends it: at most 65536 bytes.
 */
data: string, 
/**
 * It was pasted: it cannot end the paste itself, and holds no control characters but line breaks and tabs.
 */
paste?: boolean, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * What runs in a terminal.
 */
export type TerminalKind = "shell" | "agent";

/**
 * Asks for the terminals of the machine.
 */
export type TerminalList = { 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * The terminals of a machine, oldest first.
 */
export type TerminalListResult = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * The terminals.
 */
terminals: Array<Terminal>, 
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
 * What a terminal shows.
 */
export type TerminalOutput = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * Which terminal.
 */
terminalId: TerminalId, 
/**
 * The number of this output, for `terminal_ack`.
 */
frame: number, 
/**
 * The text, with control sequences.
 */
data: string, 
/**
 * This is the whole screen, of this size: what was shown before is void.
 */
screen?: TerminalSize, };

/**
 * Changes the size of a terminal, for everybody. Needs an attached terminal.
 */
export type TerminalResize = { 
/**
 * Of which terminal.
 */
terminalId: TerminalId, 
/**
 * To which size.
 */
size: TerminalSize, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * How large a screen is: 2 to 500 columns, 2 to 300 rows.
 */
export type TerminalSize = { 
/**
 * Columns.
 */
cols: number, 
/**
 * Rows.
 */
rows: number, };

/**
 * How a terminal is.
 */
export type TerminalState = "running" | "ended" | "lost";
