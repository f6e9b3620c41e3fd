//! Proves what the project promises, with histories instead of words.
//!
//! A [`history`] is everything that was recorded of a run: what each client sent and got, the host's logs, what the
//! simulated CLI says it really did, and the marks its tools left on the disk. The [`checker`] is a pure function from a
//! history to the promises it breaks. It counts for nothing unless it finds the faults that [`bugs`] plants. The [`rig`]
//! makes histories: it runs the real host and kills what it can; [`chaos`] does so by the roll of dice.
//!
//! This crate is for tests alone; nothing of the product depends on it.

pub mod bugs;
pub mod chaos;
pub mod checker;
pub mod history;
pub mod load;
pub mod rig;
pub mod survival;
