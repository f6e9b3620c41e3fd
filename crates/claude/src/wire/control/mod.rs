//! The control protocol: requests and answers beside the conversation, in both directions.
//!
//! ```text
//! host -> CLI   control_request {request_id, request:{subtype, ..}}      (initialize, interrupt, set_model, ..)
//! CLI  -> host  control_request {request_id, request:{subtype, ..}}      (can_use_tool, hook_callback, mcp_message, ..)
//! answer        control_response {response:{subtype:"success"|"error", request_id, ..}}
//! withdrawal    control_cancel_request {request_id}                      (either way, no answer)
//! ```
//!
//! The asker chooses the id. This module only has the shapes; correlation is the engine's.

mod context;
mod inbound;
mod outbound;
mod results;
mod setup;
mod usage;

pub use context::{
    ApiUsage, AttachmentTokens, ContextAgentTokens, ContextCategory, ContextReport,
    DeferredToolTokens, GridSquare, McpInstructionTokens, McpToolTokens, MemoryFileTokens,
    MessageBreakdown, NamedTokens, SkillTokens, SkillsTokens, SlashCommandTokens, ToolCallTokens,
};
pub use inbound::{
    CanUseTool, DecisionReasonType, Elicitation, ElicitationAction, ElicitationMode,
    ElicitationResult, HookCallback, MatchedAskRule, McpMessage, McpMessageResult,
    McpServerProvenance, RequestUserDialog, UserDialogCancelled, UserDialogCompleted,
    UserDialogResult,
};
pub use outbound::{
    ApplyFlagSettings, BackgroundTasks, CancelAsyncMessage, ContextDetail, EndSession,
    FileEncoding, FileSuggestions, GenerateSessionTitle, GetBinaryVersion, GetContextUsage,
    GetHooksListing, GetSessionCost, GetSettings, GetTaskOutput, GetUsage, Interrupt, LaneFile,
    ListModels, ListPermissionRules, McpCall, McpReadResource, McpReconnect, McpSetServers,
    McpStatus, McpToggle, ReadFile, RegisterRepoRoot, ReloadOutputStyles, ReloadPlugins,
    ReloadSkills, RenameSession, RewindFiles, SeedReadState, SetColor, SetHasSubscribers,
    SetMaxThinkingTokens, SetModel, SetPermissionMode, SettingsSource, SideQuestion, StopTask,
    ThinkingDisplay, UpdateSettings,
};
pub use results::{
    BinaryVersion, CacheImpact, CancelAsyncMessageResult, Empty, FileSuggestionsResult,
    HookEventSummary, HookListing, HooksListing, HooksPolicy, InterruptResult, McpResourceContent,
    McpServerInfo, McpServerStatus, McpSetServersResult, McpStatusResult, McpTool,
    McpToolAnnotations, ModelList, OutputStyles, PermissionRuleDescription, PermissionRuleEntry,
    PermissionRules, PermissionRulesState, ReadFileResult, ReadResourceResult, ReloadedPlugin,
    ReloadedPlugins, ReloadedSkills, RewindFilesResult, SessionCost, SessionTitle, SetModelResult,
    SetPermissionModeResult, SettingsParseError, SettingsReport, SideQuestionResult, TaskOutput,
    WorkspaceDirectory,
};
pub use setup::{
    AgentDefinition, FeedbackMode, HookMatcher, Initialize, InitializeResult, PluginConfig,
    SdkMcpServerConfig, SdkMcpServerManifest,
};
pub use usage::{
    BehaviorShare, NamedShare, Recommendation, UsageBehaviors, UsageLimits, UsageResult,
    UsageWindow, UsageWindowBehaviors,
};

use super::diagnostic::Diagnostic;
use super::json::Json;
use super::lenient::Wire;

wire_struct! {
    /// A request to the other side.
    pub struct ControlRequest("type" = "control_request") {
        required { request_id: String, request: Request }
    }
}

wire_struct! {
    /// An answer to the other side's request.
    pub struct ControlResponse("type" = "control_response") {
        required { response: Response }
    }
}

wire_struct! {
    /// The asker no longer wants an answer.
    pub struct ControlCancelRequest("type" = "control_cancel_request") {
        required { request_id: String }
    }
}

