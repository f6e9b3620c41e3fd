//! Messages of the model: the finished `assistant` lines and the API message inside them.
//!
//! The CLI prints one `assistant` line per content block. Its `stop_reason` is null and its usage is not final: those
//! are on the `result` line.

use super::content::ContentBlock;
use super::json::Json;
use super::usage::{ContextUsage, Usage, UsageReport};

wire_struct! {
    /// A finished block of the model's answer.
    pub struct AssistantMessage("type" = "assistant") {
        required { message: ApiMessage }
        optional {
            /// The call that started the subagent which says this; none for the main conversation.
            parent_tool_use_id: String,
            error: AssistantError,
            uuid: String,
            session_id: String,
            request_id: String,
            user_message_uuid: String,
            user_message_uuids: Vec<String>,
            resume_reason: String,
            resumed_from_incomplete_thinking: bool,
            supersedes: Vec<String>,
            aborted: bool,
            agent_id: String,
            subagent_type: String,
            task_description: String,
            timestamp: String,
            context_usage: Box<ContextUsage>,
            usage_report: Box<UsageReport>,
            tool_use_meta: Vec<ToolUseMeta>,
        }
    }
}

wire_struct! {
    /// How to show a tool call.
    pub struct ToolUseMeta {
        required { id: String }
        optional { display_name: String, server_display_name: String }
    }
}

wire_struct! {
    /// A message as the Messages API returns it.
    pub struct ApiMessage {
        required { role: Role, content: Vec<ContentBlock> }
        optional {
            id: String,
            "type" => kind: String,
            /// `<synthetic>` when the CLI made the message up.
            model: String,
            stop_reason: StopReason,
            stop_sequence: String,
            stop_details: Json,
            usage: Box<Usage>,
            context_management: Json,
            container: Json,
        }
    }
}

impl AssistantMessage {
    /// The text blocks joined.
    pub fn text(&self) -> String {
        self.message
            .content
            .iter()
            .filter_map(ContentBlock::as_text)
            .collect()
    }
}

open_enum! {
    /// Who speaks.
    pub enum Role { "user" => User, "assistant" => Assistant, "system" => System }
}

open_enum! {
    /// Why the model stopped.
    pub enum StopReason {
        "end_turn" => EndTurn,
        "max_tokens" => MaxTokens,
        "stop_sequence" => StopSequence,
        "tool_use" => ToolUse,
        "pause_turn" => PauseTurn,
        "refusal" => Refusal,
        "compaction" => Compaction,
        "model_context_window_exceeded" => ModelContextWindowExceeded,
        "tool_deferred" => ToolDeferred,
    }
}

open_enum! {
    /// Why a turn could not be answered.
    pub enum AssistantError {
        "authentication_failed" => AuthenticationFailed,
        "oauth_org_not_allowed" => OauthOrgNotAllowed,
        "account_on_hold" => AccountOnHold,
        "verification_required" => VerificationRequired,
        "billing_error" => BillingError,
        "rate_limit" => RateLimit,
        "overloaded" => Overloaded,
        "invalid_request" => InvalidRequest,
        "model_not_found" => ModelNotFound,
        "server_error" => ServerError,
        "unknown" => NotKnown,
        "max_output_tokens" => MaxOutputTokens,
        "cloud_credential_error" => CloudCredentialError,
    }
}
