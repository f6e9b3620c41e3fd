//! Asking the host whether a tool may run, and doing what it says.

use super::json::{Json, obj};
use super::permission::{Ask, Rule, Verdict};
use super::state::{Abort, Answer, Sim};
use super::tools::Call;
use super::turn::Turn;

const REJECTED: &str = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed.";
const INVALID_325: &str = "The canUseTool callback returned an invalid permission result. Expected {behavior: 'allow', updatedInput?: object} or {behavior: 'deny', message: string}. updatedPermissions may hold at most 4096 updates, rules and directories in all.";
const INVALID_197: &str = "Tool permission request failed: ZodError: [\n  {\n    \"code\": \"invalid_union\",\n    \"errors\": [],\n    \"path\": [],\n    \"message\": \"Invalid input\"\n  }\n]";

/// Whether a call may run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Consent {
    /// With this input; the note is for `tool_result_meta`.
    Run(Json, Json),
    /// Not; the text is for the model, the meta for `tool_result_meta`.
    Refused(String, Json),
}

/// The meta of a call that was cut off by an interrupt.
pub(crate) fn interrupted_meta() -> Json {
    obj! { "non_execution_kind" => "user-rejected" }
}

/// The text the model reads when its call was cut off.
pub(crate) fn rejected_text() -> &'static str {
    REJECTED
}

fn refusal(kind: &str, source: &str, reason: &str) -> Json {
    obj! {
        "non_execution_kind" => kind,
        "permission_decision" => obj! {
            "decision" => "reject",
            "source" => source,
            "reason_type" if !reason.is_empty() => reason,
        },
    }
}

impl Sim {
    /// Decides about a call, asking the host if need be.
    pub(crate) async fn consent(&self, turn: &mut Turn, call: &Call) -> Result<Consent, Abort> {
        match self.judge(&call.tool, &call.input) {
            Verdict::Allow(note) => Ok(Consent::Run(call.input.clone(), note)),
            Verdict::Deny(text, reason) => {
                turn.denials.push(call.denial());
                self.print_system(
                    "permission_denied",
                    obj! {
                        "tool_name" => &call.tool,
                        "tool_use_id" => &call.id,
                        "decision_reason_type" => reason,
                        "message" => &text,
                    },
                );
                let meta = refusal("permission-rule", "config", reason);
                Ok(Consent::Refused(text, meta))
            }
            Verdict::Ask(ask) => self.ask_consent(turn, call, ask).await,
        }
    }

    async fn ask_consent(&self, turn: &mut Turn, call: &Call, ask: Ask) -> Result<Consent, Abort> {
        let can_ask = self.setup().args.permissions.prompt_tool.is_some();
        if !can_ask {
            turn.denials.push(call.denial());
            self.print_denied(call, &ask);
            let meta = refusal("user-rejected", "config", "");
            return Ok(Consent::Refused(ask.unasked, meta));
        }
        self.print_state("requires_action");
        let request = self.permission_request(turn, call, &ask);
        let asked = self.ask_with_hook(turn, call, &ask, request).await;
        let answer = match asked {
            Ok(answer) => answer,
            Err(abort) => {
                turn.denials.push(call.denial());
                return Err(abort);
            }
        };
        self.print_state("running");
        match self.read_consent(call, answer) {
            Ok(consent) => {
                if matches!(consent, Consent::Refused(..)) {
                    turn.denials.push(call.denial());
                }
                Ok(consent)
            }
            Err(abort) => {
                turn.denials.push(call.denial());
                // A denial with `interrupt` ends the turn like an interrupt of the host.
                self.with(|state| state.work.aborted.insert(turn.scope, abort));
                Err(abort)
            }
        }
    }

    /// The permission request and the hook of the same name run side by side, the request first.
    async fn ask_with_hook(
        &self,
        turn: &Turn,
        call: &Call,
        ask: &Ask,
        request: Json,
    ) -> Result<Answer, Abort> {
        let id = self.send_request(turn.scope, request);
        let suggestions = ask.details.get("permission_suggestions").cloned();
        let body = obj! {
            "tool_name" => &call.tool,
            "tool_input" => &call.input,
            "permission_suggestions" if suggestions.is_some() => suggestions,
        };
        self.call_hooks_for(turn, "PermissionRequest", &call.tool, body, Some(&call.id))
            .await?;
        self.until_in(turn.scope, |state| state.answers.remove(&id))
            .await
    }

