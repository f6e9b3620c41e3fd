//! Who may run a tool: rules, modes, and what the host is told when it is asked.
//!
//! The rules are those measured on the real CLI: reading inside the working directory and read-only commands run unasked,
//! writing and the rest are asked for, ask rules hold in every mode. This module decides; asking is in [`super::consent`].

use super::bash::{self, Effect as BashEffect};
use super::json::{Json, obj};
use super::state::Sim;

/// One rule such as `Bash(git log:*)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rule {
    tool: String,
    content: Option<String>,
}

/// The rules of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Rules {
    /// These run.
    pub(crate) allow: Vec<Rule>,
    /// These are asked for even when a mode would allow them.
    pub(crate) ask: Vec<Rule>,
    /// These never run.
    pub(crate) deny: Vec<Rule>,
}

/// The decision about a call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Verdict {
    /// It runs; the note says why, for `tool_result_meta`.
    Allow(Json),
    /// The host is asked; these fields go into the request.
    Ask(Ask),
    /// It does not run, with the text for the model and the kind of reason.
    Deny(String, &'static str),
}

/// What an asked host is told beyond tool and input.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Ask {
    /// Fields between `description` and `tool_use_id`.
    pub(crate) details: Json,
    /// The text for the model when nobody can be asked.
    pub(crate) unasked: String,
}

impl Rule {
    /// Reads `Tool` or `Tool(content)`.
    pub(crate) fn read(text: &str) -> Self {
        match text.strip_suffix(')').and_then(|text| text.split_once('(')) {
            Some((tool, content)) => Self {
                tool: tool.to_owned(),
                content: Some(content.to_owned()),
            },
            None => Self {
                tool: text.to_owned(),
                content: None,
            },
        }
    }

    /// Reads a rule of `updatedPermissions`.
    pub(crate) fn from_json(rule: &Json) -> Self {
        Self {
            tool: rule.text("toolName").unwrap_or_default().to_owned(),
            content: rule.text("ruleContent").map(str::to_owned),
        }
    }

    fn matches(&self, tool: &str, input: &Json) -> bool {
        let whole_server = tool
            .strip_prefix(&self.tool)
            .is_some_and(|rest| self.tool.starts_with("mcp__") && rest.starts_with("__"));
        // A lone star stands for every tool; both versions take it so.
        if self.tool != tool && self.tool != "*" && !whole_server {
            return false;
        }
        let Some(content) = &self.content else {
            return true;
        };
        let subject = input
            .text("command")
            .or_else(|| input.text("file_path"))
            .or_else(|| input.text("url"))
            .or_else(|| input.text("skill"))
            .unwrap_or_default();
        if let Some(prefix) = content.strip_suffix(":*") {
            let rest = subject.strip_prefix(prefix);
            return rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
        }
        if let Some(domain) = content.strip_prefix("domain:") {
            return host_of(subject) == domain;
        }
        if let Some(folder) = content.strip_suffix("/**") {
            let folder = folder.strip_prefix('/').unwrap_or(folder);
            return subject.starts_with(&format!("{folder}/"));
        }
        subject == content
    }
}

impl Rules {
    /// The rules of the command line.
    pub(crate) fn from_args(args: &super::args::PermissionArgs) -> Self {
        let of = |kind: &str| {
            let listed = args.settings.get(kind).map(Json::items).unwrap_or_default();
            listed.iter().filter_map(Json::as_text).map(Rule::read)
        };
        let read = |texts: &[String]| {
            texts
                .iter()
                .map(|text| Rule::read(text))
                .collect::<Vec<_>>()
        };
        Self {
            allow: of("allow").chain(read(&args.allowed)).collect(),
            ask: of("ask").collect(),
            deny: of("deny").chain(read(&args.disallowed)).collect(),
        }
    }
}

fn any(rules: &[Rule], tool: &str, input: &Json) -> bool {
    rules.iter().any(|rule| rule.matches(tool, input))
}

fn denied_by_rule(tool: &str, input: &Json) -> Verdict {
    match input.text("command").filter(|_| tool == "Bash") {
        Some(command) => Verdict::Deny(
            format!("Permission to use Bash with command {command} has been denied."),
            "subcommandResults",
        ),
        None => Verdict::Deny(format!("Permission to use {tool} has been denied."), "rule"),
    }
}

