//! The settings that make the CLI ask before every tool.
//!
//! Measured on 2.1.197 and 2.1.325: without rules the CLI runs `cat`, Read, sub-agents, schedules and more unasked, and
//! the rule `*` makes it ask for every tool it has, those of MCP servers included, in every mode and whatever
//! the user's own settings allow. A tool it does not have is refused before anybody is asked.
//!
//! Two things could still let a call pass: a `PermissionRequest` hook answers in our place while a person
//! thinks, and a sandbox may allow commands by itself. Both are switched off here.

use estelle_claude::wire;
use estelle_proto::PermissionMode;
use serde_json::{Value, json};

/// The ask rules of every run.
pub const ASK_RULES: [&str; 1] = ["*"];

/// What the CLI itself is told about permissions. The other modes exist in the policy alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CliMode {
    /// It asks.
    Default,
    /// It asks, and holds back edits.
    Plan,
}

impl CliMode {
    /// All that a process of the CLI is ever in.
    pub const ALL: [Self; 2] = [Self::Default, Self::Plan];

    /// The mode of the CLI for a mode of the conversation.
    pub fn of(mode: &PermissionMode) -> Self {
        match mode {
            PermissionMode::Plan => Self::Plan,
            PermissionMode::Default
            | PermissionMode::AcceptEdits
            | PermissionMode::BypassPermissions
            | PermissionMode::Unknown(_) => Self::Default,
        }
    }

    /// The word the CLI uses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Plan => "plan",
        }
    }

    pub(super) fn wire(self) -> wire::PermissionMode {
        match self {
            Self::Default => wire::PermissionMode::Default,
            Self::Plan => wire::PermissionMode::Plan,
        }
    }
}

/// Whether hooks run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hooks {
    /// Those of the user and of a trusted folder run.
    Run,
    /// None runs, because there is none. A settings file that appears in mid-session then starts none either: the CLI
    /// reads such a file at once.
    None,
    /// None runs, because one of them would, or could, answer permission requests in our place.
    SwitchedOff,
}

impl Hooks {
    /// What to do, by the events for which hooks were found in the user's settings and in what a trusted folder brings.
    pub fn decide<'a>(events: impl IntoIterator<Item = &'a str>) -> Self {
        let mut decided = Self::None;
        for event in events {
            if [PERMISSION_REQUEST, OF_A_PLUGIN].contains(&event) {
                return Self::SwitchedOff;
            }
            decided = Self::Run;
        }
        decided
    }
}

/// The hook event that may answer in our place.
const PERMISSION_REQUEST: &str = "PermissionRequest";

/// Stands for the hooks of a plugin. Nobody looks into those, so one that answers in our place cannot be excluded.
pub(crate) const OF_A_PLUGIN: &str = "plugin";

/// The `--settings` of a run.
pub(crate) fn settings(hooks: Hooks) -> Value {
    let mut settings = json!({
        "permissions": { "ask": ASK_RULES },
        "sandbox": { "autoAllowBashIfSandboxed": false },
    });
    if hooks != Hooks::Run {
        settings["disableAllHooks"] = true.into();
    }
    settings
}
