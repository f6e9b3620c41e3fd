//! The vendor's JSON lines as Rust types.
//!
//! [`Message::parse`] turns any line into a typed [`Message`] and never fails. Reading is lenient: unknown types, blocks,
//! fields and words are kept and visible as `Unknown` or in [`Extra`]; a malformed optional field becomes `None` with a
//! [`Diagnostic`]. Writing is faithful: a value written back says the same as the line it came from. What the messages
//! *do* (correlation, turns, permissions) is not decided here.

#[macro_use]
mod macros;

pub mod account;
pub mod assistant;
pub mod content;
pub mod control;
mod cursor;
mod diagnostic;
pub mod event;
mod extra;
pub mod hooks;
mod json;
mod lenient;
mod message;
pub mod permission;
pub mod question;
pub mod result;
pub mod stream;
pub mod system;
pub mod usage;
pub mod user;

pub use account::{AccountInfo, AgentInfo, ModelInfo, SlashCommand};
pub use assistant::{ApiMessage, AssistantError, AssistantMessage, Role, StopReason};
pub use content::{Content, ContentBlock};
pub use control::{Call, ControlCancelRequest, ControlRequest, ControlResponse, Request, Response};
pub use cursor::Cursor;
pub use diagnostic::{Diagnostic, Diagnostics, Reason};
pub use extra::{Extra, Unknown};
pub use hooks::{HookEvent, HookInput, HookOutput};
pub use json::Json;
pub use lenient::Wire;
pub use message::{Body, Kind, Malformed, Message};
pub use permission::{PermissionMode, PermissionResult, PermissionRuleValue, PermissionUpdate};
pub use question::{Answer, AskUserQuestion, Question, QuestionOption};
pub use result::ResultMessage;
pub use stream::{Delta, StreamEvent, StreamEventMessage};
pub use system::SystemMessage;
pub use usage::{ModelUsage, Usage};
pub use user::{Priority, UserContent, UserMessage};

pub(crate) use extra::{Field, slot};
pub(crate) use lenient::{Out, member, optional, required};
