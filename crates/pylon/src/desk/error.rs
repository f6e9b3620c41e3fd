//! What clients are told when something fails: the one mapping from the pylon's own errors to the wire's.
//!
//! The text is for people and names what they asked for; causes that only help us are in the log.

use std::io::ErrorKind;

use estelle_proto::{ApiError, AppToPylon, ErrorCode, Message as _, Retry, Right, limits};

use crate::files::LookError;
use crate::git::GitError;
use crate::store::{
    ConversationError, DetailError, ExportError, PageError, SearchError, StoreError, WorkspaceError,
};
use crate::worktrees::WorktreeError;

/// An error that can be told to a client.
pub(super) trait Told {
    /// How it is told.
    fn told(&self) -> ApiError;
}

/// A request whose words or ids make no sense; nothing changed.
pub(super) fn refusal(code: ErrorCode, message: impl Into<String>) -> ApiError {
    ApiError::new(code, message.into(), Retry::Never)
}

/// Whether these rights are enough for a request, with all that it wishes.
pub(super) fn permitted(rights: &[Right], request: &AppToPylon) -> Result<(), ApiError> {
    let (kind, right) = (request.kind(), request.right());
    if rights.contains(&right) {
        return Ok(());
    }
    let text = if AppToPylon::right_of(kind) == right {
        format!("`{kind}` needs the right `{right}`")
    } else {
        format!("`{kind}` with these settings needs the right `{right}`")
    };
    Err(refusal(ErrorCode::Forbidden, text))
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

impl Told for ExportError {
    fn told(&self) -> ApiError {
        match self {
            Self::UnknownConversation { .. } => {
                refusal(ErrorCode::UnknownConversation, self.to_string())
            }
            Self::BadCursor => refusal(ErrorCode::InvalidMessage, self.to_string()),
            Self::BeganAnew => ApiError::new(ErrorCode::StaleCursor, self.to_string(), Retry::Now),
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
            Self::UnknownToolUse { .. } | Self::UnknownImage { .. } => {
                refusal(ErrorCode::UnknownToolUse, self.to_string())
            }
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
            Self::Full { .. } => (ErrorCode::DiskFull, Retry::Later),
            Self::TooLong(_) | Self::Unwritten { .. } => (ErrorCode::GitFailed, Retry::Later),
            Self::Missing
            | Self::Elsewhere
            | Self::Overloaded
            | Self::Refused { .. }
            | Self::Half { .. }
            | Self::Io(_) => (ErrorCode::GitFailed, Retry::Never),
        };
        ApiError::new(code, self.to_string(), retry)
    }
}

impl Told for WorktreeError {
    fn told(&self) -> ApiError {
        let (code, retry) = match self {
            Self::Unknown { .. } => (ErrorCode::UnknownWorktree, Retry::Never),
            Self::BadName { .. } => (ErrorCode::InvalidMessage, Retry::Never),
            Self::Taken { .. } => (ErrorCode::BranchTaken, Retry::Never),
            Self::Uncommitted { .. } | Self::Submodules { .. } => {
                (ErrorCode::UncommittedWork, Retry::Never)
            }
            Self::NoBase { .. } | Self::Conflicts { .. } => (ErrorCode::Conflict, Retry::Never),
            Self::NotReady { .. } | Self::Busy { .. } => (ErrorCode::Conflict, Retry::Later),
            Self::Io(error)
                if matches!(
                    error.kind(),
                    ErrorKind::StorageFull | ErrorKind::QuotaExceeded
                ) =>
            {
                (ErrorCode::DiskFull, Retry::Later)
            }
            Self::Io(_) => (ErrorCode::Internal, Retry::Never),
            Self::Git(error) => return error.told(),
            Self::Store(error) => return error.told(),
        };
        ApiError::new(code, self.to_string(), retry)
    }
}
