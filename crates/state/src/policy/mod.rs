//! Whether a tool call may run: a pure function from mode, rules, lists and call to a verdict with its reason.
//!
//! [`judge`] is asked for every call of every tool. It knows two orders. As the original rules have it: mode, list of
//! harmless tools, deny patterns, what the user allowed for the conversation, user rules, and else a person. With
//! `deny_first`, which is recommended, whatever refuses or doubts comes before whatever allows, in every mode.
//!
//! **This is no security boundary.** A shell line can do the same thing in endlessly many ways, programs start programs,
//! and scripts are judged only where their text is in the line. The guard catches accidents and the usual evasions and
//! asks where it cannot see; what must not happen at all needs a sandbox of the operating system.
//!
//! Not here: keeping rules and modes, asking people, logging. The host does that, and logs every verdict.

mod danger;
mod files;
mod glob;
mod notation;
mod paths;
mod patterns;
mod reach;
mod reading;
mod reason;
mod rules;
mod shell;

use std::{collections::BTreeSet, fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

pub use notation::ParseRuleError;
pub use paths::{Place, Resolver, Twins};
pub use patterns::DenyPatterns;
pub use reason::{Doubt, Reason};
pub use rules::{Effect, Rule, RuleTexts, Scope};

use rules::Call;

/// How much a conversation may do unasked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Mode {
    /// Lists and rules decide.
    #[default]
    Default,
    /// Editing and commands run unasked.
    AcceptEdits,
    /// Everything runs unasked.
    BypassPermissions,
    /// Judged like `default`; the CLI itself holds back edits.
    Plan,
}

impl Mode {
    /// Its name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::AcceptEdits => "acceptEdits",
            Self::BypassPermissions => "bypassPermissions",
            Self::Plan => "plan",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// A word that is no mode.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("`{0}` is no permission mode; use default, acceptEdits, bypassPermissions or plan")]
pub struct ParseModeError(String);

impl FromStr for Mode {
    type Err = ParseModeError;

    fn from_str(text: &str) -> Result<Self, ParseModeError> {
        [
            Self::Default,
            Self::AcceptEdits,
            Self::BypassPermissions,
            Self::Plan,
        ]
        .into_iter()
        .find(|mode| mode.as_str() == text)
        .ok_or_else(|| ParseModeError(text.to_owned()))
    }
}

/// Everything that is set about permissions in a conversation.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// The mode in force.
    pub mode: Mode,
    /// Whether refusals come before modes.
    pub deny_first: bool,
    /// Tools that the user allowed for this conversation.
    pub remembered: BTreeSet<String>,
    /// The user's rules, of the workspace and global ones.
    pub rules: Vec<Rule>,
    /// The lists of what must not be touched or run.
    pub patterns: DenyPatterns,
    /// Whether the conversation may only read. Neither modes nor rules nor people lift that.
    pub read_only: bool,
    /// Tools of our own, which are allowed in every mode.
    pub own_tools: BTreeSet<String>,
}

/// What becomes of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It may run.
    Allow(Reason),
    /// It must not run.
    Deny(Reason),
    /// A person decides.
    Ask(Reason),
}

impl Verdict {
    /// `allow`, `deny` or `ask`.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Allow(_) => "allow",
            Self::Deny(_) => "deny",
            Self::Ask(_) => "ask",
        }
    }

    /// What decided.
    pub fn reason(&self) -> &Reason {
        match self {
            Self::Allow(reason) | Self::Deny(reason) | Self::Ask(reason) => reason,
        }
    }
}

/// Tools that are questions to the user.
const QUESTIONS: [&str; 2] = ["AskUserQuestion", "ExitPlanMode"];
/// Tools that acceptEdits allows.
const EDITS: [&str; 5] = ["Edit", "Write", "Bash", "NotebookEdit", "MultiEdit"];
/// Tools that are allowed in every mode.
const HARMLESS: [&str; 10] = [
    "Read",
    "Glob",
    "Grep",
    "WebSearch",
    "WebFetch",
    "TodoWrite",
    "TaskList",
    "TaskGet",
    "TaskCreate",
    "TaskUpdate",
];

