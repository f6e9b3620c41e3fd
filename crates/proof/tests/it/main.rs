//! The checker against planted faults, the rig against the real programs, and the page of dangers against the tests.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

mod dangers;
mod load;
mod sample;
mod seeded_bugs;
mod survival;
