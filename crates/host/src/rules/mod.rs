//! The user's permission rules: where they are kept and which are in force where.
//!
//! `rules.json` in the data folder, owner only, written whole before a change counts. What a rule means is in
//! `estelle_state::policy`; asking people and judging calls is elsewhere. A file that cannot be read never allows
//! anything: the deny rules in it are unknown, so everything is asked about until it is mended ([`InForce`]).

mod book;

#[cfg(test)]
mod rules_tests;

pub use book::{Damaged, InForce, RuleBook, SetRuleError};
