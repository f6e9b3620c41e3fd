//! System lines that tell the user something: notices, hooks, refusals, losses.
//!
//! None of them changes the course of a turn by itself.

wire_struct! {
    /// The model refused and another one took over, or the session went back to the first.
    pub struct ModelRefusalFallback("type" = "system", "subtype" = "model_refusal_fallback") {
        required { original_model: String, fallback_model: String }
        optional {
            trigger: String,
            direction: String,
            scope: String,
            request_id: String,
            api_refusal_category: String,
            api_refusal_explanation: String,
            retracted_message_uuids: Vec<String>,
            refused_user_message_uuid: String,
            content: String,
            uuid: String,
            session_id: String,
        }
    }
}

wire_struct! {
    /// The model refused and there was none to fall back to.
    pub struct ModelRefusalNoFallback("type" = "system", "subtype" = "model_refusal_no_fallback") {
        required { original_model: String }
        optional {
            request_id: String,
            api_refusal_category: String,
            api_refusal_explanation: String,
            refused_user_message_uuid: String,
            content: String,
            uuid: String,
            session_id: String,
        }
    }
}

wire_struct! {
    /// What a slash command printed.
    pub struct LocalCommandOutput("type" = "system", "subtype" = "local_command_output") {
        required { content: String }
        optional { uuid: String, session_id: String }
    }
}

wire_struct! {
    /// A hook command began.
    pub struct HookStarted("type" = "system", "subtype" = "hook_started") {
        required { hook_id: String }
        optional { hook_name: String, hook_event: String, uuid: String, session_id: String }
    }
}

wire_struct! {
    /// A hook command printed something.
    pub struct HookProgress("type" = "system", "subtype" = "hook_progress") {
        required { hook_id: String }
        optional {
            hook_name: String,
            hook_event: String,
            stdout: String,
            stderr: String,
            output: String,
            uuid: String,
            session_id: String,
        }
    }
}

wire_struct! {
    /// A hook command ended.
    pub struct HookResponse("type" = "system", "subtype" = "hook_response") {
        required { hook_id: String }
        optional {
            hook_name: String,
            hook_event: String,
            output: String,
            stdout: String,
            stderr: String,
            exit_code: i64,
            outcome: HookOutcome,
            uuid: String,
            session_id: String,
        }
    }
}

open_enum! {
    /// How a hook command ended.
    pub enum HookOutcome { "success" => Success, "error" => Error, "cancelled" => Cancelled }
}

wire_struct! {
    /// Progress of installing plugins.
    pub struct PluginInstall("type" = "system", "subtype" = "plugin_install") {
        required { status: PluginInstallStatus }
        optional { name: String, error: String, uuid: String, session_id: String }
    }
}

open_enum! {
    /// How far the installation of a plugin is.
    pub enum PluginInstallStatus {
        "started" => Started,
        "installed" => Installed,
        "failed" => Failed,
        "completed" => Completed,
    }
}

wire_struct! {
    /// The worker that runs the session goes away.
    pub struct WorkerShuttingDown("type" = "system", "subtype" = "worker_shutting_down") {
        required { reason: String }
        optional { uuid: String, session_id: String }
    }
}

wire_struct! {
    /// A short notice for the user.
    pub struct Notification("type" = "system", "subtype" = "notification") {
        required { text: String }
        optional {
            key: String,
            priority: NotificationPriority,
            color: String,
            timeout_ms: f64,
            uuid: String,
            session_id: String,
        }
    }
}

open_enum! {
    /// How urgent a notice is.
    pub enum NotificationPriority {
        "low" => Low,
        "medium" => Medium,
        "high" => High,
        "immediate" => Immediate,
    }
}

wire_struct! {
    /// Files of the session were uploaded.
    pub struct FilesPersisted("type" = "system", "subtype" = "files_persisted") {
        required { files: Vec<PersistedFile> }
        optional {
            failed: Vec<FailedFile>,
            processed_at: String,
            uuid: String,
            session_id: String,
        }
    }
}

wire_struct! {
    /// A file that was uploaded.
    pub struct PersistedFile {
        required { filename: String, file_id: String }
    }
}

wire_struct! {
    /// A file that could not be uploaded.
    pub struct FailedFile {
        required { filename: String, error: String }
    }
}

wire_struct! {
    /// Memories were put into the context.
    pub struct MemoryRecall("type" = "system", "subtype" = "memory_recall") {
        required { memories: Vec<RecalledMemory> }
        optional { mode: String, uuid: String, session_id: String }
    }
}

wire_struct! {
    /// A memory that was put into the context.
    pub struct RecalledMemory {
        required { path: String }
        optional { scope: String, content: String }
    }
}

wire_struct! {
    /// A question of an MCP server was settled elsewhere.
    pub struct ElicitationComplete("type" = "system", "subtype" = "elicitation_complete") {
        required { mcp_server_name: String, elicitation_id: String }
        optional { uuid: String, session_id: String }
    }
}

wire_struct! {
    /// A tool call was denied without asking.
    pub struct PermissionDenied("type" = "system", "subtype" = "permission_denied") {
        required { tool_name: String, tool_use_id: String }
        optional {
            agent_id: String,
            decision_reason_type: String,
            decision_reason: String,
            message: String,
            uuid: String,
            session_id: String,
        }
    }
}

wire_struct! {
    /// A copy of the session could not be written.
    pub struct MirrorError("type" = "system", "subtype" = "mirror_error") {
        required { error: String }
        optional { key: SessionKey, uuid: String, session_id: String }
    }
}

wire_struct! {
    /// Which stored session is meant.
    pub struct SessionKey {
        required { "projectKey" => project_key: String, "sessionId" => session_id: String }
        optional { subpath: String }
    }
}

wire_struct! {
    /// A remark for the user.
    pub struct Informational("type" = "system", "subtype" = "informational") {
        required { content: String }
        optional {
            level: InformationalLevel,
            tool_use_id: String,
            prevent_continuation: bool,
            tag: String,
            uuid: String,
            session_id: String,
        }
    }
}

open_enum! {
    /// How much a remark matters.
    pub enum InformationalLevel {
        "info" => Info,
        "notice" => Notice,
        "suggestion" => Suggestion,
        "warning" => Warning,
    }
}

wire_struct! {
    /// The CLI could not write what it should have kept: the disk is full.
    pub struct SessionWritesLost("type" = "system", "subtype" = "session_writes_lost") {
        required { error_code: String }
        optional {
            lost: Vec<String>,
            transcript_session_ids: Vec<String>,
            uuid: String,
            session_id: String,
        }
    }
}
