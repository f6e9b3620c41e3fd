//! The command line: every flag the real CLI takes, read the way it reads them.
//!
//! A flag takes no value, one, an optional one, or a list; `--flag=value` works for all. Flags that change nothing a host
//! can see are accepted and forgotten. Reading the environment and the disk is done elsewhere.

use super::json::Json;
use super::version::Version;

/// How many values a flag takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arity {
    None,
    One,
    Optional,
    Many,
}

const NO_VALUE: &[&str] = &[
    "allow-dangerously-skip-permissions",
    "await-initialize",
    "ax-screen-reader",
    "bare",
    "bg",
    "brief",
    "chrome",
    "continue",
    "dangerously-skip-permissions",
    "disable-slash-commands",
    "exclude-dynamic-system-prompt-sections",
    "fork-session",
    "forward-subagent-text",
    "help",
    "ide",
    "include-hook-events",
    "include-partial-messages",
    "no-chrome",
    "no-session-persistence",
    "print",
    "replay-user-messages",
    "safe-mode",
    "strict-mcp-config",
    "verbose",
    "version",
];
const ONE_VALUE: &[&str] = &[
    "agent",
    "agents",
    "append-system-prompt",
    "autocompact",
    "debug-file",
    "effort",
    "fallback-model",
    "input-format",
    "json-schema",
    "managed-settings",
    "max-budget-usd",
    "max-thinking-tokens",
    "max-turns",
    "model",
    "name",
    "output-format",
    "permission-mode",
    "permission-prompt-tool",
    "permission-prompts",
    "plugin-dir",
    "plugin-url",
    "project-config-root",
    "resume-drops-turn",
    "resume-session-at",
    "session-id",
    "setting-sources",
    "settings",
    "system-prompt",
    "system-prompt-file",
    "system-prompt-snapshot",
    "task-budget",
    "thinking",
    "thinking-display",
];
const OPTIONAL_VALUE: &[&str] = &[
    "debug",
    "from-pr",
    "prompt-suggestions",
    "resume",
    "worktree",
];
const MANY_VALUES: &[&str] = &[
    "add-dir",
    "allowedTools",
    "allowed-tools",
    "betas",
    "disallowedTools",
    "disallowed-tools",
    "file",
    "mcp-config",
    "tools",
];
/// What 2.1.197 does not know.
const NEW_IN_325: &[&str] = &[
    "autocompact",
    "await-initialize",
    "forward-subagent-text",
    "permission-prompts",
    "project-config-root",
    "resume-drops-turn",
    "system-prompt-snapshot",
];

/// Why the command line was refused; the text goes to standard error and the exit code is 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ArgsError {
    /// A flag nobody knows.
    #[error("error: unknown option '{0}'")]
    Unknown(String),
    /// A flag without the value it needs.
    #[error("error: option '--{0} <value>' argument missing")]
    Missing(String),
    /// A session id that is no uuid.
    #[error("Error: Invalid session ID. Must be a valid UUID.")]
    SessionId,
}

/// Which conversation to open.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SessionArgs {
    /// `--session-id`.
    pub(crate) id: Option<String>,
    /// `--resume`.
    pub(crate) resume: Option<String>,
    /// `--resume-session-at`.
    pub(crate) resume_at: Option<String>,
    /// `--continue`.
    pub(crate) continue_latest: bool,
    /// `--fork-session`.
    pub(crate) fork: bool,
    /// `--no-session-persistence`.
    pub(crate) forget: bool,
}

/// What may run without being asked.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct PermissionArgs {
    /// `--permission-prompt-tool`.
    pub(crate) prompt_tool: Option<String>,
    /// `--permission-mode`.
    pub(crate) mode: Option<String>,
    /// Whether bypassing may be switched on later.
    pub(crate) may_bypass: bool,
    /// `--allowedTools`.
    pub(crate) allowed: Vec<String>,
    /// `--disallowedTools`.
    pub(crate) disallowed: Vec<String>,
    /// `permissions` of `--settings`.
    pub(crate) settings: Json,
}

/// A call that only wants to know something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PrintOnly {
    /// `--version`.
    Version,
    /// `--help`.
    Help,
}

/// The command line that counts.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Args {
    /// Print something and leave.
    pub(crate) print_only: Option<PrintOnly>,
    /// `--forward-subagent-text`.
    pub(crate) agent_text: bool,
    /// `--include-partial-messages`.
    pub(crate) partial: bool,
    /// `--replay-user-messages`.
    pub(crate) replay: bool,
    /// Which conversation.
    pub(crate) session: SessionArgs,
    /// What may run.
    pub(crate) permissions: PermissionArgs,
    /// `--model`.
    pub(crate) model: Option<String>,
    /// `--tools`; an empty list is no tool at all.
    pub(crate) tools: Option<Vec<String>>,
    /// `--add-dir`.
    pub(crate) add_dirs: Vec<String>,
    /// `mcpServers` of every `--mcp-config`.
    pub(crate) mcp: Vec<(String, Json)>,
    /// `--max-turns`.
    pub(crate) max_turns: Option<u64>,
    /// `--max-budget-usd`.
    pub(crate) max_budget: Option<f64>,
    /// Words that are no flag: the prompt of a one-shot call.
    pub(crate) words: Vec<String>,
}

