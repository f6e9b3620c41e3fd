//! The pylon from outside: its links and its desk, with stand-ins for host and relay on real sockets, and its store in
//! real folders.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::wildcard_enum_match_arm,
    clippy::cast_possible_truncation,
    reason = "a test that cannot go on fails, and looks at what it is about"
)]

mod answers;
mod copies;
mod desk;
mod links;
mod peers;
mod readers;
mod returning;
mod store;
mod survival;
mod waiting;