fn note(reason: &str) -> Json {
    obj! {
        "decision" => "accept",
        "source" => "config",
        "reason_type" if !reason.is_empty() => reason,
    }
}

impl Sim {
    /// Decides about a call.
    pub(crate) fn judge(&self, tool: &str, input: &Json) -> Verdict {
        let (rules, mode) = self.with(|state| (state.rules.clone(), state.chat.mode.clone()));
        if any(&rules.deny, tool, input) {
            return denied_by_rule(tool, input);
        }
        if any(&rules.ask, tool, input) {
            return Verdict::Ask(self.ask_by_rule(tool));
        }
        if matches!(tool, "AskUserQuestion" | "ExitPlanMode") {
            return Verdict::Ask(Ask {
                details: Json::empty(),
                unasked: "This tool requires user interaction".to_owned(),
            });
        }
        // In the older CLI a plan keeps nothing from running once permissions may be bypassed.
        let planned = mode == "plan" && self.setup().args.permissions.may_bypass && !self.is_325();
        if mode == "bypassPermissions" || planned {
            return Verdict::Allow(note("mode"));
        }
        if any(&rules.allow, tool, input) {
            let reason = if tool == "Bash" {
                "subcommandResults"
            } else {
                "rule"
            };
            return Verdict::Allow(note(reason));
        }
        let verdict = self.judge_tool(tool, input, &mode);
        match verdict {
            Verdict::Ask(_) if mode == "dontAsk" => Verdict::Deny(
                format!(
                    "Permission to use {tool} has been denied because Claude Code is running in don't ask mode."
                ),
                "mode",
            ),
            Verdict::Allow(_) | Verdict::Ask(_) | Verdict::Deny(..) => verdict,
        }
    }

    fn judge_tool(&self, tool: &str, input: &Json, mode: &str) -> Verdict {
        match tool {
            "Bash" => self.judge_bash(input, mode),
            "Read" => self.judge_read(input, mode),
            "Write" | "Edit" | "NotebookEdit" => self.judge_write(input, mode),
            "WebFetch" => {
                let url = input.text("url").unwrap_or_default();
                Verdict::Ask(Ask {
                    details: suggest(vec![add_domain(host_of(url))]),
                    unasked: format!(
                        "Claude requested permissions to use {tool}, but you haven't granted it yet."
                    ),
                })
            }
            "WebSearch" => self.ask_for_tool(tool),
            _ if tool.starts_with("mcp__") => self.ask_for_tool(tool),
            _ => Verdict::Allow(note("")),
        }
    }

    fn ask_for_tool(&self, tool: &str) -> Verdict {
        let details = suggest(vec![add_rule(tool, None)]);
        Verdict::Ask(Ask {
            details: self.policy_ask(details, true),
            unasked: format!(
                "Claude requested permissions to use {tool}, but you haven't granted it yet."
            ),
        })
    }

    fn ask_by_rule(&self, tool: &str) -> Ask {
        let by_rule = matches!(tool, "Bash" | "Read");
        let newer = self.is_325();
        let details = obj! {
            "decision_reason_type" if by_rule || !newer => "rule",
            "decision_reason_rule_source" if by_rule && newer => "flagSettings",
            "server_policy_ask_only" if newer => false,
            "matched_ask_rule" if !by_rule && newer => obj! { "source" => "flagSettings", "tool_name" => tool },
        };
        Ask {
            details,
            unasked: format!(
                "Claude requested permissions to use {tool}, but you haven't granted it yet."
            ),
        }
    }

    fn policy_ask(&self, details: Json, only: bool) -> Json {
        if self.is_325() {
            details.with("server_policy_ask_only", only)
        } else {
            details
        }
    }

    fn judge_read(&self, input: &Json, mode: &str) -> Verdict {
        let path = self.absolute(input.text("file_path").unwrap_or_default());
        if self.is_inside(&path) {
            let reason = if mode == "acceptEdits" { "mode" } else { "" };
            return Verdict::Allow(note(reason));
        }
        let folder = parent_of(&path);
        let details = suggest(vec![
            add_rule("Read", Some(&format!("/{folder}/**"))).with("destination", "session"),
        ])
        .with(
            "decision_reason",
            "Path is outside allowed working directories",
        )
        .with("decision_reason_type", "workingDir");
        Verdict::Ask(Ask {
            details: self.policy_ask(details, true),
            unasked: format!(
                "Claude requested permissions to read from {path}, but you haven't granted it yet."
            ),
        })
    }