impl Args {
    /// Reads a command line without the program's name.
    pub(crate) fn read(version: Version, command_line: &[String]) -> Result<Self, ArgsError> {
        let mut args = Self::default();
        let mut rest = command_line.iter().peekable();
        while let Some(word) = rest.next() {
            let Some((name, inline)) = split_flag(word) else {
                args.words.push(word.clone());
                continue;
            };
            let arity = arity(version, &name).ok_or_else(|| ArgsError::Unknown(word.clone()))?;
            let mut values: Vec<String> = inline.into_iter().collect();
            let wanted = match arity {
                Arity::None => 0,
                Arity::One | Arity::Optional => 1,
                Arity::Many => usize::MAX,
            };
            // Only a required value may look like a flag; the real parser stops a list at the next one.
            let had_inline = !values.is_empty();
            while !had_inline && values.len() < wanted {
                match rest.peek() {
                    Some(next) if arity == Arity::One || !next.starts_with('-') => {
                        values.push((*next).clone());
                        rest.next();
                    }
                    Some(_) | None => break,
                }
            }
            if arity == Arity::One && values.is_empty() {
                return Err(ArgsError::Missing(name));
            }
            args.take(&name, values);
        }
        match &args.session.id {
            Some(id) if uuid::Uuid::parse_str(id).is_err() => Err(ArgsError::SessionId),
            Some(_) | None => Ok(args),
        }
    }

    fn take(&mut self, name: &str, values: Vec<String>) {
        let one = values.first().cloned();
        match name {
            "version" => self.print_only = Some(PrintOnly::Version),
            "help" => self.print_only = Some(PrintOnly::Help),
            "forward-subagent-text" => self.agent_text = true,
            "include-partial-messages" => self.partial = true,
            "replay-user-messages" => self.replay = true,
            "session-id" => self.session.id = one,
            "resume" => self.session.resume = one,
            "resume-session-at" => self.session.resume_at = one,
            "continue" => self.session.continue_latest = true,
            "fork-session" => self.session.fork = true,
            "no-session-persistence" => self.session.forget = true,
            "model" => self.model = one,
            "tools" => self.tools = Some(list(&values)),
            "add-dir" => self.add_dirs.extend(values),
            "max-turns" => self.max_turns = one.and_then(|text| text.parse().ok()),
            "max-budget-usd" => self.max_budget = one.and_then(|text| text.parse().ok()),
            "mcp-config" => values.iter().for_each(|value| self.take_mcp(value)),
            _ => self.permissions.take(name, one, &values),
        }
    }

    fn take_mcp(&mut self, value: &str) {
        let config = read_inline_or_file(value);
        if let Some(servers) = config.get("mcpServers") {
            self.mcp.extend(servers.fields().iter().cloned());
        }
    }
}

impl PermissionArgs {
    fn take(&mut self, name: &str, one: Option<String>, values: &[String]) {
        match name {
            "permission-prompt-tool" => self.prompt_tool = one,
            "permission-mode" => self.mode = one,
            "allow-dangerously-skip-permissions" => self.may_bypass = true,
            "dangerously-skip-permissions" => {
                self.may_bypass = true;
                self.mode = Some("bypassPermissions".to_owned());
            }
            "allowedTools" | "allowed-tools" => self.allowed.extend(list(values)),
            "disallowedTools" | "disallowed-tools" => self.disallowed.extend(list(values)),
            "settings" => {
                let settings = read_inline_or_file(one.as_deref().unwrap_or_default());
                self.settings = settings.get("permissions").cloned().unwrap_or_default();
            }
            _ => {}
        }
    }
}

/// The name of a flag and its inline value; nothing for a word that is no flag.
fn split_flag(word: &str) -> Option<(String, Option<String>)> {
    let short = match word {
        "-p" => Some("print"),
        "-c" => Some("continue"),
        "-d" => Some("debug"),
        "-r" => Some("resume"),
        "-v" => Some("version"),
        "-h" => Some("help"),
        "-n" => Some("name"),
        "-w" => Some("worktree"),
        _ => None,
    };
    if let Some(name) = short {
        return Some((name.to_owned(), None));
    }
    if !word.starts_with('-') || word == "-" {
        return None;
    }
    let flag = word.strip_prefix("--").unwrap_or(word);
    Some(match flag.split_once('=') {
        Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
        None => (flag.to_owned(), None),
    })
}

fn arity(version: Version, name: &str) -> Option<Arity> {
    if version == Version::V197 && NEW_IN_325.contains(&name) {
        return None;
    }
    let tables = [
        (NO_VALUE, Arity::None),
        (ONE_VALUE, Arity::One),
        (OPTIONAL_VALUE, Arity::Optional),
        (MANY_VALUES, Arity::Many),
    ];
    tables
        .into_iter()
        .find(|(names, _)| names.contains(&name))
        .map(|(_, arity)| arity)
}

/// Splits a list at commas and spaces outside of brackets, as in `Read,Bash(git log:*)`.
fn list(values: &[String]) -> Vec<String> {
    let mut items = Vec::new();
    for value in values {
        let mut depth = 0_u32;
        let mut item = String::new();
        for letter in value.chars() {
            match letter {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                ',' | ' ' if depth == 0 => {
                    items.push(std::mem::take(&mut item));
                    continue;
                }
                _ => {}
            }
            item.push(letter);
        }
        items.push(item);
    }
    items.retain(|item| !item.is_empty());
    items
}

fn read_inline_or_file(value: &str) -> Json {
    if value.trim_start().starts_with('{') {
        return Json::parse(value).unwrap_or_default();
    }
    std::fs::read_to_string(value)
        .ok()
        .and_then(|text| Json::parse(&text).ok())
        .unwrap_or_default()
}

#[cfg(test)]
#[path = "args_tests.rs"]
mod tests;
