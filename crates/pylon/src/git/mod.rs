//! Git, asked so that nothing of the repository is executed.
//!
//! A repository can name programs that git would run for the most harmless look: monitors, filters, helpers, external
//! diffs, hooks. `command` switches all of them off, bounds time and output, and lets git see neither our environment nor
//! the user's configuration; `repository` says which repository a folder is in; `status` and `diff` ask what is not
//! committed, `branches` where commits are; `merging` changes files, and `touched` takes back what died in it. What is left to git is to read its own files.

mod branches;
mod command;
mod defuse;
mod diff;
mod merging;
mod repository;
mod status;
mod touched;

pub use command::{Git, GitError};
pub use diff::{Diff, is_plain};
pub(crate) use merging::Outcome;
pub use repository::Repository;
pub use status::Status;

#[cfg(test)]
pub(crate) mod git_tests;
