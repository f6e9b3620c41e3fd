//! The one shape of every error: a text for people, a code for programs, and the status that HTTP wants.

use estelle_proto::{ApiError, ErrorCode};
use hyper::StatusCode;
use serde::Serialize;

use crate::shape::SessionState;

/// Why a request was not carried out.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Failure {
    pub(crate) status: StatusCode,
    pub(crate) body: Told,
}

/// What the client reads.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Told {
    pub(crate) error: String,
    pub(crate) code: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) current_status: Option<SessionState>,
}

impl Failure {
    pub(crate) fn new(status: StatusCode, code: &str, error: impl Into<String>) -> Self {
        Self {
            status,
            body: Told {
                error: error.into(),
                code: code.to_owned(),
                current_status: None,
            },
        }
    }

    /// A request that makes no sense.
    pub(crate) fn invalid(error: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_message", error)
    }

    /// A session that has a process already.
    pub(crate) fn not_stopped(status: SessionState) -> Self {
        let mut failure = Self::new(
            StatusCode::BAD_REQUEST,
            "not_stopped",
            "Session is not stopped",
        );
        failure.body.current_status = Some(status);
        failure
    }

    /// An id that nothing can have.
    pub(crate) fn unknown_session() -> Self {
        let code = ErrorCode::UnknownConversation;
        Self::new(
            StatusCode::NOT_FOUND,
            code.as_str(),
            "there is no such session",
        )
    }

    /// An answer that does not fit what was asked, which is our own mistake.
    pub(crate) fn mismatch() -> Self {
        let code = ErrorCode::Internal;
        let text = "the desk gave another answer than the one asked for";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, code.as_str(), text)
    }
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        Self::new(status(&error.code), error.code.as_str(), error.message)
    }
}

fn status(code: &ErrorCode) -> StatusCode {
    match code {
        ErrorCode::InvalidMessage | ErrorCode::UnknownType => StatusCode::BAD_REQUEST,
        ErrorCode::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        ErrorCode::NotAuthenticated | ErrorCode::AuthFailed => StatusCode::UNAUTHORIZED,
        ErrorCode::Forbidden => StatusCode::FORBIDDEN,
        ErrorCode::RateLimited => StatusCode::TOO_MANY_REQUESTS,
        ErrorCode::Undeliverable
        | ErrorCode::UnknownWorkspace
        | ErrorCode::UnknownConversation
        | ErrorCode::UnknownDevice
        | ErrorCode::UnknownTerminal
        | ErrorCode::UnknownUpload
        | ErrorCode::UnknownToolUse
        | ErrorCode::UnknownTask
        | ErrorCode::UnknownDecision
        | ErrorCode::UnknownWorktree
        | ErrorCode::UnknownSession => StatusCode::NOT_FOUND,
        ErrorCode::AlreadyAnswered
        | ErrorCode::DecisionVoid
        | ErrorCode::DuplicateId
        | ErrorCode::BranchTaken
        | ErrorCode::Conflict
        | ErrorCode::UncommittedWork
        | ErrorCode::StaleCursor => StatusCode::CONFLICT,
        ErrorCode::BadPath
        | ErrorCode::NotConfigured
        | ErrorCode::NoRepository
        | ErrorCode::GitFailed => StatusCode::UNPROCESSABLE_ENTITY,
        ErrorCode::AgentUnavailable | ErrorCode::HostUnavailable | ErrorCode::ProtocolMismatch => {
            StatusCode::SERVICE_UNAVAILABLE
        }
        ErrorCode::BudgetExceeded => StatusCode::PAYMENT_REQUIRED,
        ErrorCode::DiskFull => StatusCode::INSUFFICIENT_STORAGE,
        ErrorCode::Internal | ErrorCode::Unknown(_) => StatusCode::INTERNAL_SERVER_ERROR,
    }
}
