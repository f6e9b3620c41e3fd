//! Permissions: modes, rules, changes to them, and the answer to "may this tool run?".
//!
//! The answer never carries the SDK's `toolUseID` field: with it, an old answer can run a tool in a later process. An
//! allow always carries `updatedInput`, because older CLIs refuse one without.

use super::json::Json;

open_enum! {
    /// When the CLI asks before it runs a tool.
    pub enum PermissionMode {
        "default" => Default,
        "acceptEdits" => AcceptEdits,
        "bypassPermissions" => BypassPermissions,
        "plan" => Plan,
        "dontAsk" => DontAsk,
        "auto" => Auto,
    }
}

open_enum! {
    /// What a rule does.
    pub enum PermissionBehavior { "allow" => Allow, "deny" => Deny, "ask" => Ask }
}

open_enum! {
    /// Where a change of permissions is kept.
    pub enum PermissionDestination {
        "userSettings" => UserSettings,
        "projectSettings" => ProjectSettings,
        "localSettings" => LocalSettings,
        "session" => Session,
        "cliArg" => CliArg,
    }
}

wire_struct! {
    /// A rule: a tool, and what of it.
    pub struct PermissionRuleValue {
        required { "toolName" => tool_name: String }
        optional { "ruleContent" => rule_content: String }
    }
}

wire_union! {
    /// A change of the permissions, offered by the CLI or given with an answer.
    pub enum PermissionUpdate by "type" {
        "addRules" => AddRules(AddRules),
        "replaceRules" => ReplaceRules(ReplaceRules),
        "removeRules" => RemoveRules(RemoveRules),
        "setMode" => SetMode(SetMode),
        "addDirectories" => AddDirectories(AddDirectories),
        "removeDirectories" => RemoveDirectories(RemoveDirectories),
    }
}

wire_struct! {
    /// Adds rules.
    pub struct AddRules("type" = "addRules") {
        required {
            rules: Vec<PermissionRuleValue>,
            behavior: PermissionBehavior,
            destination: PermissionDestination,
        }
    }
}

wire_struct! {
    /// Replaces all rules of that behaviour.
    pub struct ReplaceRules("type" = "replaceRules") {
        required {
            rules: Vec<PermissionRuleValue>,
            behavior: PermissionBehavior,
            destination: PermissionDestination,
        }
    }
}

wire_struct! {
    /// Removes rules.
    pub struct RemoveRules("type" = "removeRules") {
        required {
            rules: Vec<PermissionRuleValue>,
            behavior: PermissionBehavior,
            destination: PermissionDestination,
        }
    }
}

wire_struct! {
    /// Sets the permission mode.
    pub struct SetMode("type" = "setMode") {
        required { mode: PermissionMode, destination: PermissionDestination }
    }
}

wire_struct! {
    /// Adds directories the tools may work in.
    pub struct AddDirectories("type" = "addDirectories") {
        required { directories: Vec<String>, destination: PermissionDestination }
    }
}

wire_struct! {
    /// Removes directories the tools may work in.
    pub struct RemoveDirectories("type" = "removeDirectories") {
        required { directories: Vec<String>, destination: PermissionDestination }
    }
}

wire_union! {
    /// The answer to a permission request.
    pub enum PermissionResult by "behavior" {
        "allow" => Allow(Allow),
        "deny" => Deny(Deny),
    }
}

wire_struct! {
    /// The tool may run.
    pub struct Allow("behavior" = "allow") {
        required {
            /// The input to run it with; the one asked about when nothing is changed.
            "updatedInput" => updated_input: Json,
        }
        optional {
            "updatedPermissions" => updated_permissions: Vec<PermissionUpdate>,
            "decisionClassification" => decision_classification: DecisionClassification,
        }
    }
}

wire_struct! {
    /// The tool may not run.
    pub struct Deny("behavior" = "deny") {
        required {
            /// What the model is told.
            message: String,
        }
        optional {
            /// Whether the turn ends here.
            interrupt: bool,
            "decisionClassification" => decision_classification: DecisionClassification,
        }
    }
}

open_enum! {
    /// What kind of decision a person made.
    pub enum DecisionClassification {
        "user_temporary" => UserTemporary,
        "user_permanent" => UserPermanent,
        "user_reject" => UserReject,
    }
}

impl PermissionResult {
    /// Lets the tool run with this input.
    pub fn allow(input: Json) -> Self {
        Self::Allow(Allow::new(input))
    }

    /// Refuses, and tells the model why.
    pub fn deny(message: impl Into<String>) -> Self {
        Self::Deny(Deny::new(message))
    }

    /// Refuses and ends the turn.
    pub fn deny_and_interrupt(message: impl Into<String>) -> Self {
        let mut deny = Deny::new(message);
        deny.interrupt = Some(true);
        Self::Deny(deny)
    }
}
