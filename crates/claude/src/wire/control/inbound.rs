//! Requests the CLI makes of the host, and the answers it takes.
//!
//! Every one of them must be answered; what the host does not support gets an error response.

use std::collections::BTreeMap;

use crate::wire::hooks::HookInput;
use crate::wire::json::Json;
use crate::wire::permission::{PermissionResult, PermissionUpdate};

wire_struct! {
    /// May this tool run? Answered with a `PermissionResult`.
    pub struct CanUseTool("subtype" = "can_use_tool") {
        required { tool_name: String, input: Json, tool_use_id: String }
        optional {
            mcp_server: McpServerProvenance,
            permission_suggestions: Vec<PermissionUpdate>,
            blocked_path: String,
            decision_reason: String,
            decision_reason_type: DecisionReasonType,
            classifier_approvable: bool,
            suppress_always_allow_rule: bool,
            default_to_no: bool,
            matched_ask_rule: MatchedAskRule,
            title: String,
            display_name: String,
            /// The subagent that asks; none for the main conversation.
            agent_id: String,
            description: String,
            requires_user_interaction: bool,
        }
    }
}

impl CanUseTool {
    /// Lets the tool run as it was asked about.
    pub fn allow(&self) -> PermissionResult {
        PermissionResult::allow(self.input.clone())
    }
}

wire_struct! {
    /// Which MCP server a tool belongs to.
    pub struct McpServerProvenance {
        required { name: String }
        optional { source: String }
    }
}

wire_struct! {
    /// The rule because of which the CLI asks.
    pub struct MatchedAskRule {
        optional { source: String, tool_name: String, rule_content: String }
    }
}

open_enum! {
    /// What made the CLI ask.
    pub enum DecisionReasonType {
        "rule" => Rule,
        "mode" => Mode,
        "subcommandResults" => SubcommandResults,
        "permissionPromptTool" => PermissionPromptTool,
        "hook" => Hook,
        "asyncAgent" => AsyncAgent,
        "sandboxOverride" => SandboxOverride,
        "workingDir" => WorkingDir,
        "safetyCheck" => SafetyCheck,
        "classifier" => Classifier,
        "other" => Other,
    }
}

wire_struct! {
    /// A registered hook fired. Answered with a `HookOutput`.
    pub struct HookCallback("subtype" = "hook_callback") {
        required { callback_id: String, input: HookInput }
        optional { tool_use_id: String }
    }
}

wire_struct! {
    /// A JSON-RPC message for an in-process MCP server. Answered with a `McpMessageResult`.
    pub struct McpMessage("subtype" = "mcp_message") {
        required { server_name: String, message: Json }
    }
}

wire_struct! {
    /// The JSON-RPC answer of an in-process MCP server.
    pub struct McpMessageResult {
        required { mcp_response: Json }
    }
}

wire_struct! {
    /// An MCP server asks the user something. Answered with an `ElicitationResult`.
    pub struct Elicitation("subtype" = "elicitation") {
        required { mcp_server_name: String, message: String }
        optional {
            mode: ElicitationMode,
            url: String,
            elicitation_id: String,
            requested_schema: Json,
            property_order: Vec<String>,
            title: String,
            display_name: String,
            description: String,
        }
    }
}

open_enum! {
    /// How an MCP server asks: by a form, or by a page to open.
    pub enum ElicitationMode { "form" => Form, "url" => Url }
}

wire_struct! {
    /// The user's answer to an MCP server.
    pub struct ElicitationResult {
        required { action: ElicitationAction }
        optional { content: BTreeMap<String, Json> }
    }
}

open_enum! {
    /// What the user did with an MCP server's question.
    pub enum ElicitationAction { "accept" => Accept, "decline" => Decline, "cancel" => Cancel }
}

wire_struct! {
    /// The CLI wants a dialog shown. Answered with a `UserDialogResult`.
    pub struct RequestUserDialog("subtype" = "request_user_dialog") {
        required { dialog_kind: String, payload: Json }
        optional { tool_use_id: String }
    }
}

wire_union! {
    /// How a dialog ended.
    pub enum UserDialogResult by "behavior" {
        "completed" => Completed(UserDialogCompleted),
        "cancelled" => Cancelled(UserDialogCancelled),
    }
}

wire_struct! {
    /// The user went through the dialog.
    pub struct UserDialogCompleted("behavior" = "completed") {
        required { result: Json }
    }
}

wire_struct! {
    /// The user closed the dialog, or the host cannot show it.
    pub struct UserDialogCancelled("behavior" = "cancelled") {}
}
