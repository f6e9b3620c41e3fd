//! The Claude Agent SDK for Rust.

mod engine;
pub mod framing;
pub mod line;
pub mod mcp;
pub mod options;
pub mod session;
pub mod transport;
pub mod wire;

pub use engine::{ControlError, End, SendError};
pub use session::{
    Handle, Introduced, Prompt, Query, Session, StartError, StreamError, Turn, query,
};
pub use wire::{Body, Message};
