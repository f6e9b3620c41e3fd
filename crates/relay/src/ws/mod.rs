//! WebSocket, the server's side of it: frames as bytes, without IO.
//!
//! Own code because of what the relay needs: one encoded frame for all who receive it, limits that change when a stranger
//! becomes a member, a count of every fragment, and buffers that an idle connection does not keep. No extension is
//! offered, so nothing is compressed.

mod decode;
mod encode;

pub(crate) use decode::{Decoder, Incoming};
pub(crate) use encode::{accept_key, close, ping, pong, text};
