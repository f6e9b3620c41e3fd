//! The checker against planted faults, and the rig against the real programs.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

mod sample;
mod seeded_bugs;
mod survival;
