//! May this tool run? Is this plan right?
//!
//! The exact input is shown before anything is allowed. "Always" takes over the rules the CLI suggests, but for this
//! conversation only: a suggestion that would be written into a settings file is kept in the session instead.

use estelle_claude::wire::control::CanUseTool;
use estelle_claude::wire::permission::{Allow, PermissionDestination};
use estelle_claude::wire::question::EXIT_PLAN_MODE;
use estelle_claude::wire::{Json, PermissionResult, PermissionRuleValue, PermissionUpdate};

use super::Reply;
use crate::chat::piece::{Piece, Tone};
use crate::chat::view::tool;

/// Lines of the input that are shown at first; `s` shows the rest.
const FIRST_LINES: usize = 40;
/// What the model is told when the user gives no reason.
const NO_REASON: &str = "The user said no.";

/// A request for permission.
#[derive(Debug)]
pub(crate) struct Permission {
    request: CanUseTool,
    /// The CLI's suggestions, for this conversation only.
    always: Vec<PermissionUpdate>,
}

/// The answers one can type.
#[derive(Debug, PartialEq, Eq)]
enum Word<'a> {
    Yes,
    Always,
    No(&'a str),
    ShowAll,
    Unknown,
}

impl Permission {
    pub(super) fn new(mut request: CanUseTool) -> Self {
        let suggested = request.permission_suggestions.take().unwrap_or_default();
        let offered = request.suppress_always_allow_rule != Some(true);
        let always = if offered {
            suggested
                .into_iter()
                .filter_map(for_this_conversation)
                .collect()
        } else {
            Vec::new()
        };
        Self { request, always }
    }

    pub(super) fn tool_name(&self) -> &str {
        &self.request.tool_name
    }

    fn is_plan(&self) -> bool {
        self.request.tool_name == EXIT_PLAN_MODE
    }

    pub(super) fn show(&self) -> Vec<Piece> {
        // The newer CLI asks without the plan, which stands above as the call it belongs to.
        if self.is_plan() && self.request.input.get("plan").is_none() {
            return self.show_below();
        }
        let most = if self.is_plan() {
            usize::MAX
        } else {
            FIRST_LINES
        };
        let mut pieces = vec![Piece::Gap];
        pieces.extend(self.tool(most));
        pieces.extend(self.offer());
        pieces
    }

    /// Without the input, which stands right above and is the same to the last byte.
    pub(super) fn show_below(&self) -> Vec<Piece> {
        let mut pieces = vec![Piece::Gap, self.head()];
        pieces.extend(self.reasons());
        pieces.extend(self.offer());
        pieces
    }

    pub(super) const fn input(&self) -> &Json {
        &self.request.input
    }

