//! Conversations that may only read: what they are refused, whatever modes, rules and people allow.
//!
//! Here the list is of what is known to change nothing, and everything else is refused: editors, and every command line that
//! is not made of such programs alone. Tools of servers, which may do anything, always reach a person. What passes is judged
//! as in every conversation.

use super::{
    HARMLESS, QUESTIONS, Reason, Verdict,
    rules::Call,
    shell::{Facts, Invocation},
};

/// Tools beside the harmless ones that change nothing themselves; what sub-agents call is judged again.
const PASSING: [&str; 12] = [
    "Agent",
    "Task",
    "Skill",
    "LS",
    "NotebookRead",
    "BashOutput",
    "TaskOutput",
    "KillShell",
    "TaskStop",
    "ToolSearch",
    "EnterPlanMode",
    "ListMcpResourcesTool",
];

/// Programs that only read and print, whatever their arguments.
const PRINTERS: [&str; 26] = [
    "ls", "cat", "head", "tail", "wc", "pwd", "echo", "printf", "file", "stat", "du", "df",
    "which", "cut", "tr", "diff", "cmp", "grep", "egrep", "fgrep", "basename", "dirname",
    "realpath", "readlink", "true", "cd",
];

/// Subcommands of git that change nothing.
const GIT: [&str; 10] = [
    "log",
    "show",
    "diff",
    "status",
    "blame",
    "ls-files",
    "ls-tree",
    "rev-parse",
    "shortlog",
    "describe",
];

/// Beginnings of arguments that make such a program write or run something.
const GIT_WRITES: [&str; 4] = ["--output", "--ext-diff", "--textconv", "--exec"];
/// The same for find.
const FIND_ACTS: [&str; 6] = ["-exec", "-ok", "-delete", "-fprint", "-fls", "-files0-from"];
/// Where everything may be written.
const NOWHERE: &str = "/dev/null";

/// The verdict on a call in a conversation that may only read; none if it is judged as everywhere.
pub(super) fn judge(call: &Call<'_>) -> Option<Verdict> {
    let tool = call.tool;
    let refused = || {
        let tool = tool.to_owned();
        Some(Verdict::Deny(Reason::ReadOnly { tool }))
    };
    if HARMLESS.contains(&tool) || QUESTIONS.contains(&tool) || PASSING.contains(&tool) {
        return None;
    }
    if tool == "Bash" {
        return if call.facts.is_some_and(only_reads) {
            None
        } else {
            refused()
        };
    }
    if tool.starts_with("mcp__") {
        let tool = tool.to_owned();
        return Some(Verdict::Ask(Reason::AlwaysAsks { tool }));
    }
    refused()
}

/// Whether it is known of every command in a line that it changes nothing.
fn only_reads(facts: &Facts) -> bool {
    let is_known = facts.is_parsed() && facts.doubts.is_empty() && !facts.changes_names;
    let writes = facts.writes.iter().chain(&facts.redirected);
    is_known
        && facts.bombs.is_empty()
        && !facts.commands.is_empty()
        && writes.clone().all(|path| path == NOWHERE)
        && facts.commands.iter().all(reads)
}

fn reads(command: &Invocation) -> bool {
    // A path may name a program of the workspace that is called like one of the system.
    if command.words.first().is_none_or(|word| word.contains('/')) {
        return false;
    }
    let arguments = command.arguments();
    let has = |beginnings: &[&str]| {
        let begins = |word: &String| beginnings.iter().any(|start| word.starts_with(start));
        arguments.iter().any(begins)
    };
    match command.name().as_str() {
        "find" => !has(&FIND_ACTS),
        "rg" => !has(&["--pre", "--hostname-bin"]),
        "git" => {
            let subcommand = arguments.first().map_or("", String::as_str);
            GIT.contains(&subcommand) && !arguments.iter().any(|word| git_writes(word))
        }
        // It can make files of its own.
        "file" => !has(&["--c"]) && !arguments.iter().any(|word| is_short_with(word, 'C')),
        name => PRINTERS.contains(&name),
    }
}

/// Whether git could take an argument for an option with which it writes or runs something; it takes beginnings of options.
fn git_writes(word: &str) -> bool {
    let name = word.split('=').next().unwrap_or(word);
    name.len() > 2
        && name.starts_with("--")
        && GIT_WRITES
            .iter()
            .any(|writes| writes.starts_with(name) || name.starts_with(writes))
}

/// Whether a letter is among the short options of an argument.
fn is_short_with(word: &str, letter: char) -> bool {
    word.starts_with('-') && !word.starts_with("--") && word.contains(letter)
}
