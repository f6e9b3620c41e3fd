//! Viewer ↔ keeper: JSON lines on the Unix socket of one terminal.
//!
//! ```text
//! viewer                                    keeper
//!   │ ◄───────────── hello {protocol, pid} ── │  at once
//!   │ ── attach {size?} ────────────────────► │
//!   │ ◄──────── output {frame: 1, screen} ─── │  the whole screen
//!   │ ◄────────────────── output {frame: n} ── │  what follows
//!   │ ── input | resize | ack ──────────────► │
//!   │ ◄───────────────────────────── ended ── │  its program ended; the screen stays
//!   │ ── close ─────────────────────────────► │  ends everything in the terminal
//! ```
//!
//! The keeper is a small process that holds the PTY of one terminal and outlives host and Pylon. It may be of an older build
//! than the viewer: changes within a version are additive. At most 256 outputs or 256 KiB are sent beyond what was
//! acknowledged; a viewer that is behind gets a whole screen when it has caught up.
//!
//! # Failures
//!
//! | what | answer |
//! |---|---|
//! | a line that is no message, or longer than 1 MiB | `error` with `invalid_message`; nothing changes |
//! | a size that no screen has | `error` with `invalid_message` |
//! | input while the program does not read and 64 KiB wait | `error` with `rate_limited`; none of it is typed |
//! | input after the program ended | `error` with `conflict` |

use crate::ErrorReport;
use crate::terminals::{TerminalSize, TerminalState};

data! {
    /// Who keeps the terminal.
    pub struct KeeperHello {
        required {
            /// The protocol version.
            protocol: u32,
            /// The process of the keeper.
            pid: u32,
        }
        optional {
            /// The process in the terminal.
            program_pid: u32,
        }
    }
}

data! {
    /// What the terminal shows.
    pub struct KeeperOutput {
        required {
            /// The number of this output for this viewer, from 1.
            frame: u64,
            /// The text, with control sequences. Each output ends between two sequences.
            data: String,
        }
        optional {
            /// This is the whole screen, of this size.
            screen: TerminalSize,
        }
    }
}

data! {
    /// The program ended.
    pub struct KeeperEnded {
        required {
            /// How the terminal is.
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

union! {
    /// What a keeper says.
    pub enum KeeperToViewer {
        Hello(KeeperHello) = "hello",
        Output(KeeperOutput) = "output",
        Ended(KeeperEnded) = "ended",
        Error(ErrorReport) = "error",
    }
}

data! {
    /// Begins to look.
    pub struct Attach {
        optional {
            /// The terminal gets this size.
            size: TerminalSize,
        }
    }
}

data! {
    /// Types something.
    pub struct Input {
        required {
            /// What: at most 65536 bytes.
            data: String,
        }
        optional {
            /// It was pasted.
            paste: bool,
        }
    }
}

data! {
    /// Changes the size, for everybody.
    pub struct Resize {
        required {
            /// To which.
            size: TerminalSize,
        }
    }
}

data! {
    /// Everything up to an output was shown.
    pub struct Ack {
        required {
            /// Up to which.
            frame: u64,
        }
    }
}

data! {
    /// Ends everything in the terminal.
    pub struct Close {
        optional {
            /// How long the program has to end after it was asked to, in milliseconds; absent means 2000.
            grace_ms: u64,
        }
    }
}

union! {
    /// What a viewer says to a keeper.
    pub enum ViewerToKeeper {
        Attach(Attach) = "attach",
        Input(Input) = "input",
        Resize(Resize) = "resize",
        Ack(Ack) = "ack",
        Close(Close) = "close",
    }
}
