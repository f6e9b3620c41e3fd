//! The rules of users: what they look like and what they match.
//!
//! The notation is that of the CLI. A rule names a tool, or a tool and a pattern in parentheses:
//!
//! | rule | matches |
//! |---|---|
//! | `Bash` | every command |
//! | `Bash(npm test)` | exactly this command |
//! | `Bash(git push:*)` | `git push` alone or with anything behind it |
//! | `Bash(npm run *)` | `*` stands for any text |
//! | `Edit(src/**)` | editing (also `Write`, `MultiEdit`, `NotebookEdit`) below `src` of the workspace |
//! | `Read(*.pem)` | reading (also Grep, Glob) a file of that name in any folder |
//! | `Read(~/.ssh/**)`, `Edit(/etc/**)` | below the home folder; an absolute path (`//etc/**` means the same) |
//! | `WebFetch(domain:example.com)` | this host; `domain:*.example.com` for those below it |
//! | `Agent(Explore)`, `Skill(pdf)` | this sub-agent, this skill |
//! | `mcp__github`, `mcp__github__*` | every tool of the server |
//! | `mcp__github__get_*` | tools whose names begin so |
//!
//! An allow rule for Bash lets a line pass only if rules cover **every** command in it and nothing is written to a file
//! by redirection; a deny or ask rule applies if **any** command in the line matches, wrappers such as `sudo` and `env`
//! taken off. Deny and ask rules for Edit and Read also hold for the files that a command line names.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    ParseRuleError,
    glob::{self, can_meet, covers},
    notation,
    paths::{Place, absolute, fold},
    shell::{Facts, Invocation},
};

/// Where a rule comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Scope {
    /// It holds in every workspace of the machine.
    Global,
    /// It holds in one workspace.
    Workspace,
}

/// What a rule wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Effect {
    /// Let it run.
    Allow,
    /// Refuse it.
    Deny,
    /// Put it to a person.
    Ask,
}

/// One rule of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    text: String,
    effect: Effect,
    scope: Scope,
    matcher: Matcher,
}

/// What a rule compares a call with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Matcher {
    /// A tool by name; the name may hold marks for MCP tools.
    Tool(String),
    Command(String),
    Path {
        reads: bool,
        pattern: String,
    },
    Domain(String),
    /// A tool and the value of one of its input fields.
    Field {
        tools: &'static [&'static str],
        keys: &'static [&'static str],
        pattern: String,
    },
}

const EDITORS: [&str; 4] = ["Edit", "Write", "MultiEdit", "NotebookEdit"];
const READERS: [&str; 5] = ["Read", "Grep", "Glob", "LS", "NotebookRead"];

/// Whether the tool writes the file that its input names.
pub(super) fn is_editor(tool: &str) -> bool {
    EDITORS.contains(&tool)
}

/// Whether the tool reads the file or folder that its input names.
pub(super) fn is_reader(tool: &str) -> bool {
    READERS.contains(&tool)
}

impl Rule {
    /// Reads one rule.
    pub fn parse(text: &str, effect: Effect, scope: Scope) -> Result<Self, ParseRuleError> {
        let text = text.trim();
        let matcher = notation::read(text)?;
        Ok(Self {
            text: text.to_owned(),
            effect,
            scope,
            matcher,
        })
    }

    /// The rule as the user wrote it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What it wants.
    pub fn effect(&self) -> Effect {
        self.effect
    }

    /// Where it comes from.
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// Whether the rule is about this call, by its effect: an allow rule must cover all of it, the others any of it.
    pub(super) fn applies(&self, call: &Call<'_>) -> bool {
        match &self.matcher {
            Matcher::Tool(name) => covers(name, call.tool),
            Matcher::Command(pattern) => {
                call.facts.is_some_and(|facts| self.command(pattern, facts))
            }
            Matcher::Path { reads, pattern } => self.path(*reads, pattern, call),
            Matcher::Domain(pattern) => {
                call.tool == "WebFetch"
                    && host(call.input).is_some_and(|host| covers(pattern, &host))
            }
            Matcher::Field {
                tools,
                keys,
                pattern,
            } => {
                let mut values = keys.iter().filter_map(|key| call.input.get(*key)?.as_str());
                tools.contains(&call.tool) && values.any(|value| covers(pattern, value))
            }
        }
    }

    fn command(&self, pattern: &str, facts: &Facts) -> bool {
        match self.effect {
            // Whether all commands are covered is asked of all rules together, see `allows_line`.
            Effect::Allow => false,
            Effect::Deny => facts.commands.iter().any(|one| line_matches(pattern, one)),
            Effect::Ask => facts
                .commands
                .iter()
                .any(|one| line_may_match(pattern, one)),
        }
    }

