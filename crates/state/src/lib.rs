//! Pure machines: what Estelle decides, kept apart from everything that can fail.
//!
//! Nothing here has a clock, a runtime, a file or a socket; what a decision needs comes in as an argument, and what
//! comes out is a value. The shells around it (the host, the program) do the reading, the waiting and the sending.
//!
//! - [`conversation`]: what happened in a conversation, what it is at, and what is due.
//! - [`decisions`]: what a person has to answer, who answered, how far the answer got.
//! - [`escalation`]: how hard a turn or a process is pushed that does not end by itself.
//! - [`idle`]: when a process that nobody uses is stopped.
//! - [`link`]: when a lost connection is tried again, and where a subscriber goes on.
//! - [`policy`]: whether a tool call may run, must not run, or has to be put to a person.

pub mod conversation;
pub mod decisions;
pub mod escalation;
pub mod idle;
pub mod link;
pub mod policy;
