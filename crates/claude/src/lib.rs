//! The Claude Agent SDK for Rust.

pub mod framing;
pub mod line;
pub mod mcp;
pub mod options;
pub mod wire;
