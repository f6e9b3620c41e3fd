//! The Claude Agent SDK for Rust.
