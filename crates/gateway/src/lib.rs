//! The gateway: sessions over HTTP and WebSocket, for scripts, browsers and other programs on the machine.
//!
//! ```text
//!   client ── HTTP, ws ──► server ─► guard ─► routes ─► operations ─► the Pylon's desk, the host
//! ```
//!
//! It runs in the process of the Pylon, listens on the loopback alone, and keeps nothing of its own: every request goes
//! through the desk like that of an app, so what is answered is in the store or in the host's log. A *session* here is a
//! conversation. What the interface looks like is in `openapi.json`; docs/design/gateway.md has the reasons.

mod body;
mod config;
mod connection;
mod failure;
mod guard;
mod lens;
mod lobby;
mod missed;
mod operations;
mod page;
mod query;
mod respond;
mod routes;
mod server;
mod shape;
mod socket;

pub use config::{Devices, GatewayConfig, GatewayParts, Key, Patience, Settings};
pub use server::{Gateway, OpenError};
