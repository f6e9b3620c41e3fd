//! Reads the notation of rules: a tool, or a tool and a pattern in parentheses. What the parts mean is in `rules`.

use thiserror::Error;

use super::{
    glob,
    rules::{Matcher, is_editor, is_reader},
};

/// Why a text is no rule.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ParseRuleError {
    /// Nothing there.
    #[error(
        "read an empty rule; write a tool name such as `Read`, or a tool and a pattern such as `Bash(git push:*)`"
    )]
    Empty,
    /// The parenthesis is not closed, or something follows it.
    #[error(
        "read rule `{0}`: the pattern must end the rule; close it with `)` and write nothing behind it"
    )]
    Unclosed(String),
    /// `Bash()` says less than it seems to.
    #[error(
        "read rule `{0}`: the pattern is empty; leave the parentheses out to mean every call of the tool"
    )]
    EmptyPattern(String),
    /// The name is none a tool can have.
    #[error(
        "read rule `{0}`: a tool name has letters, digits, `_` and `-` only, and `*` only in names that begin with `mcp__`"
    )]
    BadName(String),
    /// This tool has nothing to compare a pattern with.
    #[error(
        "read rule `{0}`: this tool takes no pattern; patterns work for Bash, Read, Edit, Write, WebFetch, Agent and Skill"
    )]
    NoPattern(String),
    /// A pattern for `WebFetch` that is not a domain.
    #[error("read rule `{0}`: write the host as `WebFetch(domain:example.com)`")]
    BadDomain(String),
}

const AGENTS: [&str; 2] = ["Agent", "Task"];
const SKILLS: [&str; 2] = ["Skill", "SlashCommand"];

/// Reads the text of a rule.
pub(super) fn read(text: &str) -> Result<Matcher, ParseRuleError> {
    if text.is_empty() {
        return Err(ParseRuleError::Empty);
    }
    let Some((name, rest)) = text.split_once('(') else {
        check_name(text, text)?;
        // `mcp__server` means all of its tools.
        let is_server =
            text.starts_with("mcp__") && !text.contains('*') && text.matches("__").count() == 1;
        let name = if is_server {
            format!("{text}__*")
        } else {
            text.to_owned()
        };
        return Ok(Matcher::Tool(glob::text_pattern(&name)));
    };
    let pattern = rest
        .strip_suffix(')')
        .ok_or_else(|| ParseRuleError::Unclosed(text.to_owned()))?;
    check_name(name, text)?;
    if pattern.trim().is_empty() {
        return Err(ParseRuleError::EmptyPattern(text.to_owned()));
    }
    with_pattern(name, pattern.trim(), text)
}

fn check_name(name: &str, text: &str) -> Result<(), ParseRuleError> {
    let is_name =
        |symbol: char| symbol.is_ascii_alphanumeric() || matches!(symbol, '_' | '-' | '.');
    let is_good = !name.is_empty()
        && name
            .chars()
            .all(|symbol| is_name(symbol) || (symbol == '*' && name.starts_with("mcp__")));
    if is_good {
        Ok(())
    } else {
        Err(ParseRuleError::BadName(text.to_owned()))
    }
}

fn with_pattern(name: &str, pattern: &str, text: &str) -> Result<Matcher, ParseRuleError> {
    let field = |tools, keys| Matcher::Field {
        tools,
        keys,
        pattern: glob::text_pattern(pattern),
    };
    if name == "Bash" {
        return Ok(Matcher::Command(pattern.to_owned()));
    }
    if is_editor(name) || is_reader(name) {
        return Ok(Matcher::Path {
            reads: is_reader(name),
            pattern: pattern.to_owned(),
        });
    }
    if name == "WebFetch" {
        let domain = pattern
            .strip_prefix("domain:")
            .filter(|domain| !domain.is_empty());
        let domain = domain.ok_or_else(|| ParseRuleError::BadDomain(text.to_owned()))?;
        return Ok(Matcher::Domain(glob::text_pattern(
            &domain.to_ascii_lowercase(),
        )));
    }
    if AGENTS.contains(&name) {
        return Ok(field(&AGENTS, &["subagent_type", "agent_type"]));
    }
    if SKILLS.contains(&name) {
        return Ok(field(&SKILLS, &["skill", "command"]));
    }
    Err(ParseRuleError::NoPattern(text.to_owned()))
}
