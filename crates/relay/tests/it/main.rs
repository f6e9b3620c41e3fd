//! The integration tests of the relay: real sockets on the loopback, and clients that misbehave.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed expectation is how a test fails, in its helpers too"
)]

mod abuse;
mod attacks_http;
mod attacks_routing;
mod auth;
mod devices;
mod http;
mod kit;
mod pairing;
mod realms;
mod routing;
mod secrecy;
mod validity;
