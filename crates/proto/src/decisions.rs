//! App ↔ Pylon: what a person has to decide.
//!
//! ```text
//! host ── permission_request | askQuestion ─► pylon ─► every client that may see it
//! app  ── claude_permission | claude_answer ─► pylon ─► host     compare-and-set: the first answer wins
//! app  ◄─ claude_permission_result | claude_answer_result        the sender learns whether it was the first
//! all  ◄─ claude_event {decisionAnswered}                        everybody learns who answered
//! ```
//!
//! A decision is bound to the call that was shown (`toolUseId`). It stays open across restarts of everything but the
//! agent's own process; when that is gone the decision is void.
//!
//! # Failures
//!
//! | what | `errorCode` |
//! |---|---|
//! | there never was such a decision in this conversation | `unknown_decision` |
//! | somebody answered first; `answeredBy` and `answeredAt` say who and when | `already_answered` |
//! | the process that asked is gone | `decision_void` |
//! | a decision that is not one of the known words | `invalid_message` |
//! | `inputHash` names another input than the one that will run | `conflict` |

use crate::{Answer, ConversationId, DeviceId, Timestamp, ToolUseId, WorkspaceId};

words! {
    /// The answer to a permission.
    pub enum PermissionDecision {
        /// This call may run.
        Allow = "allow",
        /// This call and later ones of the same tool in this conversation.
        AllowAll = "allowAll",
        /// This call may not run.
        Deny = "deny",
    }
}

words! {
    /// What has to be decided.
    pub enum DecisionKind {
        /// Whether a tool may be called.
        Permission = "permission",
        /// Questions of the agent.
        Question = "question",
        /// Whether a plan is good.
        Plan = "plan",
        /// Whether the files of a folder that steer the agent may be loaded.
        Trust = "trust",
        /// Something that a tool server wants to know.
        Elicitation = "elicitation",
        /// Something else that the agent's program wants to know.
        Dialog = "dialog",
    }
}

words! {
    /// How far a decision is. It goes one way.
    pub enum DecisionState {
        /// Waits for a person.
        Open = "open",
        /// Somebody answered.
        Answered = "answered",
        /// The agent has the answer.
        Delivered = "delivered",
        /// The agent acted on it.
        Settled = "settled",
        /// The process that asked is gone.
        Void = "void",
    }
}

words! {
    /// What decided about a call, or why nothing did.
    pub enum ReasonCode {
        /// The tool is a question by nature.
        AlwaysAsks = "alwaysAsks",
        /// It reaches into Estelle's own data.
        DataFolder = "dataFolder",
        /// It reads a message of the user that was put into a file.
        UserMessage = "userMessage",
        /// It names a protected file.
        ProtectedFile = "protectedFile",
        /// It is a command of the list of dangerous ones.
        DangerousCommand = "dangerousCommand",
        /// A rule of the user matches.
        UserRule = "userRule",
        /// It cannot be told what it would do.
        Unclear = "unclear",
        /// The conversation may only read.
        ReadOnly = "readOnly",
        /// The command wants to leave the sandbox.
        SandboxDisabled = "sandboxDisabled",
        /// The permission mode lets it pass.
        Mode = "mode",
        /// The tool is on the list of harmless ones.
        AutoAllowed = "autoAllowed",
        /// The tool was allowed for the conversation.
        Remembered = "remembered",
        /// No mode, list or rule decides.
        NoRule = "noRule",
    }
}

words! {
    /// What kind of thing decided.
    pub enum ReasonSource {
        /// A list that Estelle or the user keeps: harmless tools, protected files, dangerous commands.
        List = "list",
        /// A rule of the user.
        Rule = "rule",
        /// The mode of the conversation.
        Mode = "mode",
        /// What a person said in this conversation.
        Person = "person",
        /// That it cannot be known.
        Doubt = "doubt",
        /// Nothing did.
        Nothing = "nothing",
    }
}

data! {
    /// Why the policy decided as it did, for programs: the sentence beside it says the same in English.
    pub struct PolicyReason {
        required {
            /// What decided.
            code: ReasonCode,
            /// What kind of thing that is.
            source: ReasonSource,
        }
        optional {
            /// The rule or the pattern that matches, as it is written.
            rule: String,
            /// Where the rule stands: `global` or `workspace`.
            scope: String,
            /// What it is about: the path, the command or the tool.
            subject: String,
            /// What is not known, with `unclear`.
            doubt: String,
        }
    }
}

data! {
    /// A choice.
    pub struct QuestionOption {
        required {
            /// What is chosen.
            label: String,
            /// What that means.
            description: String,
        }
    }
}

data! {
    /// A question of the agent.
    pub struct Question {
        required {
            /// The question itself; answers may name it.
            question: String,
            /// A word or two above it.
            header: String,
            /// What can be chosen; free text is always possible.
            options: Vec<QuestionOption>,
            /// Whether several may be chosen.
            multi_select: bool,
        }
    }
}

request! {
    /// Allows or denies a call.
    pub struct ClaudePermission {
        required {
            /// In which workspace.
            workspace_id: WorkspaceId,
            /// In which conversation.
            conversation_id: ConversationId,
            /// Which call.
            tool_use_id: ToolUseId,
            /// The answer.
            decision: PermissionDecision,
        }
        optional {
            /// What to tell the agent when denying.
            message: String,
            /// The hash of the input that was shown; an answer to anything else is refused.
            input_hash: String,
        }
    }
}

reply! {
    /// Whether this answer was the first.
    pub struct ClaudePermissionResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// In which conversation.
            conversation_id: ConversationId,
            /// Which call.
            tool_use_id: ToolUseId,
        }
        optional {
            /// Who answered first, if not this one.
            answered_by: DeviceId,
            /// When.
            answered_at: Timestamp,
        }
    }
}

request! {
    /// Answers questions.
    pub struct ClaudeAnswer {
        required {
            /// In which workspace.
            workspace_id: WorkspaceId,
            /// In which conversation.
            conversation_id: ConversationId,
            /// Which call.
            tool_use_id: ToolUseId,
            /// The answers.
            answer: Answer,
        }
        optional {
            /// The hash of the input that was shown; an answer to anything else is refused.
            input_hash: String,
        }
    }
}

reply! {
    /// Whether this answer was the first.
    pub struct ClaudeAnswerResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// In which conversation.
            conversation_id: ConversationId,
            /// Which call.
            tool_use_id: ToolUseId,
        }
        optional {
            /// Who answered first, if not this one.
            answered_by: DeviceId,
            /// When.
            answered_at: Timestamp,
        }
    }
}
