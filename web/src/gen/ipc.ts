// Made by `cargo xtask gen` from crates/proto. Do not edit.

import type { Author } from "./address";
import type { Answer } from "./answer";
import type { OnBusy, PermissionMode } from "./claude";
import type { ConversationStatus } from "./conversations";
import type { DecisionKind, PermissionDecision, PolicyReason, Question } from "./decisions";
import type { ErrorCode, ErrorReport, Retry } from "./error";
import type { ActivityState, ClaudeEvent } from "./events";
import type { HistoryMessage } from "./history";
import type { ChainHash, ClaudeSessionId, ClientId, ClientMessageId, ConversationId, DeviceId, Epoch, Generation, Name, PathText, Prompt, RequestId, RuleText, Seq, TerminalId, Timestamp, ToolUseId, WorkspaceId } from "./ids";
import type { Json } from "./json";
import type { SavedSession } from "./saved";
import type { Terminal, TerminalKind, TerminalSize } from "./terminals";
import type { WaitingMessage } from "./waiting";
import type { OpenBlock } from "./writing";

/**
 * What would become of a call.
 */
export type CallVerdict = { 
/**
 * Whether it would run.
 */
effect: RuleEffect, 
/**
 * The rule, list or mode that says so, for a person to read.
 */
reason: string, 
/**
 * The same for a program.
 */
why?: PolicyReason, };

/**
 * Takes a message back that the agent has not been given.
 */
