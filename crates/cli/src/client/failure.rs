//! Why a command that talks to machines failed, and the exit code that says so to scripts.
//!
//! Everything else that fails is an ordinary error with the exit code 1. The codes are told by `estelle help`.

use estelle_proto::{ApiError, ErrorCode};

/// The turn that was waited for failed, or was broken off.
pub(crate) const TURN_FAILED: u8 = 3;
/// A person has to decide something.
pub(crate) const ASKED: u8 = 4;
/// Somebody left with Ctrl-C.
pub(crate) const LEFT: u8 = 130;

/// What the exit codes mean.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0    all went well
  1    it failed
  2    the command line is wrong
  3    the turn that was waited for failed, or was broken off
  4    a person has to decide something first
  5    nothing has this name, or several things have
  6    the relay or the machine cannot be reached
  7    the device may not do this
  130  left with Ctrl-C; what runs goes on";

/// A failure that has an exit code of its own.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// There is no such thing.
    #[error("{said}")]
    Missing {
        /// What is missing, and what to do.
        said: String,
    },
    /// Several things answer to the name.
    #[error("{said}")]
    Ambiguous {
        /// Which, and how to say which is meant.
        said: String,
    },
    /// Nobody is there.
    #[error("{said}")]
    Away {
        /// Who, and what to do.
        said: String,
    },
    /// Somebody was there and said no.
    #[error("{0}")]
    Refused(#[from] ApiError),
}

impl Failure {
    pub(super) fn missing(said: impl Into<String>) -> Self {
        Self::Missing { said: said.into() }
    }

    pub(crate) fn away(said: impl Into<String>) -> Self {
        Self::Away { said: said.into() }
    }

    fn exit_code(&self) -> u8 {
        match self {
            Self::Missing { .. } | Self::Ambiguous { .. } => 5,
            Self::Away { .. } => 6,
            Self::Refused(error) => of_code(&error.code),
        }
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "only these codes have an exit code of their own"
)]
fn of_code(code: &ErrorCode) -> u8 {
    match code {
        ErrorCode::UnknownWorkspace
        | ErrorCode::UnknownConversation
        | ErrorCode::UnknownDevice
        | ErrorCode::UnknownTerminal
        | ErrorCode::UnknownToolUse
        | ErrorCode::UnknownUpload
        | ErrorCode::UnknownTask
        | ErrorCode::UnknownDecision
        | ErrorCode::UnknownWorktree
        | ErrorCode::UnknownSession => 5,
        ErrorCode::Undeliverable | ErrorCode::HostUnavailable => 6,
        ErrorCode::NotAuthenticated | ErrorCode::AuthFailed | ErrorCode::Forbidden => 7,
        _ => 1,
    }
}

/// The exit code of an error, whatever was wrapped around it.
pub(crate) fn exit_code(error: &anyhow::Error) -> u8 {
    error
        .downcast_ref::<Failure>()
        .map_or(1, Failure::exit_code)
}

#[cfg(test)]
mod tests {
    use anyhow::Context as _;
    use estelle_proto::Retry;

    use super::*;

    #[test]
    fn a_script_can_tell_what_failed() {
        let refused = |code| {
            let refused = Failure::Refused(ApiError::new(code, "no".to_owned(), Retry::Never));
            let wrapped = Err::<(), _>(refused).context("failed to say it");
            exit_code(&wrapped.unwrap_err())
        };
        assert_eq!(refused(ErrorCode::Forbidden), 7);
        assert_eq!(refused(ErrorCode::UnknownConversation), 5);
        assert_eq!(refused(ErrorCode::Conflict), 1);
        assert_eq!(exit_code(&Failure::away("nobody").into()), 6);
        assert_eq!(exit_code(&anyhow::anyhow!("something else")), 1);
    }
}