/// Decides about one call of a tool.
pub fn judge(policy: &Policy, place: Place<'_>, tool: &str, input: &Value) -> Verdict {
    decide(policy, place, tool, input, None)
}

/// Decides about a call whose input cannot be read as JSON: nobody knows what it touches, so no mode, list or rule
/// allows it. What is refused whatever the input is stays refused.
pub fn judge_unreadable(policy: &Policy, place: Place<'_>, tool: &str) -> Verdict {
    let doubt = Some(Doubt::UnreadableInput);
    decide(policy, place, tool, &Value::Null, doubt)
}

/// `unseen` is why there is more to the call than its input shows.
fn decide(
    policy: &Policy,
    place: Place<'_>,
    tool: &str,
    input: &Value,
    unseen: Option<Doubt>,
) -> Verdict {
    if QUESTIONS.contains(&tool) {
        return Verdict::Ask(Reason::AlwaysAsks {
            tool: tool.to_owned(),
        });
    }
    let facts = (tool == "Bash").then(|| files::examine(input, place));
    let paths = files::named(tool, input, place);
    let in_shell = |paths: fn(&shell::Facts) -> &Vec<String>| {
        let paths = facts.iter().flat_map(paths).cloned();
        files::resolved(files::distinct(paths), place)
    };
    let (reads, writes) = (
        in_shell(|facts| &facts.reads),
        in_shell(|facts| &facts.writes),
    );
    let call = Call {
        tool,
        input,
        paths: &paths,
        reads: &reads,
        writes: &writes,
        facts: facts.as_ref(),
        place,
    };
    let mut found = files::find(policy, &call);
    found.unseen = unseen.or(found.unseen);
    let judgement = Judgement {
        policy,
        call,
        found,
    };
    if policy.own_tools.contains(tool) {
        let tool = tool.to_owned();
        return Verdict::Allow(Reason::AutoAllowed { tool });
    }
    if let Some(verdict) = policy.read_only.then(|| reading::judge(&call)).flatten() {
        return verdict;
    }
    if policy.deny_first {
        judgement.refusals_first()
    } else {
        judgement.modes_first()
    }
}

/// A call with everything found out about it.
struct Judgement<'a> {
    policy: &'a Policy,
    call: Call<'a>,
    found: files::Found,
}

