//! Terminals: the host starts, lists and ends them. What is typed and shown passes by it, over the socket of each
//! terminal's keeper ([`crate::keeper`]), so that the host may go and come.

use crate::terminals::{Terminal, TerminalKind, TerminalSize};
use crate::{ConversationId, PathText, Prompt, TerminalId};

data! {
    /// A terminal and where its keeper listens.
    pub struct KeptTerminal {
        required {
            /// The terminal.
            terminal: Terminal,
            /// The socket of its keeper: an absolute path.
            socket: PathText,
        }
    }
}

request! {
    /// Starts a terminal. Asking again with the same id changes nothing.
    pub struct OpenTerminal {
        required {
            /// Its id.
            terminal_id: TerminalId,
            /// What runs in it.
            kind: TerminalKind,
            /// The folder it begins in: an absolute path.
            working_dir: PathText,
            /// How large.
            size: TerminalSize,
        }
        optional {
            /// The conversation that the agent in it holds.
            session_id: ConversationId,
            /// Which model the agent is asked for; absent or `auto` means its own choice.
            model: String,
            /// What is said to the agent first.
            prompt: Prompt,
        }
    }
}

request! {
    /// Asks for all terminals.
    pub struct ListTerminals {}
}

request! {
    /// Ends a terminal and everything that runs in it, and forgets it.
    pub struct CloseTerminal {
        required {
            /// Which.
            terminal_id: TerminalId,
        }
    }
}
