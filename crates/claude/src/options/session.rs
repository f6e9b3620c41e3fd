//! Which conversation the process takes up, and what is kept of it.
//!
//! Owns resume, fork and persistence options. Ids are texts here because the CLI's are; `validate` checks the
//! ones that must be UUIDs.

use super::Options;

/// The conversation part of [`Options`].
#[derive(Debug, Clone, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one switch of the CLI; `validate` knows which exclude each other"
)]
pub(crate) struct SessionOptions {
    pub(crate) continue_: bool,
    pub(crate) resume: Option<String>,
    pub(crate) fork: bool,
    pub(crate) resume_at: Option<String>,
    pub(crate) resume_drops_turn: Option<String>,
    pub(crate) session_id: Option<String>,
    pub(crate) no_persistence: bool,
    pub(crate) file_checkpointing: bool,
    pub(crate) title: Option<String>,
}

impl Options {
    /// Takes up the newest conversation of the working directory.
    pub fn continue_(mut self, continue_: bool) -> Self {
        self.session.continue_ = continue_;
        self
    }

    /// Takes up the conversation with this id.
    pub fn resume(mut self, session_id: impl Into<String>) -> Self {
        self.session.resume = Some(session_id.into());
        self
    }

    /// Gives the resumed conversation a new id and leaves the old one as it is.
    pub fn fork_session(mut self, fork: bool) -> Self {
        self.session.fork = fork;
        self
    }

    /// Resumes only up to and including the message with this UUID. Needs [`Options::resume`].
    pub fn resume_session_at(mut self, message_uuid: impl Into<String>) -> Self {
        self.session.resume_at = Some(message_uuid.into());
        self
    }

    /// UUID of the prompt whose turn [`Options::resume_session_at`] means to drop; the CLI refuses the resume
    /// when anything else would be lost. Needs a CLI that knows the option, see [`super::GATES`].
    pub fn resume_drops_turn(mut self, prompt_uuid: impl Into<String>) -> Self {
        self.session.resume_drops_turn = Some(prompt_uuid.into());
        self
    }

    /// Id of the new conversation, a UUID. With a resume only together with [`Options::fork_session`].
    pub fn session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session.session_id = Some(session_id.into());
        self
    }

    /// Whether the conversation is kept on disk. Default: it is; otherwise it can never be resumed.
    pub fn persist_session(mut self, persist: bool) -> Self {
        self.session.no_persistence = !persist;
        self
    }

    /// Keeps copies of files before they are changed, so that they can be rewound to an earlier message.
    pub fn enable_file_checkpointing(mut self, enable: bool) -> Self {
        self.session.file_checkpointing = enable;
        self
    }

    /// Title of a new conversation; a resumed one keeps its own.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.session.title = Some(title.into());
        self
    }
}
