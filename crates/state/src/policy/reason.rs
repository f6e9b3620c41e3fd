//! Why the policy decided as it did: a type to match on, and a sentence for people.
//!
//! Each reason names the list or the rule that decided. The first words of a refusal are fixed (`Protected file`,
//! `Dangerous command`), because the agent and other clients show them.

use std::fmt;

use estelle_proto::{PolicyReason, ReasonCode, ReasonSource};
use serde::Serialize;

use super::{Mode, rules::Scope};

/// What decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "code", rename_all = "camelCase")]
pub enum Reason {
    /// The tool is a question to the user by nature.
    AlwaysAsks {
        /// Its name.
        tool: String,
    },
    /// The call reaches into Estelle's own data, or into the input of the running CLI.
    DataFolder {
        /// The path as found.
        path: String,
    },
    /// The call reads a message of the user that was too long for the CLI's input and was put into a file.
    UserMessage {
        /// The path of the file.
        path: String,
    },
    /// A file of the deny patterns.
    ProtectedFile {
        /// The path as found.
        path: String,
        /// The pattern that describes it.
        pattern: String,
    },
    /// A command of the deny patterns.
    DangerousCommand {
        /// The command as understood.
        command: String,
        /// The pattern or the effect that describes it.
        pattern: String,
    },
    /// A rule of the user.
    UserRule {
        /// As written.
        rule: String,
        /// Where it stands.
        scope: Scope,
    },
    /// It cannot be told what the call would do.
    Unclear {
        /// What is not known.
        doubt: Doubt,
    },
    /// The conversation may only read, and the call is not known to change nothing.
    ReadOnly {
        /// The tool's name.
        tool: String,
    },
    /// The call wants to leave the sandbox.
    SandboxDisabled,
    /// The permission mode lets it pass.
    Mode {
        /// The mode.
        mode: Mode,
    },
    /// The tool is on the list of harmless ones.
    AutoAllowed {
        /// Its name.
        tool: String,
    },
    /// The user allowed this tool for the conversation.
    Remembered {
        /// Its name.
        tool: String,
    },
    /// Nothing decided, so a person does.
    NoRule {
        /// The tool's name.
        tool: String,
        /// What the file really is that a link stands for.
        #[serde(skip_serializing_if = "Option::is_none")]
        target: Option<String>,
    },
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AlwaysAsks { tool } => {
                write!(formatter, "{tool} always reaches the user, in every mode")
            }
            Self::DataFolder { path } => write!(
                formatter,
                "Protected folder: `{}` belongs to Estelle itself; no tool may touch it in any mode",
                visible(path)
            ),
            Self::UserMessage { path } => write!(
                formatter,
                "`{}` is a message of the user to this process, which may read it there",
                visible(path)
            ),
            Self::ProtectedFile { path, pattern } => write!(
                formatter,
                "Protected file: `{}` matches the deny pattern `{pattern}`",
                visible(path)
            ),
            Self::DangerousCommand { command, pattern } => write!(
                formatter,
                "Dangerous command: `{}` matches the deny pattern `{pattern}`",
                visible(command)
            ),
            Self::UserRule { rule, scope } => {
                let scope = match scope {
                    Scope::Global => "global",
                    Scope::Workspace => "workspace",
                };
                write!(formatter, "the {scope} rule `{rule}` decides")
            }
            Self::Unclear { doubt } => write!(formatter, "not clear what it would do: {doubt}"),
            Self::ReadOnly { tool } => write!(
                formatter,
                "Read only: this conversation plans and changes nothing, and this call of {tool} is not known to only \
                 read; write what is to be done into a task"
            ),
            Self::SandboxDisabled => {
                write!(formatter, "the command asks to run outside the sandbox")
            }
            Self::Mode { mode } => write!(formatter, "permission mode {mode} allows it"),
            Self::AutoAllowed { tool } => write!(
                formatter,
                "{tool} is on the list of tools that are always allowed"
            ),
            Self::Remembered { tool } => {
                write!(formatter, "{tool} was allowed for this conversation")
            }
            Self::NoRule { tool, target } => {
                write!(formatter, "no mode, list or rule decides about {tool}")?;
                match target {
                    Some(target) => {
                        write!(formatter, "; the file really is `{}`", visible(target))
                    }
                    None => Ok(()),
                }
            }
        }
    }
}

