//! Stand-ins for tests and demos: a scripted Claude Code CLI and a scripted Messages API.

pub mod api;
pub mod cli;
pub mod script;