    fn permission_request(&self, turn: &Turn, call: &Call, ask: &Ask) -> Json {
        let newer = self.is_325();
        let server = call
            .tool
            .strip_prefix("mcp__")
            .and_then(|rest| rest.split_once("__"));
        let interactive = matches!(call.tool.as_str(), "AskUserQuestion" | "ExitPlanMode");
        let mut request = obj! {
            "subtype" => "can_use_tool",
            "tool_name" => &call.tool,
            "mcp_server" if newer && server.is_some() => server.map(|(name, _)| obj! { "name" => name, "source" => "sdk" }),
            "display_name" => call.display_name(),
            "input" => &call.input,
        };
        if let Some(text) = self.describe(call) {
            request.set("description", text);
        }
        for (key, value) in ask.details.fields() {
            request.set(key, value);
        }
        request.set("tool_use_id", &call.id);
        if let Some(agent) = turn.agent() {
            request.set("agent_id", &agent.agent_id);
        }
        if interactive && newer {
            request.set("requires_user_interaction", true);
        }
        request
    }

    fn describe(&self, call: &Call) -> Option<String> {
        if let Some(path) = call.input.text("file_path") {
            let inside = format!("{}/", self.setup().env.cwd);
            return Some(path.strip_prefix(&inside).unwrap_or(path).to_owned());
        }
        let input = &call.input;
        let text = match call.tool.as_str() {
            "Bash" => input.text("description").or_else(|| input.text("command")),
            "WebFetch" => input.text("url"),
            "WebSearch" => input.text("query"),
            _ => None,
        };
        text.map(str::to_owned)
    }

    fn print_denied(&self, call: &Call, ask: &Ask) {
        if !self.is_325() {
            return;
        }
        let reason = |key: &str| ask.details.get(key).cloned();
        let body = obj! {
            "tool_name" => &call.tool,
            "tool_use_id" => &call.id,
            "decision_reason_type" if reason("decision_reason_type").is_some() => reason("decision_reason_type"),
            "decision_reason" if reason("decision_reason").is_some() => reason("decision_reason"),
            "message" => &ask.unasked,
        };
        self.print_system("permission_denied", body);
    }

    fn read_consent(&self, call: &Call, answer: Answer) -> Result<Consent, Abort> {
        let body = match answer {
            Answer::Error(text) => {
                let text = format!("Tool permission request failed: Error: {text}");
                return Ok(Consent::Refused(
                    text,
                    refusal("permission-rule", "config", "other"),
                ));
            }
            Answer::Success(body) => body,
        };
        let updated = body.get("updatedInput").filter(|input| input.is_object());
        match body.text("behavior") {
            Some("allow") if updated.is_some() || self.is_325() => {
                self.update_permissions(body.get("updatedPermissions"));
                let input = updated.unwrap_or(&call.input).clone();
                let note = obj! { "decision" => "accept", "source" => "user_temporary" };
                Ok(Consent::Run(input, note))
            }
            Some("deny") if body.flag("interrupt") => Err(Abort::Interrupt),
            Some("deny") if body.text("message").is_some() => {
                let text = body.text("message").unwrap_or_default().to_owned();
                Ok(Consent::Refused(
                    text,
                    refusal("permission-rule", "user_reject", ""),
                ))
            }
            Some(_) | None => {
                let text = if self.is_325() {
                    INVALID_325
                } else {
                    INVALID_197
                };
                let meta = refusal("permission-rule", "config", "other");
                Ok(Consent::Refused(text.to_owned(), meta))
            }
        }
    }

    fn update_permissions(&self, updates: Option<&Json>) {
        for update in updates.map(Json::items).unwrap_or_default() {
            match update.text("type") {
                Some("setMode") => self.change_mode(update.text("mode").unwrap_or("default")),
                Some("addRules") => self.with(|state| {
                    let rules = update.get("rules").map(Json::items).unwrap_or_default();
                    let list = match update.text("behavior") {
                        Some("deny") => &mut state.rules.deny,
                        Some("ask") => &mut state.rules.ask,
                        Some(_) | None => &mut state.rules.allow,
                    };
                    list.extend(rules.iter().map(Rule::from_json));
                }),
                Some(_) | None => {}
            }
        }
    }
}