export type CancelMessage = { 
/**
 * Which conversation.
 */
sessionId: ConversationId, 
/**
 * Which message.
 */
clientMessageId: ClientMessageId, 
/**
 * Which device wants it.
 */
deviceId?: DeviceId, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Asks to carry a call out. Nobody begins before this is granted.
 */
export type ClaimCall = { 
/**
 * Which conversation.
 */
sessionId: ConversationId, 
/**
 * Which call.
 */
callId: ToolUseId, 
/**
 * Who asks.
 */
client: ClientId, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Ends the session and deletes its log.
 */
export type ClearSession = { 
/**
 * Which conversation.
 */
sessionId: ConversationId, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Ends a terminal and everything that runs in it, and forgets it.
 */
export type CloseTerminal = { 
/**
 * Which.
 */
terminalId: TerminalId, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Copies a saved session; the result names the copy, and says what the session is called.
 */
export type CopySaved = { 
/**
 * The folder in which the agent worked.
 */
workingDir: PathText, 
/**
 * Which session.
 */
claudeSessionId: ClaudeSessionId, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Where a subscriber that was cut off can go on.
 */
export type Cursor = { 
/**
 * Which conversation.
 */
sessionId: ConversationId, 
/**
 * The epoch of its log.
 */
epoch: Epoch, 
/**
 * The last event that was sent.
 */
seq: Seq, 
/**
 * The hash of the log up to that event.
 */
chainHash?: ChainHash, };

/**
 * The reader was too slow; the connection is closed after this line.
 */
export type CutOff = { 
/**
 * What it had, for its next `subscribe`.
 */
cursors: Array<Cursor>, };

/**
 * Ends the session and forgets the conversation altogether.
 */
export type DeleteSession = { 
/**
 * Which conversation.
 */
sessionId: ConversationId, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * The facts that a state is derived from.
 */
export type Evidence = { 
/**
 * Whether the process holds the lock of its run.
 */
lockHeld: boolean, 
/**
 * Whether a turn is open.
 */
turnOpen: boolean, 
/**
 * Calls that have not come back.
 */
openTools: number, 
/**
 * Decisions that wait.
 */
openDecisions: number, 
/**
 * Milliseconds since the process last wrote something.
 */
lastOutputMs?: number, 
/**
 * The conclusion in words: which fact decided.
 */
why?: string, 
/**
 * Background tasks that have not ended.
 */
backgroundTasks?: number, 
/**
 * Which run.
 */
generation?: Generation, 
/**
 * Its process.
 */
pid?: number, 
/**
 * How the last run ended, if none is alive.
 */
exitCode?: number, 
/**
 * How often the end of its log was cut off, because an append had not finished or was damaged.
 */
logCuts?: number, 
/**
 * The bytes that this was about.
 */
logCutBytes?: number, };

/**
 * Makes a new conversation from an old one up to, and without, one of its user messages.
 */
export type ForkSession = { 
/**
 * The old conversation.
 */
sessionId: ConversationId, 
/**
 * The new conversation. Asking again with the same one changes nothing.
 */
newSessionId: ConversationId, 
/**
 * The `seq` of a user message of the old one.
 */
beforeSeq: Seq, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Asks the agent what the running turn has cost so far.
 */
export type GetCost = { 
/**
 * Which conversation.
 */
sessionId: ConversationId, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Asks for the rules of the machine, and those of a workspace.
 */
export type GetRules = { 
/**
 * Of which workspace; absent means of all.
 */
workspaceId?: WorkspaceId, 
/**
 * A call to judge by the rules of the machine and of this workspace.
 */
attempt?: TriedCall, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Asks for the state of one conversation or all.
 */
export type GetStatus = { 
/**
 * Which conversation; absent means all.
 */
sessionId?: ConversationId, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * A tool that runs unasked in a conversation, because a person said so.
 */
export type GrantedTool = { 
/**
 * In which conversation.
 */
conversationId: ConversationId, 
/**
 * Which tool.
 */
toolName: string, 
/**
 * Since when.
 */
since: Timestamp, 
/**
 * On which device it was allowed.
 */
deviceId?: DeviceId, 
/**
 * The paired device behind that, with the name it had then.
 */
author?: Author, };

/**
 * The first line of each side. Each goes on with the highest version both speak.
 */
export type Hello = { 
/**
 * The highest protocol version the speaker knows.
 */
protocol: number, 
/**
 * The build, for people and logs.
 */
build: string, 
/**
 * What the speaker can do beyond the version, by name.
 */
capabilities: Array<string>, 
/**
 * The lowest protocol version the speaker knows; absent means `protocol` alone.
 */
oldest?: number, };

/**
 * An event of the agent.
 */
export type HostEvent = { 
/**
 * Which conversation.
 */
sessionId: ConversationId, 
/**
 * What happened.
 */
event: ClaudeEvent, 
/**
 * The number of a durable event; passing events have none.
 */
seq?: Seq, 
/**
 * The epoch of `seq`.
 */
epoch?: Epoch, 
/**
 * The hash of the log up to this event.
 */
chainHash?: ChainHash, 
/**
 * When it happened.
 */
timestamp?: Timestamp, 
/**
 * Which run it came from.
 */
generation?: Generation, 
/**
 * The text of what `toolComplete` shows cut, up to 1,048,576 characters; absent if nothing was cut.
 */
fullResult?: string, 
/**
 * The pictures that `images` of `toolComplete` names, each in Base64 and in the same order.
 */
fullImages?: Array<string>, 
/**
 * Whether it happened in the conversation that this one was made from: what it cost is counted there.
 */
copied?: boolean, };

/**
 * What the host says to its clients.
 */
export type HostToPylon = { "type": "hello" } & Hello | { "type": "claude_event" } & HostEvent | { "type": "permission_request" } & PermissionRequest | { "type": "question_request" } & QuestionRequest | { "type": "status_response" } & StatusResponse | { "type": "subscribed" } & Subscribed | { "type": "snapshot" } & Snapshot | { "type": "cut_off" } & CutOff | { "type": "request_result" } & RequestResult | { "type": "tool_call" } & ToolCall | { "type": "server_shutdown" } & ServerShutdown | { "type": "error" } & ErrorReport;

/**
 * A terminal and where its keeper listens.
 */
export type KeptTerminal = { 
/**
 * The terminal.
 */
terminal: Terminal, 
/**
 * The socket of its keeper: an absolute path.
 */
socket: PathText, };

/**
 * Asks for the sessions that were saved for a folder, newest first.
 */
export type ListSaved = { 
/**
 * The folder in which the agent worked: an absolute path.
 */
workingDir: PathText, 
/**
 * The most sessions; at most 100.
 */
limit?: number, 
/**
 * Sessions to leave out at the beginning.
 */
offset?: number, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Asks for all terminals.
 */
export type ListTerminals = { 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * The message and where it is to be worked on.
 */
export type MessagePayload = { 
/**
 * What a person wrote.
 */
prompt: Prompt, 
/**
 * The folder in which the agent works: an absolute path.
 */
workingDir: PathText, 
/**
 * In which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * The session to resume, if the host knows none.
 */
claudeSessionId?: ClaudeSessionId, 
/**
 * Tool servers; absent means `.mcp.json` of the folder.
 */
mcpConfig?: Json, 
/**
 * How permissions are judged.
 */
permissionMode?: PermissionMode, 
/**
 * What to do while a turn is under way.
 */
onBusy?: OnBusy, 
/**
 * The same id runs once.
 */
clientMessageId?: ClientMessageId, 
/**
 * Which model.
 */
model?: string, 
/**
 * What to add to the system prompt: the persona.
 */
appendSystemPrompt?: string, 
/**
 * Which device sent it.
 */
deviceId?: DeviceId, 
/**
 * The paired device behind that, with the name it had then.
 */
author?: Author, 
/**
 * Tools that the sender carries out.
 */
toolServer?: ToolServer, 
/**
 * Whether the agent may only read, from now on: nothing that could change a file is allowed, by nobody. Its
 * calls of the sender's tools are then allowed unasked.
 */
readOnly?: boolean, };

/**
 * Ends the session; the next message starts afresh.
 */
export type NewSession = { 
/**
 * Which conversation.
 */
sessionId: ConversationId, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Starts a terminal. Asking again with the same id changes nothing.
 */
export type OpenTerminal = { 
/**
 * Its id.
 */
terminalId: TerminalId, 
/**
 * What runs in it.
 */
kind: TerminalKind, 
/**
 * The folder it begins in: an absolute path.
 */
workingDir: PathText, 
/**
 * How large.
 */
size: TerminalSize, 
/**
 * The conversation that the agent in it holds.
 */
sessionId?: ConversationId, 
/**
 * Which model the agent is asked for; absent or `auto` means its own choice.
 */
model?: string, 
/**
 * What is said to the agent first.
 */
prompt?: Prompt, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * An open permission, as the status lists it.
 */
export type PendingPermission = { 
/**
 * Which call.
 */
toolUseId: ToolUseId, 
/**
 * Which tool.
 */
toolName: string, 
/**
 * With what.
 */
toolInput: Json, 
/**
 * What kind of decision; absent means `permission`.
 */
kind?: DecisionKind, 
/**
 * Since when.
 */
openedAt?: Timestamp, 
/**
 * Why a person is asked.
 */
reason?: string, 
/**
 * The call of the sub-agent that asks.
 */
parentToolUseId?: ToolUseId, 
/**
 * The hash of the input, which binds the answer to what was shown.
 */
inputHash?: string, };

/**
 * Open questions, as the status lists them.
 */
export type PendingQuestion = { 
/**
 * Which call.
 */
toolUseId: ToolUseId, 
/**
 * The questions.
 */
questions: Array<Question>, 
/**
 * Since when.
 */
openedAt?: Timestamp, 
/**
 * The call of the sub-agent that asks.
 */
parentToolUseId?: ToolUseId, 
/**
 * The hash of the input, which binds the answer to what was shown.
 */
inputHash?: string, };

/**
 * A person must allow a call.
 */
export type PermissionRequest = { 
/**
 * Which conversation.
 */
sessionId: ConversationId, 
/**
 * Which call; the answer names it.
 */
toolUseId: ToolUseId, 
/**
 * Which tool.
 */
toolName: string, 
/**
 * With what.
 */
toolInput: Json, 
/**
 * What kind of decision; absent means `permission`.
 */
kind?: DecisionKind, 
/**
 * The hash of the input, which binds the answer to what was shown.
 */
inputHash?: string, 
/**
 * Why nobody else could decide.
 */
reason?: string, 
/**
 * The same for a program: what decided, to be told in any language.
 */
why?: PolicyReason, 
/**
 * Which run asks.
 */
generation?: Generation, 
/**
 * Since when.
 */
openedAt?: Timestamp, 
/**
 * The call of the sub-agent that asks.
 */
parentToolUseId?: ToolUseId, };

/**
 * Answers a permission.
 */
export type PermissionResponse = { 
/**
 * Which conversation.
 */
sessionId: ConversationId, 
/**
 * Which call.
 */
toolUseId: ToolUseId, 
/**
 * The answer.
 */
decision: PermissionDecision, 
/**
 * What to tell the agent when denying.
 */
message?: string, 
/**
 * Which device answered.
 */
deviceId?: DeviceId, 
/**
 * The paired device behind that, with the name it had then.
 */
author?: Author, 
/**
 * The hash of the input that was shown; an answer to anything else is refused.
 */
inputHash?: string, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * A rule of the user.
 */
export type PermissionRule = { 
/**
 * Which calls.
 */
rule: RuleText, 
/**
 * What becomes of them.
 */
effect: RuleEffect, 
/**
 * Where it holds; absent means everywhere on the machine.
 */
workspaceId?: WorkspaceId, 
/**
 * When it got this effect. The host says it; it does not believe others.
 */
since?: Timestamp, };

/**
 * How the process of a conversation is.
 */
export type ProcessStatus = "initializing" | "running" | "waiting_input" | "completed" | "error" | "stopped" | "suspect";

/**
 * The Pylon is there (again) and wants to know everything.
 */
export type PylonReconnected = { 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * What a Pylon says to the host.
 */
export type PylonToHost = { "type": "hello" } & Hello | { "type": "send_message" } & SendMessage | { "type": "stop_session" } & StopSession | { "type": "resume_session" } & ResumeSession | { "type": "new_session" } & NewSession | { "type": "clear_session" } & ClearSession | { "type": "delete_session" } & DeleteSession | { "type": "fork_session" } & ForkSession | { "type": "rewind_session" } & RewindSession | { "type": "permission_response" } & PermissionResponse | { "type": "question_response" } & QuestionResponse | { "type": "get_status" } & GetStatus | { "type": "pylon_reconnected" } & PylonReconnected | { "type": "set_permission_mode" } & SetPermissionMode | { "type": "set_model" } & SetModel | { "type": "cancel_message" } & CancelMessage | { "type": "touch" } & Touch | { "type": "get_cost" } & GetCost | { "type": "subscribe" } & Subscribe | { "type": "unsubscribe" } & Unsubscribe | { "type": "get_rules" } & GetRules | { "type": "set_rule" } & SetRule | { "type": "remove_rule" } & RemoveRule | { "type": "revoke_tool" } & RevokeTool | { "type": "claim_call" } & ClaimCall | { "type": "tool_result" } & ToolResult | { "type": "open_terminal" } & OpenTerminal | { "type": "list_terminals" } & ListTerminals | { "type": "close_terminal" } & CloseTerminal | { "type": "list_saved" } & ListSaved | { "type": "read_saved" } & ReadSaved | { "type": "copy_saved" } & CopySaved | { "type": "shutdown" } & Shutdown;

/**
 * A person must answer questions.
 */
export type QuestionRequest = { 
/**
 * Which conversation.
 */
sessionId: ConversationId, 
/**
 * Which call; the answer names it.
 */
toolUseId: ToolUseId, 
/**
 * The questions.
 */
questions: Array<Question>, 
/**
 * Which run asks.
 */
generation?: Generation, 
/**
 * Since when.
 */
openedAt?: Timestamp, 
/**
 * The call of the sub-agent that asks.
 */
parentToolUseId?: ToolUseId, 
/**
 * The hash of the input, which binds the answer to what was shown.
 */
inputHash?: string, };

/**
 * Answers questions.
 */
export type QuestionResponse = { 
/**
 * Which conversation.
 */
sessionId: ConversationId, 
/**
 * Which call.
 */
toolUseId: ToolUseId, 
/**
 * The answers, in any form.
 */
answer: Answer, 
/**
 * Which device answered.
 */
deviceId?: DeviceId, 
/**
 * The hash of the input that was shown; an answer to anything else is refused.
 */
inputHash?: string, 
/**
 * The paired device behind that, with the name it had then.
 */
author?: Author, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Asks what was said in a saved session.
 */
export type ReadSaved = { 
/**
 * The folder in which the agent worked.
 */
workingDir: PathText, 
/**
 * Which session.
 */
claudeSessionId: ClaudeSessionId, 
/**
 * Messages to leave out at the beginning.
 */
offset?: number, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Takes a rule away. One that is not there is no failure.
 */
export type RemoveRule = { 
/**
 * Which calls, as it was set.
 */
rule: RuleText, 
/**
 * Where it holds; absent means everywhere on the machine.
 */
workspaceId?: WorkspaceId, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Whether a command was carried out. Only for commands with a `requestId`, or that failed.
 */
export type RequestResult = { 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * Which conversation.
 */
sessionId?: ConversationId, 
/**
 * The number a message got.
 */
seq?: Seq, 
/**
 * Who answered the decision first.
 */
answeredBy?: DeviceId, 
/**
 * When.
 */
answeredAt?: Timestamp, 
/**
 * Whether the process that was started knows what was said before; only for `resume_session`.
 */
resumedWithHistory?: boolean, 
/**
 * The permission rules; only for `get_rules`, `set_rule` and `remove_rule`.
 */
rules?: RuleList, 
/**
 * The terminals; only for `open_terminal` and `list_terminals`.
 */
terminals?: Array<KeptTerminal>, 
/**
 * Saved sessions; only for `list_saved`, and for `copy_saved` the one that was copied.
 */
saved?: Array<SavedSession>, 
/**
 * What was said in a saved session; only for `read_saved`.
 */
messages?: Array<HistoryMessage>, 
/**
 * Where the next page begins; only for `list_saved` and `read_saved`, absent at the end.
 */
nextOffset?: number, 
/**
 * The copy; only for `copy_saved`.
 */
claudeSessionId?: ClaudeSessionId, 
/**
 * What the running turn has cost so far, in US dollars; only for `get_cost`, absent if no turn runs.
 */
turnCostUsd?: number, 
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
 * Starts the process of a stopped conversation again; the result says whether it knows what was said before.
 */
export type ResumeSession = { 
/**
 * Which conversation.
 */
sessionId: ConversationId, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * A tool that was allowed for a conversation is asked about again. One that is not allowed is no failure.
 */
export type RevokeTool = { 
/**
 * In which conversation.
 */
sessionId: ConversationId, 
/**
 * Which tool.
 */
toolName: string, 
/**
 * Which device wants it.
 */
deviceId?: DeviceId, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Lets a conversation go on from before one of its user messages. What came after it is kept, and marked by an event.
 * Refused while the agent works or messages wait.
 */
export type RewindSession = { 
/**
 * Which conversation.
 */
sessionId: ConversationId, 
/**
 * The `seq` of a user message of it. Asking again before anything else was said changes nothing.
 */
beforeSeq: Seq, 
/**
 * Which device asks.
 */
deviceId?: DeviceId, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * What a rule wants.
 */
export type RuleEffect = "allow" | "deny" | "ask";

/**
 * The rules that are in force now.
 */
export type RuleList = { 
/**
 * The rules, in the order in which they were set.
 */
rules: Array<PermissionRule>, 
/**
 * Why the rules are not known; then everything is asked about.
 */
warning?: string, 
/**
 * What would become of the call that was tried.
 */
verdict?: CallVerdict, 
/**
 * Tools that people have allowed for conversations.
 */
granted?: Array<GrantedTool>, };

/**
 * Says something to the agent, starting or resuming its process if need be.
 */
export type SendMessage = { 
/**
 * Which conversation.
 */
sessionId: ConversationId, 
/**
 * What and where.
 */
payload: MessagePayload, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * The host goes down and takes its runs along.
 */
export type ServerShutdown = { 
/**
 * `SIGTERM` or `SIGINT`.
 */
reason: string, 
/**
 * Seconds until what is left is killed.
 */
gracePeriodSeconds: number, };

/**
 * How a conversation is.
 */
export type SessionStatus = { 
/**
 * Which conversation.
 */
sessionId: ConversationId, 
/**
 * Its state.
 */
state: ConversationStatus, 
/**
 * Claude's session, if one was started.
 */
claudeSessionId: ClaudeSessionId | null, 
/**
 * The oldest open permission.
 */
pendingPermission: PendingPermission | null, 
/**
 * When the running turn began.
 */
startTime: Timestamp | null, 
/**
 * All open permissions, oldest first.
 */
pendingPermissions?: Array<PendingPermission>, 
/**
 * All open questions, oldest first.
 */
pendingQuestions?: Array<PendingQuestion>, 
/**
 * The text of the open message so far, without what is complete.
 */
partialText?: string, 
/**
 * Everything that is being written, by the agent and its sub-agents.
 */
open?: Array<OpenBlock>, 
/**
 * Messages that wait until the agent is free, oldest first.
 */
waiting?: Array<WaitingMessage>, 
/**
 * What the agent is at.
 */
activity?: ActivityState, 
/**
 * How its process is.
 */
process?: ProcessStatus, 
/**
 * The facts behind all this.
 */
evidence?: Evidence, 
/**
 * The epoch of its log.
 */
epoch?: Epoch, 
/**
 * Its newest event.
 */
seq?: Seq, 
/**
 * In which workspace.
 */
workspaceId?: WorkspaceId, 
/**
 * The folder in which the agent works.
 */
workingDir?: PathText, 
/**
 * How permissions are judged.
 */
permissionMode?: PermissionMode, };

/**
 * Changes the model from the next turn on.
 */
export type SetModel = { 
/**
 * In which conversation.
 */
sessionId: ConversationId, 
/**
 * Which model; absent means the agent's default.
 */
model?: string, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Changes how permissions are judged.
 */
export type SetPermissionMode = { 
/**
 * How.
 */
mode: PermissionMode, 
/**
 * In which conversation; absent means those without a mode of their own.
 */
sessionId?: ConversationId, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Adds a rule, or gives it another effect.
 */
export type SetRule = { 
/**
 * The rule.
 */
rule: PermissionRule, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Ends the host. The runs live on and are taken up by the next host, unless they shall be stopped or the host is
 * configured to stop them.
 */
export type Shutdown = { 
/**
 * Whether to stop the runs as well; without it the host does what `shutdown_stops_runs` says.
 */
stopRuns?: boolean, 
/**
 * Why, as clients are told when the runs are stopped: the name of the signal. `SIGTERM` without it.
 */
reason?: string, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * What is open at the end of a replay. Live events follow without a gap.
 */
export type Snapshot = { 
/**
 * Which conversation.
 */
sessionId: ConversationId, 
/**
 * The epoch of its log.
 */
epoch: Epoch, 
/**
 * The last durable event taken into account.
 */
seq: Seq, 
/**
 * How the conversation is.
 */
status: SessionStatus, 
/**
 * The hash of the log up to that event.
 */
chainHash?: ChainHash, };

/**
 * How conversations are.
 */
export type StatusResponse = { 
/**
 * Those asked for.
 */
sessions: Array<SessionStatus>, 
/**
 * The `requestId` of the request, if it had one.
 */
requestId?: RequestId, 
/**
 * So many conversations, all idle and without a process, found no room in the line.
 */
leftOut?: number, };

/**
 * Ends the running turn; open decisions of this conversation are denied.
 */
export type StopSession = { 
/**
 * Which conversation.
 */
sessionId: ConversationId, 
/**
 * End the process as well: `process_paused` with `manual` follows.
 */
endProcess?: boolean, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Asks for the events after a cursor, and for all that follow. Without a cursor: from the start.
 */
export type Subscribe = { 
/**
 * Which conversation.
 */
sessionId: ConversationId, 
/**
 * The epoch of the cursor.
 */
epoch?: Epoch, 
/**
 * The last event the subscriber has.
 */
seq?: Seq, 
/**
 * The hash of the log up to that event: proof that both mean the same log.
 */
chainHash?: ChainHash, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * A subscription begins here.
 */
export type Subscribed = { 
/**
 * Which conversation.
 */
sessionId: ConversationId, 
/**
 * The epoch of its log.
 */
epoch: Epoch, 
/**
 * The newest event; the replay ends with it.
 */
headSeq: Seq, 
/**
 * Whether the cursor was void, so that everything comes from the start.
 */
fresh: boolean, 
/**
 * The `requestId` of the request, if it had one.
 */
requestId?: RequestId, };

/**
 * The agent calls a tool.
 */
export type ToolCall = { 
/**
 * Which conversation.
 */
sessionId: ConversationId, 
/**
 * Which call; the result names it.
 */
callId: ToolUseId, 
/**
 * Of which server.
 */
server: string, 
/**
 * Which tool.
 */
tool: string, 
/**
 * With what.
 */
arguments: Json, };

/**
 * A tool.
 */
export type ToolDefinition = { 
/**
 * Its name.
 */
name: Name, 
/**
 * What it does, for the model.
 */
description: string, 
/**
 * The JSON Schema of its arguments.
 */
inputSchema: Json, };

/**
 * What came of a call.
 */
export type ToolResult = { 
/**
 * Which conversation.
 */
sessionId: ConversationId, 
/**
 * Which call.
 */
callId: ToolUseId, 
/**
 * Who carried it out: the one that has the call.
 */
client?: ClientId, 
/**
 * What the tool gave.
 */
result?: string, 
/**
 * Why it failed, for the model.
 */
error?: string, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * A server of tools within the host.
 */
export type ToolServer = { 
/**
 * Its name, which is part of the names of its tools.
 */
name: Name, 
/**
 * Its tools.
 */
tools: Array<ToolDefinition>, };

/**
 * A client looked at the conversation: it is not idle.
 */
export type Touch = { 
/**
 * Which conversation.
 */
sessionId: ConversationId, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * A call that is judged and not made.
 */
export type TriedCall = { 
/**
 * Which tool.
 */
toolName: string, 
/**
 * With what.
 */
input: Json, 
/**
 * The folder in which the agent would work; absent means the home folder.
 */
workingDir?: PathText, 
/**
 * The permission mode; absent means the default of the machine.
 */
mode?: PermissionMode, };

/**
 * No further events of the conversation, please.
 */
export type Unsubscribe = { 
/**
 * Which conversation.
 */
sessionId: ConversationId, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };
