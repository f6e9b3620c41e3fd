//! The Claude Agent SDK for Rust: drive the Claude Code CLI from your own program.
//!
//! The CLI does the work (the loop, the tools, sub-agents, background tasks); this crate starts it, speaks its
//! JSON lines and gives you typed messages, permission callbacks, hooks, tools of your own and every control
//! request, with a way out wherever a type does not fit yet. It stands alone and needs only tokio.
//!
//! # One prompt
//!
//! ```no_run
//! use estelle_claude::options::Options;
//! use estelle_claude::{Body, query};
//! use futures_util::StreamExt;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let mut query = query("Which crates does this project use?", Options::new()).await?;
//! while let Some(message) = query.next().await {
//!     if let Body::Result(result) = message?.body {
//!         println!("{}", result.text());
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! The stream ends when all the work is over, not at the first result: background commands and sub-agents
//! finish, and the turns they start are part of it.
//!
//! # A conversation, with permissions
//!
//! ```no_run
//! use estelle_claude::Session;
//! use estelle_claude::options::Options;
//! use estelle_claude::wire::PermissionResult;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let options = Options::new().can_use_tool(|request, _context| async move {
//!     match request.tool_name.as_str() {
//!         "Read" | "Grep" => request.allow(),
//!         other => PermissionResult::deny(format!("{other} is not allowed here")),
//!     }
//! });
//! let mut session = Session::start(options).await?;
//! session.send("Tidy up the imports").await?;
//! let result = session.result().await;
//! session.send("And now the tests").await?;
//! # Ok(())
//! # }
//! ```
//!
//! # A tool of your own
//!
//! ```no_run
//! use estelle_claude::mcp::{ToolResult, create_sdk_mcp_server, tool};
//! use estelle_claude::options::Options;
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Add {
//!     a: i64,
//!     b: i64,
//! }
//!
//! # fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let add = tool("add", "Adds two numbers", async |input: Add| {
//!     Ok(ToolResult::text((input.a + input.b).to_string()))
//! });
//! let server = create_sdk_mcp_server("sums", "1.0.0", [add])?;
//! let options = Options::new().mcp_server("sums", server);
//! # let _ = options;
//! # Ok(())
//! # }
//! ```
//!
//! # A hook
//!
//! ```no_run
//! use estelle_claude::options::{HookMatcher, Options};
//! use estelle_claude::wire::{HookEvent, HookInput, HookOutput};
//!
//! let no_force = HookMatcher::for_tools("Bash").callback(|input, _tool_use_id, _context| async move {
//!     match &input {
//!         HookInput::PreToolUse(call) if call.tool_input.as_str().contains("--force") => {
//!             HookOutput::deny_tool("no --force in this project")
//!         }
//!         _ => HookOutput::default(),
//!     }
//! });
//! let options = Options::new().hook(HookEvent::PreToolUse, no_force);
//! # let _ = options;
//! ```
//!
//! To build these, a program needs `tokio` (with `macros` and `rt`), `futures-util` for the streams, and for tools of
//! its own `serde` and `schemars` 1.
//!
//! # Where things are
//!
//! | you want | look at |
//! |---|---|
//! | just the result of a prompt | [`prompt`] |
//! | a prompt run to its end, or a stream of prompts | [`query`], [`Query`], [`Prompt`] |
//! | a conversation that stays open | [`Session`] |
//! | interrupt, change model or mode, ask for usage, MCP status, ... | [`Handle`], which both dereference to |
//! | what can be decided before the start | [`options`] |
//! | the messages and their fields | [`wire`] |
//! | MCP servers, `.mcp.json`, tools in this process | [`mcp`] |
//! | the conversations the CLI has kept on disk | [`saved`] |
//! | hooks | [`HookMatcher`](options::HookMatcher), [`HookInput`](wire::HookInput), [`HookOutput`](wire::HookOutput) |
//! | another way to reach the process than child pipes | [`transport`] |
//! | raw lines and damage, without any of the above | [`framing`], [`mod@line`] |
//!
//! # What you can rely on
//!
//! - **Nothing the CLI prints stops the reader.** Unknown types, fields, blocks and words are kept and visible;
//!   bad JSON, bad UTF-8, over-long and half lines are messages too, of [`Body::Malformed`]. The raw line is
//!   always there: [`Message::raw`].
//! - **Every request of the CLI is answered**, in a task of its own. A callback may take days; an interrupt is
//!   acknowledged meanwhile. When the CLI withdraws a request the callback's future is dropped.
//! - **The permission gate fails closed.** A missing or panicking callback never lets a tool run.
//! - **An unread stream makes the CLI wait**; nothing is dropped, memory stays bounded.
//! - **No process is left behind.** Dropping the last handle ends the CLI, first kindly, then for certain.
//!
//! Everything runs on the current tokio runtime; a current-thread runtime will do.

mod engine;
pub mod framing;
pub mod line;
pub mod mcp;
pub mod options;
pub mod saved;
pub mod session;
pub mod transport;
pub mod wire;

pub use engine::{ControlError, End, SendError};
pub use session::{
    Handle, Introduced, Prompt, PromptError, Query, Session, StartError, StreamError, Turn, prompt,
    query,
};
pub use wire::{Body, Message};