impl Judgement<'_> {
    /// Mode, harmless tools, deny patterns, remembered, user rules, a person.
    fn modes_first(&self) -> Verdict {
        if let Some(reason) = &self.found.own_data {
            return Verdict::Deny(reason.clone());
        }
        if let Some(reason) = self.unseen() {
            let refusal = self.found.refusal.as_ref();
            let refusal = refusal.filter(|_| self.mode().is_none());
            return refusal.map_or(Verdict::Ask(reason), |refusal| {
                Verdict::Deny(refusal.clone())
            });
        }
        let allowed = self.message().or_else(|| self.mode());
        if let Some(reason) = allowed.or_else(|| self.harmless()) {
            return Verdict::Allow(reason);
        }
        if let Some(reason) = &self.found.refusal {
            return Verdict::Deny(reason.clone());
        }
        // What the patterns cannot be held against is not covered by an allowance for the whole tool.
        if let Some(reason) = self.doubt() {
            let by_user = self.rule(Effect::Deny).map(Verdict::Deny);
            return by_user.unwrap_or(Verdict::Ask(reason));
        }
        if let Some(reason) = self.remembered() {
            return Verdict::Allow(reason);
        }
        let denied = self.rule(Effect::Deny).map(Verdict::Deny);
        let asked = || self.rule(Effect::Ask).map(Verdict::Ask);
        let allowed = || self.rule(Effect::Allow).map(Verdict::Allow);
        denied
            .or_else(asked)
            .or_else(allowed)
            .unwrap_or_else(|| self.nothing())
    }

    /// Everything that refuses or doubts, then everything that allows.
    fn refusals_first(&self) -> Verdict {
        let found = &self.found;
        let refused = found
            .own_data
            .as_ref()
            .or(found.refusal.as_ref())
            .or(found.guarded.as_ref());
        if let Some(reason) = refused.cloned().or_else(|| self.rule(Effect::Deny)) {
            return Verdict::Deny(reason);
        }
        let doubt = self.unseen().or_else(|| self.doubt());
        if let Some(reason) = doubt.or_else(|| self.guarded_doubt()) {
            return Verdict::Ask(reason);
        }
        if self.leaves_sandbox() {
            return Verdict::Ask(Reason::SandboxDisabled);
        }
        if let Some(reason) = self.rule(Effect::Ask) {
            return Verdict::Ask(reason);
        }
        let allowed = self
            .message()
            .or_else(|| self.mode())
            .or_else(|| self.harmless())
            .or_else(|| self.remembered());
        let allowed = allowed.or_else(|| self.rule(Effect::Allow));
        allowed.map_or_else(|| self.nothing(), Verdict::Allow)
    }

    /// There is more in the call than was held against our own data.
    fn unseen(&self) -> Option<Reason> {
        let doubt = self.found.unseen.clone()?;
        Some(Reason::Unclear { doubt })
    }

    fn message(&self) -> Option<Reason> {
        self.found.message.clone()
    }

    fn mode(&self) -> Option<Reason> {
        let allows = match self.policy.mode {
            Mode::BypassPermissions => true,
            Mode::AcceptEdits => EDITS.contains(&self.call.tool),
            Mode::Default | Mode::Plan => false,
        };
        allows.then_some(Reason::Mode {
            mode: self.policy.mode,
        })
    }

    fn harmless(&self) -> Option<Reason> {
        let tool = self.call.tool;
        HARMLESS.contains(&tool).then(|| Reason::AutoAllowed {
            tool: tool.to_owned(),
        })
    }

    fn remembered(&self) -> Option<Reason> {
        let tool = self.call.tool;
        self.policy
            .remembered
            .contains(tool)
            .then(|| Reason::Remembered {
                tool: tool.to_owned(),
            })
    }

    fn nothing(&self) -> Verdict {
        // A file that is named by a link comes with what it really is, in front.
        let target = match self.call.paths {
            [target, _] if rules::is_editor(self.call.tool) => Some(target.clone()),
            _ => None,
        };
        Verdict::Ask(Reason::NoRule {
            tool: self.call.tool.to_owned(),
            target,
        })
    }

    /// What is not known about the call, unless the user allowed exactly such commands.
    fn doubt(&self) -> Option<Reason> {
        let doubt = self.found.doubt.clone()?;
        let facts = self.call.facts.filter(|facts| facts.is_parsed());
        let is_meant =
            facts.is_some_and(|facts| rules::allows_line(&self.policy.rules, facts).is_some());
        (!is_meant).then_some(Reason::Unclear { doubt })
    }

    fn guarded_doubt(&self) -> Option<Reason> {
        self.found
            .guarded_doubt
            .clone()
            .map(|doubt| Reason::Unclear { doubt })
    }

    fn leaves_sandbox(&self) -> bool {
        let flag = self.call.input.get("dangerouslyDisableSandbox");
        self.call.tool == "Bash"
            && flag.is_some_and(|value| *value != Value::Bool(false) && !value.is_null())
    }

    /// The first rule with the effect that is about this call.
    fn rule(&self, effect: Effect) -> Option<Reason> {
        let rules = &self.policy.rules;
        let plain = rules
            .iter()
            .find(|rule| rule.effect() == effect && rule.applies(&self.call));
        let by_line = || {
            let facts = self.call.facts.filter(|_| effect == Effect::Allow)?;
            rules::allows_line(rules, facts)
        };
        let rule = plain.or_else(by_line)?;
        Some(Reason::UserRule {
            rule: rule.text().to_owned(),
            scope: rule.scope(),
        })
    }
}
