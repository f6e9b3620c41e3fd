//! Terminals: shells and the agent's own interface on PTYs that outlive the host.
//!
//! ```text
//!   viewer (Pylon, CLI) ──socket──► keeper ──PTY──► shell | agent
//!   host ──starts, lists, ends──────┘  │
//!                                      └ model of the screen
//! ```
//!
//! A keeper per terminal ([`keeper`]) holds the PTY. What the program prints goes through a filter (`filter`), into a model
//! of the screen (`screen`) and to those who look (`audience`), within a window for each (`viewers`). The host keeps the shelf
//! (`Shelf`): it starts and ends terminals and knows which conversation is lent to one. Nothing that is typed or shown
//! passes through the host. `docs/design/terminals.md` has the crash windows.

mod audience;
mod connection;
mod filter;
mod folder;
pub mod keeper;
mod launch;
mod screen;
mod shelf;
mod typing;
mod viewers;

pub use folder::{ProgramRecord, TerminalFolder, TerminalRecord};
pub(crate) use launch::{agent, shell};
pub(crate) use shelf::{Hold, Shelf, held};
