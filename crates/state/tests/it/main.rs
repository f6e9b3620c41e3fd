//! The policy as a whole (tables of calls, the rules of users, laws that hold for every call) and conversations.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a failed expectation is how a test fails, in its helpers too"
)]

mod attacks;
mod conversations;
mod laws;
mod limits;
mod policy;
mod reading;
mod rules;
