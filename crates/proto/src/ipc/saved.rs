//! Pylon → host: sessions that the agent has saved for a folder.

use crate::{ClaudeSessionId, PathText};

request! {
    /// Asks for the sessions that were saved for a folder, newest first.
    pub struct ListSaved {
        required {
            /// The folder in which the agent worked: an absolute path.
            working_dir: PathText,
        }
        optional {
            /// The most sessions; at most 100.
            limit: u32,
            /// Sessions to leave out at the beginning.
            offset: u32,
        }
    }
}

request! {
    /// Asks what was said in a saved session.
    pub struct ReadSaved {
        required {
            /// The folder in which the agent worked.
            working_dir: PathText,
            /// Which session.
            claude_session_id: ClaudeSessionId,
        }
        optional {
            /// Messages to leave out at the beginning.
            offset: u32,
        }
    }
}

request! {
    /// Copies a saved session; the result names the copy, and says what the session is called.
    pub struct CopySaved {
        required {
            /// The folder in which the agent worked.
            working_dir: PathText,
            /// Which session.
            claude_session_id: ClaudeSessionId,
        }
    }
}
