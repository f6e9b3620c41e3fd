//! The simulated Claude Code CLI: speaks stream-json on standard input and output like the real one.
//!
//! A pure machine in the middle (`machine`) takes lines, signals and time, and gives back lines and deeds; `shell` is the
//! thin layer that does them. What the CLI does in sequence is written as flows (`flow`) over one set of facts (`state`).
//! Everything it prints follows the recorded traffic of the versions 2.1.197 and 2.1.325; the prompt is the script.
//!
//! The environment steers it: `ESTELLE_SIM_VERSION` (`2.1.197`, `2.1.325`), `ESTELLE_SIM_SEED` (ids), `ESTELLE_SIM_TRUTH`
//! (the [`truth`] file), `ESTELLE_SIM_MARKERS` (a folder with a file for every tool that ran), `ESTELLE_SIM_GATES`,
//! `ESTELLE_SIM_TIME_SCALE` (factor for waits), `ESTELLE_SIM_PLAIN=1` (plain answers instead of the demo agent).
//!
//! It runs no command, opens no connection and knows no type of the SDK: an oracle that shared them would share its mistakes.

mod agent;
mod api_errors;
mod args;
mod assistant;
mod bash;
mod clock;
mod consent;
mod control;
mod cursor;
mod demo;
mod disk;
mod files;
mod flow;
mod hands;
mod hooks;
mod ids;
mod input;
mod inquiry;
mod json;
mod lines;
mod machine;
mod mcp;
mod mischief;
mod model;
mod permission;
mod plan;
mod play;
mod question;
mod queue;
mod requests;
mod result;
mod schema;
mod shell;
mod slash;
mod state;
mod store;
mod tasks;
mod tools;
pub mod truth;
mod turn;
mod usage;
mod version;

pub use shell::run;
