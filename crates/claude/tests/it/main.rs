//! Integration tests of the SDK.

#![expect(
    clippy::expect_used,
    reason = "a failed expectation is how a test fails, in its helpers too"
)]

mod golden;
mod inspect;
mod leniency;
mod real;
mod transcripts;
mod validity;