/// The same for programs, which tell it in the language of whoever reads. Texts of the call are made visible as in the
/// sentence.
impl From<&Reason> for PolicyReason {
    fn from(reason: &Reason) -> Self {
        use ReasonCode as Code;
        use ReasonSource as Source;
        let told = |code, source, rule: Option<&String>, subject: Option<&String>| Self {
            rule: rule.cloned(),
            subject: subject.map(|text| visible(text)),
            ..Self::new(code, source)
        };
        match reason {
            Reason::AlwaysAsks { tool } => told(Code::AlwaysAsks, Source::List, None, Some(tool)),
            Reason::DataFolder { path } => told(Code::DataFolder, Source::List, None, Some(path)),
            Reason::UserMessage { path } => told(Code::UserMessage, Source::List, None, Some(path)),
            Reason::ProtectedFile { path, pattern } => {
                told(Code::ProtectedFile, Source::List, Some(pattern), Some(path))
            }
            Reason::DangerousCommand { command, pattern } => {
                let subject = Some(command);
                told(Code::DangerousCommand, Source::List, Some(pattern), subject)
            }
            Reason::UserRule { rule, scope } => {
                let scope = match scope {
                    Scope::Global => "global",
                    Scope::Workspace => "workspace",
                };
                Self {
                    scope: Some(scope.to_owned()),
                    ..told(Code::UserRule, Source::Rule, Some(rule), None)
                }
            }
            Reason::Unclear { doubt } => {
                let (kind, subject) = doubt.parts();
                Self {
                    doubt: Some(kind.to_owned()),
                    ..told(Code::Unclear, Source::Doubt, None, subject)
                }
            }
            Reason::ReadOnly { tool } => told(Code::ReadOnly, Source::Mode, None, Some(tool)),
            Reason::SandboxDisabled => told(Code::SandboxDisabled, Source::List, None, None),
            Reason::Mode { mode } => told(Code::Mode, Source::Mode, None, Some(&mode.to_string())),
            Reason::AutoAllowed { tool } => told(Code::AutoAllowed, Source::List, None, Some(tool)),
            Reason::Remembered { tool } => told(Code::Remembered, Source::Person, None, Some(tool)),
            Reason::NoRule { tool, target } => {
                let subject = Some(target.as_ref().unwrap_or(tool));
                told(Code::NoRule, Source::Nothing, None, subject)
            }
        }
    }
}

/// What is not known about a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", content = "detail", rename_all = "camelCase")]
pub enum Doubt {
    /// The shell grammar does not take the command.
    Unparsable(String),
    /// Too long or too deeply nested to be judged in time.
    TooComplex,
    /// Invisible or control characters: what a person sees is not what runs.
    HiddenCharacters,
    /// The input lacks what the tool needs.
    MalformedInput,
    /// The input is no text that can be read: half a character, or nested without end.
    UnreadableInput,
    /// What runs is computed: `$CMD`, `$(…)`, braces in command position.
    ComputedCommand(String),
    /// Code that is data to us: piped into a shell, `eval` of a variable, `python -c`.
    ForeignCode(String),
    /// An option or variable makes a harmless program run another one.
    Indirection(String),
    /// Deletes or overwrites something that is only known at run time.
    UnknownTarget(String),
    /// May name a protected file.
    PossibleSecret(String),
    /// Opens the machine, or sends something away.
    Exposure(String),
    /// May reach Estelle's own data from a folder above, or in words that are not understood.
    OwnData(String),
}

impl Doubt {
    /// The name of the doubt, and what it is about.
    fn parts(&self) -> (&'static str, Option<&String>) {
        match self {
            Self::Unparsable(why) => ("unparsable", Some(why)),
            Self::TooComplex => ("tooComplex", None),
            Self::HiddenCharacters => ("hiddenCharacters", None),
            Self::MalformedInput => ("malformedInput", None),
            Self::UnreadableInput => ("unreadableInput", None),
            Self::ComputedCommand(what) => ("computedCommand", Some(what)),
            Self::ForeignCode(what) => ("foreignCode", Some(what)),
            Self::Indirection(what) => ("indirection", Some(what)),
            Self::UnknownTarget(what) => ("unknownTarget", Some(what)),
            Self::PossibleSecret(what) => ("possibleSecret", Some(what)),
            Self::Exposure(what) => ("exposure", Some(what)),
            Self::OwnData(what) => ("ownData", Some(what)),
        }
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unparsable(why) => write!(
                formatter,
                "the shell parser does not understand it ({})",
                visible(why)
            ),
            Self::TooComplex => write!(
                formatter,
                "it is too long or too deeply nested to be judged"
            ),
            Self::HiddenCharacters => write!(formatter, "it has invisible or control characters"),
            Self::MalformedInput => {
                write!(formatter, "its input lacks a field that the tool needs")
            }
            Self::UnreadableInput => write!(
                formatter,
                "its input has broken characters or is nested too deeply, so that nobody can tell what it touches"
            ),
            Self::ComputedCommand(what) => {
                write!(formatter, "`{}` computes which command runs", visible(what))
            }
            Self::ForeignCode(what) => write!(
                formatter,
                "`{}` runs code that cannot be judged here",
                visible(what)
            ),
            Self::Indirection(what) => write!(
                formatter,
                "`{}` can make another program run",
                visible(what)
            ),
            Self::UnknownTarget(what) => write!(
                formatter,
                "`{}` has a target known only when it runs",
                visible(what)
            ),
            Self::PossibleSecret(what) => {
                write!(formatter, "`{}` may name a protected file", visible(what))
            }
            Self::Exposure(what) => write!(
                formatter,
                "`{}` opens this machine or sends data away",
                visible(what)
            ),
            Self::OwnData(what) => write!(
                formatter,
                "`{}` may reach the folder in which Estelle keeps its own data",
                visible(what)
            ),
        }
    }
}

/// How much of a command or path a reason repeats.
const SHOWN: usize = 200;

/// The text with everything invisible made visible, unknown parts as `…`, and no longer than needed.
fn visible(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN).map(show).collect();
    if text.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

fn show(symbol: char) -> char {
    match symbol {
        super::glob::ANY | super::glob::STAR => '*',
        symbol if symbol.is_control() || super::paths::is_hidden(symbol) => '\u{FFFD}',
        other => other,
    }
}
