//! App ↔ Pylon: the user's permission rules of a machine.
//!
//! ```text
//! app ── rules_request | rule_change | tool_revoke ─► pylon      app ◄─ rules_result {rules, granted}
//! ```
//!
//! The result says which rules are in force afterwards. Changing them needs the right to manage devices, since a rule
//! decides for everybody; the host keeps them. Whoever may look may also try what would become of a call.
//!
//! A tool that somebody allowed for a conversation runs there unasked until its process ends. Whoever may decide may take
//! that back; a remark in the conversation tells everybody.
//!
//! # Failures
//!
//! | what | `errorCode` |
//! |---|---|
//! | the notation of the rule makes no sense | `invalid_message` |
//! | the host is away | `host_unavailable` |
//! | there is no such conversation to revoke a tool in | `unknown_conversation` |

use crate::ipc::{CallVerdict, GrantedTool, PermissionRule, RuleEffect, TriedCall};
use crate::{ConversationId, DeviceId, RuleText, WorkspaceId};

request! {
    /// Asks for the rules of a machine.
    pub struct RulesRequest {
        optional {
            /// Those of the machine and of this workspace; absent means all.
            workspace_id: WorkspaceId,
            /// A call to judge by them. Nothing runs.
            attempt: TriedCall,
        }
    }
}

request! {
    /// Sets a rule, or takes it away.
    pub struct RuleChange {
        required {
            /// Which calls, as the CLI writes it: `Bash(git push:*)`.
            rule: RuleText,
        }
        optional {
            /// What becomes of them; absent takes the rule away.
            effect: RuleEffect,
            /// Where it holds; absent means everywhere on the machine.
            workspace_id: WorkspaceId,
        }
    }
}

request! {
    /// A tool that was allowed for a conversation is asked about again. One that is not allowed is no failure.
    pub struct ToolRevoke {
        required {
            /// In which conversation.
            conversation_id: ConversationId,
            /// Which tool.
            tool_name: String,
        }
    }
}

reply! {
    /// The rules that are in force now.
    pub struct RulesResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// The rules, in the order in which they were set.
            rules: Vec<PermissionRule>,
        }
        optional {
            /// Why the rules are not known; then everything is asked about.
            warning: String,
            /// What would become of the call that was tried.
            verdict: CallVerdict,
            /// Tools that people have allowed for conversations, until their processes end.
            granted: Vec<GrantedTool>,
        }
    }
}
