//! The user's permission rules: what always runs, never runs, or is always asked about.
//!
//! ```text
//! pylon                                             host
//!   │ ── get_rules | set_rule | remove_rule ─────────► │
//!   │ ◄────────────────────── request_result {rules} ──│  the rules afterwards, or why nothing changed
//! ```
//!
//! A rule belongs to the machine, or to one workspace. Its notation is that of the CLI: `Bash(git push:*)`.
//!
//! `get_rules` can bring a call to try: the host judges it as it would judge the agent's, and runs nothing.

use super::GrantedTool;
use crate::{Json, PathText, PermissionMode, RuleText, Timestamp, WorkspaceId};

words! {
    /// What a rule wants.
    pub enum RuleEffect {
        /// The call runs.
        Allow = "allow",
        /// The call never runs.
        Deny = "deny",
        /// A person is asked.
        Ask = "ask",
    }
}

data! {
    /// A rule of the user.
    pub struct PermissionRule {
        required {
            /// Which calls.
            rule: RuleText,
            /// What becomes of them.
            effect: RuleEffect,
        }
        optional {
            /// Where it holds; absent means everywhere on the machine.
            workspace_id: WorkspaceId,
            /// When it got this effect. The host says it; it does not believe others.
            since: Timestamp,
        }
    }
}

data! {
    /// A call that is judged and not made.
    pub struct TriedCall {
        required {
            /// Which tool.
            tool_name: String,
            /// With what.
            input: Json,
        }
        optional {
            /// The folder in which the agent would work; absent means the home folder.
            working_dir: PathText,
            /// The permission mode; absent means the default of the machine.
            mode: PermissionMode,
        }
    }
}

data! {
    /// What would become of a call.
    pub struct CallVerdict {
        required {
            /// Whether it would run.
            effect: RuleEffect,
            /// The rule, list or mode that says so, for a person to read.
            reason: String,
        }
        optional {
            /// The same for a program.
            why: crate::PolicyReason,
        }
    }
}

request! {
    /// Asks for the rules of the machine, and those of a workspace.
    pub struct GetRules {
        optional {
            /// Of which workspace; absent means of all.
            workspace_id: WorkspaceId,
            /// A call to judge by the rules of the machine and of this workspace.
            attempt: TriedCall,
        }
    }
}

request! {
    /// Adds a rule, or gives it another effect.
    pub struct SetRule {
        required {
            /// The rule.
            rule: PermissionRule,
        }
    }
}

request! {
    /// Takes a rule away. One that is not there is no failure.
    pub struct RemoveRule {
        required {
            /// Which calls, as it was set.
            rule: RuleText,
        }
        optional {
            /// Where it holds; absent means everywhere on the machine.
            workspace_id: WorkspaceId,
        }
    }
}

data! {
    /// The rules that are in force now.
    pub struct RuleList {
        required {
            /// The rules, in the order in which they were set.
            rules: Vec<PermissionRule>,
        }
        optional {
            /// Why the rules are not known; then everything is asked about.
            warning: String,
            /// What would become of the call that was tried.
            verdict: CallVerdict,
            /// Tools that people have allowed for conversations.
            granted: Vec<GrantedTool>,
        }
    }
}
