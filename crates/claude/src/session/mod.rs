//! Conversations with a running CLI: the session, the one-shot query, and the handle both share.
//!
//! [`Session`] is for a caller that sends message after message; [`query`] runs a prompt, or a stream of them,
//! to the end of all the work it started. Both hand out a [`Handle`] with every control request. Starting the
//! process is done here from [`crate::options::Options`]; the bytes are the transport's business, correlation
//! the engine's.

mod ask;
mod conversation;
mod duties;
mod handle;
mod messages;
mod observe;
mod query;
mod quiet;
mod requests;
mod respond;
mod start;

pub use ask::Introduced;
pub use conversation::{Session, Turn};
pub use handle::Handle;
pub use messages::StreamError;
pub use query::{Prompt, PromptError, Query, prompt, query};
pub use start::StartError;

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