    pub(super) fn prompt(&self) -> &'static str {
        match (self.is_plan(), self.always.is_empty()) {
            (true, true) => "Approve? y/n › ",
            (true, false) => "Approve? y/a/n › ",
            (false, true) => "Allow? y/n › ",
            (false, false) => "Allow? y/a/n › ",
        }
    }

    pub(super) fn reply(&self, line: &str) -> Reply {
        match word(line) {
            Word::Yes => self.allow(None),
            Word::Always if !self.always.is_empty() => self.allow(Some(self.always.clone())),
            Word::No(reason) => {
                let message = if reason.is_empty() { NO_REASON } else { reason };
                let note = if self.is_plan() {
                    "✗ Not approved; it goes on planning."
                } else {
                    "✗ Refused."
                };
                Reply::Settled(
                    Box::new(PermissionResult::deny(message)),
                    vec![Piece::line(Tone::Bad, note)],
                )
            }
            Word::ShowAll => Reply::Again(self.tool(usize::MAX)),
            Word::Always => misunderstood("There is nothing to allow for good here. Type y or n."),
            Word::Unknown if self.always.is_empty() => {
                misunderstood("Type y for yes, or n (and why) for no.")
            }
            Word::Unknown => misunderstood("Type y for yes, a for always, or n (and why) for no."),
        }
    }

    fn allow(&self, updates: Option<Vec<PermissionUpdate>>) -> Reply {
        let note = match (&updates, self.is_plan()) {
            (_, true) => "✓ Approved.",
            (None, false) => "✓ Allowed once.",
            (Some(_), false) => "✓ Allowed for this conversation.",
        };
        let mut allow = Allow::new(self.request.input.clone());
        allow.updated_permissions = updates;
        Reply::Settled(Box::new(allow.into()), vec![Piece::line(Tone::Good, note)])
    }

    fn tool(&self, most: usize) -> Vec<Piece> {
        let mut pieces = vec![self.head()];
        let call = tool::call(&self.request.tool_name, &self.request.input);
        let mut lines = Vec::new();
        if !call.headline.is_empty() {
            lines.push(Piece::line(Tone::Strong, &call.headline));
        }
        lines.extend(call.body);
        let (lines, missing) = tool::cut(lines, most);
        pieces.extend(lines.into_iter().map(|line| line.indented("  │ ")));
        if missing > 0 {
            let note = format!("{}; type s to see all", tool::more(missing));
            pieces.push(Piece::line(Tone::Ask, note).indented("  │ "));
        }
        pieces.extend(self.reasons());
        pieces
    }

    fn head(&self) -> Piece {
        if self.is_plan() {
            return Piece::line(Tone::Ask, "? Claude asks to begin with this plan");
        }
        let request = &self.request;
        let name = request
            .display_name
            .as_deref()
            .unwrap_or(&request.tool_name);
        let who = if request.agent_id.is_some() {
            "A sub-agent asks to use "
        } else {
            "Claude asks to use "
        };
        Piece::spans([(Tone::Ask, "? "), (Tone::Plain, who), (Tone::Strong, name)])
    }

    fn reasons(&self) -> Vec<Piece> {
        let request = &self.request;
        let reasons = request
            .decision_reason
            .iter()
            .map(|reason| format!("  Why it asks: {reason}"));
        let paths = request
            .blocked_path
            .iter()
            .map(|path| format!("  Needs permission for: {path}"));
        reasons
            .chain(paths)
            .map(|line| Piece::line(Tone::Dim, line))
            .collect()
    }

    fn offer(&self) -> Vec<Piece> {
        let plan = self.is_plan();
        let yes = if plan { "approve it" } else { "yes, this once" };
        let no = if plan {
            "no, plan on (n and what to change)"
        } else {
            "no (n and why, for the model to read)"
        };
        let mut lines = vec![Piece::spans([(Tone::Strong, "  y  "), (Tone::Plain, yes)])];
        if !self.always.is_empty() {
            let what: Vec<String> = self.always.iter().map(describe).collect();
            let what = format!(
                "yes, and from now on in this conversation: {}",
                what.join("; ")
            );
            lines.push(Piece::spans([
                (Tone::Strong, "  a  "),
                (Tone::Plain, &what),
            ]));
        }
        lines.push(Piece::spans([(Tone::Strong, "  n  "), (Tone::Plain, no)]));
        lines
    }
}

fn misunderstood(text: &str) -> Reply {
    Reply::Misunderstood(vec![Piece::line(Tone::Dim, text)])
}

fn word(line: &str) -> Word<'_> {
    let lower = line.to_ascii_lowercase();
    match lower.as_str() {
        "y" | "yes" => return Word::Yes,
        "a" | "always" => return Word::Always,
        "s" | "show" => return Word::ShowAll,
        _ => {}
    }
    let end = lower
        .find(|c: char| !c.is_alphanumeric())
        .unwrap_or(lower.len());
    if matches!(&lower[..end], "n" | "no") {
        // Lower-casing ASCII keeps every offset.
        return Word::No(
            line[end..]
                .trim_start_matches([' ', ',', ':', '.', '-'])
                .trim(),
        );
    }
    Word::Unknown
}

/// The suggestion, kept in the session; what this version cannot read is not taken over.
fn for_this_conversation(update: PermissionUpdate) -> Option<PermissionUpdate> {
    let session = PermissionDestination::Session;
    Some(match update {
        PermissionUpdate::AddRules(mut update) => {
            update.destination = session;
            update.into()
        }
        PermissionUpdate::SetMode(mut update) => {
            update.destination = session;
            update.into()
        }
        PermissionUpdate::AddDirectories(mut update) => {
            update.destination = session;
            update.into()
        }
        // Taking rules away is not what "always allow" promises.
        PermissionUpdate::ReplaceRules(_)
        | PermissionUpdate::RemoveRules(_)
        | PermissionUpdate::RemoveDirectories(_)
        | PermissionUpdate::Unknown(_)
        | _ => return None,
    })
}

/// What a suggestion allows, in words.
fn describe(update: &PermissionUpdate) -> String {
    match update {
        PermissionUpdate::AddRules(update) => {
            let rules: Vec<String> = update.rules.iter().map(rule).collect();
            format!("{} {}", update.behavior, rules.join(", "))
        }
        PermissionUpdate::SetMode(update) => format!("work in the mode {}", update.mode),
        PermissionUpdate::AddDirectories(update) => {
            format!("work in {}", update.directories.join(", "))
        }
        PermissionUpdate::ReplaceRules(_)
        | PermissionUpdate::RemoveRules(_)
        | PermissionUpdate::RemoveDirectories(_)
        | PermissionUpdate::Unknown(_)
        | _ => update.tag().to_owned(),
    }
}

fn rule(rule: &PermissionRuleValue) -> String {
    match &rule.rule_content {
        Some(content) => format!("{}({content})", rule.tool_name),
        None => rule.tool_name.clone(),
    }
}
