//! App ↔ Pylon: terminals on the machine.
//!
//! ```text
//! app ── terminal_create ──► pylon         app ◄─ terminal_create_result
//! app ── terminal_list ────► pylon         app ◄─ terminal_list_result
//! app ── terminal_attach ──► pylon         app ◄─ terminal_attach_result
//!                                          app ◄─ terminal_output {frame: 1, screen}   the whole screen
//!                                          app ◄─ terminal_output {frame: 2}           what follows
//! app ── terminal_ack {frame: 2} ─► pylon  shown up to here
//! app ── terminal_input | terminal_resize ─► pylon
//!                                          app ◄─ terminal_ended
//! app ── terminal_detach ──► pylon         the terminal goes on
//! app ── terminal_close ───► pylon         app ◄─ terminal_close_result
//! ```
//!
//! A terminal is a program on a PTY: a shell, or the agent's own interface. It belongs to the machine, not to who looks at
//! it: any number look and type at once, and it goes on when nobody does. Nobody is asked about what is typed there, so
//! everything here needs the right `terminal` and no other.
//!
//! Output is text for a terminal, without the sequences that reach out of one (clipboard, title, queries). What has not
//! been acknowledged is bounded; whoever is behind is told nothing until it has caught up, and then gets a whole screen
//! (`screen`), for which it clears its own.
//!
//! # Failures
//!
//! | what | `errorCode` |
//! |---|---|
//! | no such terminal, or not attached to it | `unknown_terminal` |
//! | the terminal has ended | `conflict` |
//! | a size of nothing or of more than 500 by 300 | `invalid_message` |
//! | the conversation works, or is in another terminal | `conflict` |
//! | more terminals than a machine takes | `rate_limited` |
//! | the folder cannot be entered | `bad_path` |
//! | the agent's program is missing | `agent_unavailable` |

use crate::{ConversationId, DeviceId, PathText, Prompt, TerminalId, Timestamp, WorkspaceId};

words! {
    /// What runs in a terminal.
    pub enum TerminalKind {
        /// The user's shell.
        Shell = "shell",
        /// The agent's own interface, holding a conversation.
        Agent = "agent",
    }
}

words! {
    /// How a terminal is.
    pub enum TerminalState {
        /// Its program runs.
        Running = "running",
        /// Its program ended; `exitCode` or `signal` says how.
        Ended = "ended",
        /// Its keeper was killed, so how its program ended is not known.
        Lost = "lost",
    }
}

data! {
    /// How large a screen is: 2 to 500 columns, 2 to 300 rows.
    pub struct TerminalSize {
        required {
            /// Columns.
            cols: u16,
            /// Rows.
            rows: u16,
        }
    }
}

impl TerminalSize {
    /// Whether a screen of this size can be kept.
    pub fn is_usable(&self) -> bool {
        (2..=crate::limits::MAX_TERMINAL_COLS).contains(&self.cols)
            && (2..=crate::limits::MAX_TERMINAL_ROWS).contains(&self.rows)
    }
}

data! {
    /// A terminal.
    pub struct Terminal {
        required {
            /// Which.
            terminal_id: TerminalId,
            /// What runs in it.
            kind: TerminalKind,
            /// The folder it began in.
            working_dir: PathText,
            /// How it is.
            state: TerminalState,
            /// When it began.
            created_at: Timestamp,
        }
        optional {
            /// The conversation that it holds; nobody else writes to it while the terminal runs.
            conversation_id: ConversationId,
            /// What its program returned.
            exit_code: i32,
            /// The signal that ended its program.
            signal: i32,
        }
    }
}

request! {
    /// Asks for the terminals of the machine.
    pub struct TerminalList {}
}

reply! {
    /// The terminals of a machine, oldest first.
    pub struct TerminalListResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// The terminals.
            terminals: Vec<Terminal>,
        }
    }
}

request! {
    /// Starts a terminal: in the folder of a conversation, of a workspace, or in a folder under the configured roots.
    pub struct TerminalCreate {
        required {
            /// What runs in it.
            kind: TerminalKind,
            /// How large.
            size: TerminalSize,
        }
        optional {
            /// Of which conversation; needed for `agent`, which takes it from the chat until the terminal ends.
            conversation_id: ConversationId,
            /// In which workspace.
            workspace_id: WorkspaceId,
            /// In which folder, if not that of the conversation or the workspace.
            path: PathText,
            /// What to say to the agent first.
            prompt: Prompt,
            /// Which model it uses, if not that of the conversation; `auto` leaves it to the agent.
            model: String,
            /// Asking again with the same id changes nothing.
            terminal_id: TerminalId,
        }
    }
}

reply! {
    /// Whether a terminal was started.
    pub struct TerminalCreateResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
        }
        optional {
            /// The terminal.
            terminal: Terminal,
        }
    }
}

request! {
    /// Begins to look at a terminal.
    pub struct TerminalAttach {
        required {
            /// Which.
            terminal_id: TerminalId,
        }
        optional {
            /// The terminal gets this size, for everybody.
            size: TerminalSize,
        }
    }
}

reply! {
    /// Whether one looks at a terminal now. Its screen follows.
    pub struct TerminalAttachResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// Which terminal.
            terminal_id: TerminalId,
        }
        optional {
            /// How it is.
            terminal: Terminal,
        }
    }
}

data! {
    /// What a terminal shows.
    pub struct TerminalOutput {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// Which terminal.
            terminal_id: TerminalId,
            /// The number of this output, for `terminal_ack`.
            frame: u64,
            /// The text, with control sequences.
            data: String,
        }
        optional {
            /// This is the whole screen, of this size: what was shown before is void.
            screen: TerminalSize,
        }
    }
}

data! {
    /// The program of a terminal ended. Whoever looks at it sees the last screen until it detaches.
    pub struct TerminalEnded {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// Which terminal.
            terminal_id: TerminalId,
            /// How it is.
            state: TerminalState,
        }
        optional {
            /// What the program returned.
            exit_code: i32,
            /// The signal that ended it.
            signal: i32,
        }
    }
}

request! {
    /// Types something. Needs an attached terminal.
    pub struct TerminalInput {
        required {
            /// Into which terminal.
            terminal_id: TerminalId,
            /// What, as a terminal sends it: at most 65536 bytes.
            data: String,
        }
        optional {
            /// It was pasted: it cannot end the paste itself, and holds no control characters but line breaks and tabs.
            paste: bool,
        }
    }
}

request! {
    /// Changes the size of a terminal, for everybody. Needs an attached terminal.
    pub struct TerminalResize {
        required {
            /// Of which terminal.
            terminal_id: TerminalId,
            /// To which size.
            size: TerminalSize,
        }
    }
}

request! {
    /// Everything up to an output was shown.
    pub struct TerminalAck {
        required {
            /// Of which terminal.
            terminal_id: TerminalId,
            /// Up to which output.
            frame: u64,
        }
    }
}

request! {
    /// Looks away from a terminal, which goes on.
    pub struct TerminalDetach {
        required {
            /// From which terminal.
            terminal_id: TerminalId,
        }
    }
}

request! {
    /// Ends a terminal and everything that runs in it.
    pub struct TerminalClose {
        required {
            /// Which.
            terminal_id: TerminalId,
        }
    }
}

reply! {
    /// Whether a terminal is gone.
    pub struct TerminalCloseResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// Which terminal.
            terminal_id: TerminalId,
        }
    }
}