    fn path(&self, reads: bool, pattern: &str, call: &Call<'_>) -> bool {
        let pattern = fold(&absolute_pattern(pattern, call.place));
        let is_of_kind = if reads {
            is_reader(call.tool)
        } else {
            is_editor(call.tool)
        };
        if self.effect == Effect::Allow {
            let mut paths = call.paths.iter().peekable();
            return is_of_kind
                && paths.peek().is_some()
                && paths.all(|path| covers(&pattern, &fold(path)));
        }
        let in_shell = if reads { call.reads } else { call.writes };
        let named = call.paths.iter().filter(|_| is_of_kind);
        named.chain(in_shell).any(|path| {
            let path = fold(path);
            if self.effect == Effect::Deny {
                covers(&pattern, &path)
            } else {
                can_meet(&pattern, &path)
            }
        })
    }
}

/// A tool call with everything that was found out about it.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    pub(super) tool: &'a str,
    pub(super) input: &'a Value,
    /// Absolute paths that the input names, resolved ones included.
    pub(super) paths: &'a [String],
    /// What a command line reads and writes, likewise.
    pub(super) reads: &'a [String],
    pub(super) writes: &'a [String],
    /// What the command line does, for Bash that could be parsed.
    pub(super) facts: Option<&'a Facts>,
    pub(super) place: Place<'a>,
}

/// Whether allow rules with patterns cover every command of a line that writes no file by redirection.
pub(super) fn allows_line<'r>(rules: &'r [Rule], facts: &Facts) -> Option<&'r Rule> {
    if facts.commands.is_empty() || !facts.redirected.is_empty() || facts.changes_names {
        return None;
    }
    let mut first = None;
    for command in facts.commands.iter().filter(|command| !command.is_derived) {
        let found = rules.iter().find(|rule| {
            let Matcher::Command(pattern) = &rule.matcher else {
                return false;
            };
            rule.effect == Effect::Allow
                && command_patterns(pattern)
                    .iter()
                    .any(|one| covers(one, &command.line()))
        })?;
        first.get_or_insert(found);
    }
    first
}

/// Whether a command is certainly one that the pattern describes.
pub(super) fn line_matches(pattern: &str, command: &Invocation) -> bool {
    let spellings = command.spellings();
    command_patterns(pattern)
        .iter()
        .any(|one| spellings.iter().any(|line| covers(one, line)))
}

/// Whether a command with unknown parts can be one that the pattern describes.
pub(super) fn line_may_match(pattern: &str, command: &Invocation) -> bool {
    let spellings = command.spellings();
    command_patterns(pattern)
        .iter()
        .any(|one| spellings.iter().any(|line| can_meet(one, line)))
}

/// `name:*` means the name alone or followed by a blank and anything; `name *` likewise.
fn command_patterns(pattern: &str) -> Vec<String> {
    let prefix = pattern
        .strip_suffix(":*")
        .or_else(|| pattern.strip_suffix(" *"));
    match prefix {
        Some(prefix) => {
            let prefix = glob::text_pattern(prefix);
            vec![format!("{prefix} {}", glob::ANY), prefix]
        }
        None => vec![glob::text_pattern(pattern)],
    }
}

/// The pattern as one on absolute paths; a name without a slash is looked for in every folder.
fn absolute_pattern(pattern: &str, place: Place<'_>) -> String {
    let marked = glob::path_pattern(pattern);
    if let Some(rooted) = marked.strip_prefix("//") {
        format!("/{rooted}")
    } else if marked.starts_with('/')
        || marked.starts_with('~')
        || marked.trim_start_matches("./").contains('/')
    {
        absolute(&marked, place.cwd, place.home)
    } else if marked.starts_with(glob::ANY) {
        marked
    } else {
        format!("{}/{}", glob::ANY, marked.trim_start_matches("./"))
    }
}

/// The host of the address in the input: what stands between scheme, credentials, port and path.
fn host(input: &Value) -> Option<String> {
    let address = input.get("url")?.as_str()?;
    let (_, rest) = address.split_once("://")?;
    let authority = rest.split(['/', '?', '#', '\\']).next()?;
    let host = authority.rsplit('@').next()?;
    let host = host.split(':').next()?;
    Some(host.trim_end_matches('.').to_ascii_lowercase())
}

/// Rules as they stand in a file: one list per effect.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RuleTexts {
    /// What may run unasked.
    pub allow: Vec<String>,
    /// What must not run.
    pub deny: Vec<String>,
    /// What is put to a person in any case.
    pub ask: Vec<String>,
}

impl RuleTexts {
    /// Reads all of them; the first bad one is the error.
    pub fn parse(&self, scope: Scope) -> Result<Vec<Rule>, ParseRuleError> {
        let lists = [
            (&self.deny, Effect::Deny),
            (&self.ask, Effect::Ask),
            (&self.allow, Effect::Allow),
        ];
        let all = lists
            .into_iter()
            .flat_map(|(list, effect)| list.iter().map(move |text| (text, effect)));
        all.map(|(text, effect)| Rule::parse(text, effect, scope))
            .collect()
    }
}