    fn judge_write(&self, input: &Json, mode: &str) -> Verdict {
        let given = input
            .text("file_path")
            .or_else(|| input.text("notebook_path"));
        let path = self.absolute(given.unwrap_or_default());
        let inside = self.is_inside(&path);
        let unasked = format!(
            "Claude requested permissions to write to {path}, but you haven't granted it yet."
        );
        if mode == "plan" {
            let details = obj! { "decision_reason_type" => "mode" };
            return Verdict::Ask(Ask { details, unasked });
        }
        if mode == "acceptEdits" && inside {
            return Verdict::Allow(note("mode"));
        }
        let mut suggestions = vec![set_mode()];
        if !inside {
            suggestions.push(add_folder(&parent_of(&path)));
        }
        let mut details = suggest(suggestions);
        if !inside {
            details.set(
                "decision_reason",
                "Path is outside allowed working directories",
            );
            details.set("decision_reason_type", "workingDir");
        }
        Verdict::Ask(Ask {
            details: self.policy_ask(details, true),
            unasked,
        })
    }

    fn judge_bash(&self, input: &Json, mode: &str) -> Verdict {
        let command = input.text("command").unwrap_or_default();
        let rule = add_rule("Bash", Some(command));
        let unasked = "This command requires approval".to_owned();
        let details = match bash::effect(command) {
            BashEffect::Reads => return Verdict::Allow(note("subcommandResults")),
            BashEffect::Changes(path) => {
                let path = self.absolute(&path);
                if mode == "acceptEdits" && self.is_inside(&path) {
                    return Verdict::Allow(note("subcommandResults"));
                }
                suggest(vec![rule, add_folder(&parent_of(&path)), set_mode()])
                    .with("blocked_path", path)
            }
            BashEffect::Redirects(path) => {
                let path = self.absolute(&path);
                suggest(vec![rule, add_folder(&parent_of(&path))]).with("blocked_path", path)
            }
            BashEffect::Unknown => suggest(vec![rule])
                .with("decision_reason", "This command requires approval")
                .with("decision_reason_type", "other"),
        };
        Verdict::Ask(Ask { details, unasked })
    }

    /// A path made absolute with the working directory.
    pub(crate) fn absolute(&self, path: &str) -> String {
        if path.starts_with('/') {
            return path.to_owned();
        }
        format!("{}/{path}", self.setup().env.cwd)
    }

    /// Whether a path lies in the working directory or an added one, without a way out.
    pub(crate) fn is_inside(&self, path: &str) -> bool {
        let setup = self.setup();
        let climbs = path.split('/').any(|part| part == "..");
        let under = |folder: &str| {
            path.strip_prefix(folder)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        !climbs && (under(&setup.env.cwd) || setup.args.add_dirs.iter().any(|dir| under(dir)))
    }
}

fn suggest(suggestions: Vec<Json>) -> Json {
    obj! { "permission_suggestions" => suggestions }
}

fn add_rule(tool: &str, content: Option<&str>) -> Json {
    obj! {
        "type" => "addRules",
        "rules" => vec![obj! {
            "toolName" => tool,
            "ruleContent" if content.is_some() => content,
        }],
        "behavior" => "allow",
        "destination" => "localSettings",
    }
}

fn add_domain(host: &str) -> Json {
    let rule = obj! { "toolName" => "WebFetch", "ruleContent" => format!("domain:{host}") };
    obj! {
        "type" => "addRules",
        "destination" => "localSettings",
        "rules" => vec![rule],
        "behavior" => "allow",
    }
}

fn add_folder(folder: &str) -> Json {
    obj! { "type" => "addDirectories", "directories" => vec![folder], "destination" => "session" }
}

fn set_mode() -> Json {
    obj! { "type" => "setMode", "mode" => "acceptEdits", "destination" => "session" }
}

fn parent_of(path: &str) -> String {
    match path.rsplit_once('/') {
        Some((parent, _)) if !parent.is_empty() => parent.to_owned(),
        Some(_) | None => "/".to_owned(),
    }
}

fn host_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', ':', '?']).next().unwrap_or_default()
}
