//! The integration tests of the protocol types.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed expectation is how a test fails, in its helpers too"
)]

mod fold;
mod golden;
mod properties;
mod relay;
mod shapes;
