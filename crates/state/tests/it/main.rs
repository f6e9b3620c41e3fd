//! The policy as a whole: tables of calls, the rules of users, and laws that hold for every call.

mod laws;
mod limits;
mod policy;
mod rules;