wire_union! {
    /// The two ways to answer.
    pub enum Response by "subtype" {
        "success" => Success(Box<SuccessResponse>),
        "error" => Error(Box<ErrorResponse>),
    }
}

wire_struct! {
    /// The request was carried out.
    pub struct SuccessResponse("subtype" = "success") {
        optional {
            /// Absent only in the answer to a request that had no id.
            request_id: String,
            /// What it gave; read it with `Json::wire` as the result of the request.
            response: Json,
            pending_permission_requests: Vec<ControlRequest>,
            pending_user_dialog_requests: Vec<ControlRequest>,
            pending_elicitation_requests: Vec<ControlRequest>,
        }
    }
}

wire_struct! {
    /// The request was not carried out.
    pub struct ErrorResponse("subtype" = "error") {
        required { error: String }
        optional {
            /// Absent only in the answer to a request that had no id.
            request_id: String,
            error_code: String,
            pending_permission_requests: Vec<ControlRequest>,
            pending_user_dialog_requests: Vec<ControlRequest>,
            pending_elicitation_requests: Vec<ControlRequest>,
        }
    }
}

impl SuccessResponse {
    /// Reads what the request gave. An absent payload reads as `{}`: older CLIs answer many requests that way.
    pub fn output<T: Wire>(&self) -> Result<T, Diagnostic> {
        let empty = Json::empty_object();
        self.response
            .as_ref()
            .unwrap_or(&empty)
            .wire()
            .map(|(output, _)| output)
    }
}

impl ControlResponse {
    /// An answer that the request was carried out.
    pub fn success(request_id: impl Into<String>, response: Json) -> Self {
        Self::new(Response::Success(Box::new(SuccessResponse {
            request_id: Some(request_id.into()),
            response: Some(response),
            ..SuccessResponse::default()
        })))
    }

    /// An answer that the request was not carried out.
    pub fn error(request_id: impl Into<String>, error: impl Into<String>) -> Self {
        let mut response = ErrorResponse::new(error);
        response.request_id = Some(request_id.into());
        Self::new(Response::Error(Box::new(response)))
    }

    /// The id of the request this answers.
    pub fn request_id(&self) -> Option<&str> {
        match &self.response {
            Response::Success(success) => success.request_id.as_deref(),
            Response::Error(error) => error.request_id.as_deref(),
            Response::Unknown(_) => None,
        }
    }
}

impl Response {
    /// The permission requests the CLI still waits on, as a repeated `initialize` reports them.
    pub fn pending_permission_requests(&self) -> &[ControlRequest] {
        match self {
            Self::Success(success) => success.pending_permission_requests.as_deref(),
            Self::Error(error) => error.pending_permission_requests.as_deref(),
            Self::Unknown(_) => None,
        }
        .unwrap_or_default()
    }
}

/// A request the host sends, with the type of its result.
pub trait Call: Wire + Into<Request> {
    /// What a success carries.
    type Output: Wire;
}

macro_rules! calls {
    ($($request:ty => $output:ty),+ $(,)?) => {
        $(impl Call for $request { type Output = $output; })+
    };
}

calls! {
    Initialize => InitializeResult,
    Interrupt => InterruptResult,
    SetPermissionMode => SetPermissionModeResult,
    SetModel => SetModelResult,
    SetMaxThinkingTokens => Empty,
    RenameSession => Empty,
    SetColor => Empty,
    McpStatus => McpStatusResult,
    GetContextUsage => ContextReport,
    GetSessionCost => SessionCost,
    ListModels => ModelList,
    GetUsage => UsageResult,
    GetBinaryVersion => BinaryVersion,
    McpCall => Json,
    FileSuggestions => FileSuggestionsResult,
    McpMessage => Json,
    RewindFiles => RewindFilesResult,
    CancelAsyncMessage => CancelAsyncMessageResult,
    ReadFile => ReadFileResult,
    SeedReadState => Empty,
    McpSetServers => McpSetServersResult,
    RegisterRepoRoot => Json,
    ReloadPlugins => ReloadedPlugins,
    ReloadSkills => ReloadedSkills,
    ReloadOutputStyles => OutputStyles,
    McpReconnect => Empty,
    McpToggle => Empty,
    SetHasSubscribers => Empty,
    StopTask => Empty,
    BackgroundTasks => Empty,
    GetTaskOutput => TaskOutput,
    ApplyFlagSettings => Empty,
    GetSettings => SettingsReport,
    GetHooksListing => HooksListing,
    UpdateSettings => Empty,
    ListPermissionRules => PermissionRules,
    McpReadResource => ReadResourceResult,
    EndSession => Empty,
    SideQuestion => SideQuestionResult,
    GenerateSessionTitle => SessionTitle,
}

