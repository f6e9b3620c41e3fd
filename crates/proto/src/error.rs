//! The one error of the wire: a code for programs, a text for people, and whether trying again can help.
//!
//! Results carry it in `error`, `errorCode` and `retry`; where there is no result to carry it, it is a message of
//! its own (`error`). Mapping internal failures to codes is the business of each server.

words! {
    /// What went wrong, for programs. Each code has one meaning everywhere.
    pub enum ErrorCode {
        /// The message is not JSON, or a field is missing, has the wrong type or breaks its limit.
        InvalidMessage = "invalid_message",
        /// The message has a `type` that the receiver does not know.
        UnknownType = "unknown_type",
        /// The frame or line is longer than allowed.
        TooLarge = "too_large",
        /// The sender spoke before a successful `auth`.
        NotAuthenticated = "not_authenticated",
        /// `auth` was refused: unknown device, wrong or revoked token, wrong type.
        AuthFailed = "auth_failed",
        /// The device lacks the right that the message needs.
        Forbidden = "forbidden",
        /// The sender is too fast or has too much waiting.
        RateLimited = "rate_limited",
        /// No device of that id is connected in the realm.
        Undeliverable = "undeliverable",
        /// There is no such workspace.
        UnknownWorkspace = "unknown_workspace",
        /// There is no such conversation.
        UnknownConversation = "unknown_conversation",
        /// There is no such device.
        UnknownDevice = "unknown_device",
        /// There is no such terminal, or the asker does not look at it.
        UnknownTerminal = "unknown_terminal",
        /// There is no such call of a tool.
        UnknownToolUse = "unknown_tool_use",
        /// There is no such task.
        UnknownTask = "unknown_task",
        /// There never was such a decision.
        UnknownDecision = "unknown_decision",
        /// Somebody else answered first; the text says who and when.
        AlreadyAnswered = "already_answered",
        /// The call that asked is gone, so that the answer would reach nobody.
        DecisionVoid = "decision_void",
        /// An id that must be new is taken.
        DuplicateId = "duplicate_id",
        /// The state of the conversation does not allow this now.
        Conflict = "conflict",
        /// The machine was not set up for this; the text names the keys of its configuration.
        NotConfigured = "not_configured",
        /// The folder or file does not exist, is not what is needed, or lies outside what is allowed.
        BadPath = "bad_path",
        /// The folder is in no git repository.
        NoRepository = "no_repository",
        /// Changes are in no commit and would be lost or mixed.
        UncommittedWork = "uncommitted_work",
        /// The conversation has no worktree.
        UnknownWorktree = "unknown_worktree",
        /// A branch of that name is there already, or one in its way.
        BranchTaken = "branch_taken",
        /// The agent has saved no such session for this folder.
        UnknownSession = "unknown_session",
        /// Git is missing, refuses or takes too long; the text says which.
        GitFailed = "git_failed",
        /// The agent's program is missing, cannot be run or is too old.
        AgentUnavailable = "agent_unavailable",
        /// The host cannot be reached; the Pylon goes on trying.
        HostUnavailable = "host_unavailable",
        /// The two ends have no protocol version in common.
        ProtocolMismatch = "protocol_mismatch",
        /// The cursor is of another epoch or its hash does not fit: start afresh.
        StaleCursor = "stale_cursor",
        /// Nothing was sent under this id, or there is no such attached file.
        UnknownUpload = "unknown_upload",
        /// The disk is full or the reserve could not be kept.
        DiskFull = "disk_full",
        /// A budget is used up; the text says which and what to do.
        BudgetExceeded = "budget_exceeded",
        /// Failed for a reason that is the server's own; its log says more.
        Internal = "internal",
    }
}

words! {
    /// Whether trying again can help.
    pub enum Retry {
        /// The same request will fail again.
        Never = "never",
        /// The same request may work at once, for example after reconnecting.
        Now = "now",
        /// The same request may work after a while.
        Later = "later",
    }
}

data! {
    /// A failure, for programs and people.
    pub struct ApiError {
        required {
            /// What went wrong.
            code: ErrorCode,
            /// The same in words, with what to do about it.
            message: String,
            /// Whether trying again can help.
            retry: Retry,
        }
    }
}

impl std::fmt::Display for ApiError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}

impl std::error::Error for ApiError {}

data! {
    /// `error`: a message that could not be handled and has no result of its own. Sent to its sender alone.
    pub struct ErrorReport {
        required {
            /// What went wrong, for a person to read.
            error: String,
        }
        optional {
            /// What went wrong, for a program.
            error_code: ErrorCode,
            /// Whether trying again can help.
            retry: Retry,
            /// The `type` of the message.
            about: String,
            /// Its `requestId`, if it had one.
            request_id: crate::RequestId,
        }
    }
}

impl From<ApiError> for ErrorReport {
    fn from(error: ApiError) -> Self {
        Self {
            error_code: Some(error.code),
            retry: Some(error.retry),
            ..Self::new(error.message)
        }
    }
}

/// What every result has in common.
pub trait Reply: Sized {
    /// Whether the request was carried out, and why not.
    fn outcome(&self) -> Result<(), ApiError>;

    /// The same result as a failure.
    #[must_use]
    fn failed(self, error: ApiError) -> Self;

    /// The same result, naming the request it answers.
    #[must_use]
    fn in_reply_to(self, request: Option<&crate::RequestId>) -> Self;
}

/// The error in the fields of a failed result. An older sender may give a text alone, or not even that.
pub(crate) fn from_fields(
    message: Option<String>,
    code: Option<ErrorCode>,
    retry: Option<Retry>,
) -> ApiError {
    ApiError {
        code: code.unwrap_or(ErrorCode::Internal),
        message: message.unwrap_or_else(|| "failed without a reason".to_owned()),
        retry: retry.unwrap_or(Retry::Never),
    }
}

/// `success` of a result that older peers send without it: the result is there, so it worked.
pub(crate) fn present() -> bool {
    true
}
