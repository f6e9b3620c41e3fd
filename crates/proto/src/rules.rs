//! App ↔ Pylon: the user's permission rules of a machine.
//!
//! ```text
//! app ── rules_request | rule_change ─► pylon      app ◄─ rules_result {rules}
//! ```
//!
//! The result says which rules are in force afterwards. Changing them needs the right to manage devices, since a rule
//! decides for everybody; the host keeps them. Whoever may look may also try what would become of a call.
//!
//! # Failures
//!
//! | what | `errorCode` |
//! |---|---|
//! | the notation of the rule makes no sense | `invalid_message` |
//! | the host is away | `host_unavailable` |

use crate::ipc::{CallVerdict, PermissionRule, RuleEffect, TriedCall};
use crate::{DeviceId, RuleText, WorkspaceId};

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
        }
    }
}
