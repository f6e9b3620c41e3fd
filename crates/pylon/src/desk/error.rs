//! What clients are told when something fails: the one mapping from the pylon's own errors to the wire's.
//!
//! The text is for people and names what they asked for; causes that only help us are in the log.

use estelle_proto::{ApiError, ErrorCode, Retry, limits};

use crate::files::LookError;
use crate::git::GitError;
use crate::store::{
    ConversationError, DetailError, PageError, SearchError, StoreError, WorkspaceError,
};

/// An error that can be told to a client.
pub(super) trait Told {
    /// How it is told.
    fn told(&self) -> ApiError;
}

/// A request whose words or ids make no sense; nothing changed.
pub(super) fn refusal(code: ErrorCode, message: impl Into<String>) -> ApiError {
    ApiError::new(code, message.into(), Retry::Never)
}

/// A field holds a word that is none of the known ones.
pub(super) fn unknown_word(field: &str, word: &str) -> ApiError {
    let text = format!("`{field}` cannot be `{}`", limits::cut(word, 64));
    refusal(ErrorCode::InvalidMessage, text)
}

/// A text that is longer than its field takes.
pub(super) fn bounded(field: &str, length: usize, limit: usize) -> Result<(), ApiError> {
    if length <= limit {
        return Ok(());
    }
    let text = format!("`{field}` has {length} bytes, at most {limit}");
    Err(refusal(ErrorCode::InvalidMessage, text))
}

/// The name of a model, if one is given.
pub(super) fn bounded_model(model: Option<&str>) -> Result<(), ApiError> {
    let length = model.map_or(0, str::len);
    bounded("model", length, limits::MAX_MODEL_BYTES)
}

impl Told for StoreError {
    fn told(&self) -> ApiError {
        tracing::error!(error = %self, source = ?std::error::Error::source(self), "the store failed");
        let (code, retry) = match self {
            Self::Full { .. } => (ErrorCode::DiskFull, Retry::Later),
            Self::Closed => (ErrorCode::Internal, Retry::Later),
            Self::Damaged { .. } | Self::Io { .. } | Self::Refused { .. } => {
                (ErrorCode::Internal, Retry::Never)
            }
        };
        ApiError::new(code, self.to_string(), retry)
    }
}

impl Told for WorkspaceError {
    fn told(&self) -> ApiError {
        match self {
            Self::UnknownWorkspace { .. } => refusal(ErrorCode::UnknownWorkspace, self.to_string()),
            Self::Store(error) => error.told(),
        }
    }
}

impl Told for ConversationError {
    fn told(&self) -> ApiError {
        match self {
            Self::UnknownWorkspace { .. } => refusal(ErrorCode::UnknownWorkspace, self.to_string()),
            Self::UnknownConversation { .. } => {
                refusal(ErrorCode::UnknownConversation, self.to_string())
            }
            Self::Store(error) => error.told(),
        }
    }
}

impl Told for PageError {
    fn told(&self) -> ApiError {
        match self {
            Self::UnknownConversation { .. } => {
                refusal(ErrorCode::UnknownConversation, self.to_string())
            }
            Self::StaleCursor { .. } => {
                ApiError::new(ErrorCode::StaleCursor, self.to_string(), Retry::Now)
            }
            Self::Store(error) => error.told(),
        }
    }
}

impl Told for SearchError {
    fn told(&self) -> ApiError {
        match self {
            Self::UnknownWorkspace { .. } => refusal(ErrorCode::UnknownWorkspace, self.to_string()),
            Self::UnknownConversation { .. } => {
                refusal(ErrorCode::UnknownConversation, self.to_string())
            }
            Self::BadCursor => refusal(ErrorCode::InvalidMessage, self.to_string()),
            Self::Store(error) => error.told(),
        }
    }
}

impl Told for DetailError {
    fn told(&self) -> ApiError {
        match self {
            Self::UnknownConversation { .. } => {
                refusal(ErrorCode::UnknownConversation, self.to_string())
            }
            Self::UnknownToolUse { .. } => refusal(ErrorCode::UnknownToolUse, self.to_string()),
            Self::Store(error) => error.told(),
        }
    }
}

impl Told for crate::link::host::RequestError {
    fn told(&self) -> ApiError {
        ApiError::from(self)
    }
}

impl Told for LookError {
    fn told(&self) -> ApiError {
        let code = match self {
            Self::Absolute | Self::Missing | Self::Outside | Self::WrongKind { .. } => {
                ErrorCode::BadPath
            }
            Self::Secret | Self::GitsOwn | Self::Forbidden => ErrorCode::Forbidden,
            Self::Io { .. } => ErrorCode::Internal,
        };
        refusal(code, self.to_string())
    }
}

impl Told for GitError {
    fn told(&self) -> ApiError {
        let (code, retry) = match self {
            Self::NoRepository => (ErrorCode::NoRepository, Retry::Never),
            Self::TooLong(_) => (ErrorCode::GitFailed, Retry::Later),
            Self::Missing
            | Self::Elsewhere
            | Self::Overloaded
            | Self::Refused { .. }
            | Self::Io(_) => (ErrorCode::GitFailed, Retry::Never),
        };
        ApiError::new(code, self.to_string(), retry)
    }
}