wire_union! {
    /// Every control request, told apart by `subtype`.
    pub enum Request by "subtype" {
        "interrupt" => Interrupt(Interrupt),
        "can_use_tool" => CanUseTool(Box<CanUseTool>),
        "initialize" => Initialize(Box<Initialize>),
        "set_permission_mode" => SetPermissionMode(SetPermissionMode),
        "set_model" => SetModel(SetModel),
        "set_max_thinking_tokens" => SetMaxThinkingTokens(SetMaxThinkingTokens),
        "rename_session" => RenameSession(RenameSession),
        "set_color" => SetColor(SetColor),
        "mcp_status" => McpStatus(McpStatus),
        "get_context_usage" => GetContextUsage(GetContextUsage),
        "get_session_cost" => GetSessionCost(GetSessionCost),
        "list_models" => ListModels(ListModels),
        "get_usage" => GetUsage(GetUsage),
        "get_binary_version" => GetBinaryVersion(GetBinaryVersion),
        "mcp_call" => McpCall(Box<McpCall>),
        "file_suggestions" => FileSuggestions(FileSuggestions),
        "hook_callback" => HookCallback(Box<HookCallback>),
        "mcp_message" => McpMessage(McpMessage),
        "rewind_files" => RewindFiles(RewindFiles),
        "cancel_async_message" => CancelAsyncMessage(CancelAsyncMessage),
        "read_file" => ReadFile(ReadFile),
        "seed_read_state" => SeedReadState(SeedReadState),
        "mcp_set_servers" => McpSetServers(McpSetServers),
        "register_repo_root" => RegisterRepoRoot(RegisterRepoRoot),
        "reload_plugins" => ReloadPlugins(ReloadPlugins),
        "reload_skills" => ReloadSkills(ReloadSkills),
        "reload_output_styles" => ReloadOutputStyles(ReloadOutputStyles),
        "mcp_reconnect" => McpReconnect(McpReconnect),
        "mcp_toggle" => McpToggle(McpToggle),
        "set_has_subscribers" => SetHasSubscribers(SetHasSubscribers),
        "stop_task" => StopTask(StopTask),
        "background_tasks" => BackgroundTasks(BackgroundTasks),
        "get_task_output" => GetTaskOutput(GetTaskOutput),
        "apply_flag_settings" => ApplyFlagSettings(ApplyFlagSettings),
        "get_settings" => GetSettings(GetSettings),
        "get_hooks_listing" => GetHooksListing(GetHooksListing),
        "update_settings" => UpdateSettings(UpdateSettings),
        "elicitation" => Elicitation(Box<Elicitation>),
        "request_user_dialog" => RequestUserDialog(RequestUserDialog),
        "list_permission_rules" => ListPermissionRules(ListPermissionRules),
        "mcp_read_resource" => McpReadResource(McpReadResource),
        "end_session" => EndSession(EndSession),
        "side_question" => SideQuestion(SideQuestion),
        "generate_session_title" => GenerateSessionTitle(GenerateSessionTitle),
    }
}

impl From<CanUseTool> for Request {
    fn from(request: CanUseTool) -> Self {
        Self::CanUseTool(Box::new(request))
    }
}

impl From<Initialize> for Request {
    fn from(request: Initialize) -> Self {
        Self::Initialize(Box::new(request))
    }
}

impl From<McpCall> for Request {
    fn from(request: McpCall) -> Self {
        Self::McpCall(Box::new(request))
    }
}

impl From<HookCallback> for Request {
    fn from(request: HookCallback) -> Self {
        Self::HookCallback(Box::new(request))
    }
}

impl From<Elicitation> for Request {
    fn from(request: Elicitation) -> Self {
        Self::Elicitation(Box::new(request))
    }
}
