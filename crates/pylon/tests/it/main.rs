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
mod away;
mod copies;
mod desk;
mod large;
mod links;
mod notifications;
mod peers;
mod readers;
mod removals;
mod returning;
mod rights;
mod scene;
mod standing;
mod store;
mod survival;
mod viewers;
mod waiting;
