//! Hook callbacks: which are registered, what they are told, and what their answers do.
//!
//! Only callbacks registered through `initialize` exist here; hooks from settings files do not.

use super::json::{Json, obj};
use super::requests::Reply;
use super::state::{Abort, Answer, Sim};
use super::turn::Turn;

/// The deadline of a `UserPromptSubmit` callback; the others may take as long as they like.
const PROMPT_SECONDS: f64 = 30.0;

/// Callbacks for one event.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HookMatcher {
    event: String,
    matcher: Option<String>,
    callbacks: Vec<String>,
    timeout: Option<f64>,
}

/// One callback's verdict.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum HookReply {
    /// The hook JSON, empty if it failed.
    Output(Json),
    /// No answer in time.
    TimedOut,
}

/// Reads `hooks` of an `initialize` request.
pub(crate) fn read_hooks(hooks: &Json) -> Vec<HookMatcher> {
    let one = |event: &str, entry: &Json| HookMatcher {
        event: event.to_owned(),
        matcher: entry.text("matcher").map(str::to_owned),
        callbacks: entry
            .get("hookCallbackIds")
            .map(Json::items)
            .unwrap_or_default()
            .iter()
            .filter_map(Json::as_text)
            .map(str::to_owned)
            .collect(),
        timeout: entry.get("timeout").and_then(Json::as_f64),
    };
    hooks
        .fields()
        .iter()
        .flat_map(|(event, entries)| entries.items().iter().map(move |entry| one(event, entry)))
        .collect()
}

impl HookMatcher {
    /// Whether it listens to an event.
    pub(crate) fn is_for(&self, event: &str) -> bool {
        self.event == event
    }

    /// A matcher is a list of names with bars between them; none and `*` match everything.
    fn matches(&self, event: &str, subject: &str) -> bool {
        let names = self.matcher.as_deref().unwrap_or_default();
        self.event == event
            && (names.is_empty() || names == "*" || names.split('|').any(|name| name == subject))
    }
}

impl Sim {
    /// Calls every callback of an event that matches; in order, each before the next.
    pub(crate) async fn call_hooks(
        &self,
        turn: &Turn,
        event: &str,
        subject: &str,
        body: Json,
    ) -> Result<Vec<HookReply>, Abort> {
        self.call_hooks_for(turn, event, subject, body, None).await
    }

    /// The same about a call that the body does not name.
    pub(crate) async fn call_hooks_for(
        &self,
        turn: &Turn,
        event: &str,
        subject: &str,
        body: Json,
        call: Option<&str>,
    ) -> Result<Vec<HookReply>, Abort> {
        let matched: Vec<HookMatcher> = self.with(|state| {
            let hooks = state.hooks.iter();
            hooks
                .filter(|hook| hook.matches(event, subject))
                .cloned()
                .collect()
        });
        let mut replies = Vec::new();
        for hook in matched {
            for callback in &hook.callbacks {
                let input = self.hook_input(turn, event, &body);
                let tool_use_id = match (call.or(body.text("tool_use_id")), body.text("message_id"))
                {
                    (Some(id), _) => id.to_owned(),
                    (None, Some(id)) => format!("{id}-0"),
                    (None, None) if event == "PostToolBatch" => format!("hook-{}", self.uuid()),
                    (None, None) => self.uuid(),
                };
                let request = obj! {
                    "subtype" => "hook_callback",
                    "callback_id" => callback,
                    "input" => input,
                    "tool_use_id" => tool_use_id,
                };
                replies.push(self.call_hook(turn, event, request, hook.timeout).await?);
            }
        }
        Ok(replies)
    }

    async fn call_hook(
        &self,
        turn: &Turn,
        event: &str,
        request: Json,
        timeout: Option<f64>,
    ) -> Result<HookReply, Abort> {
        let seconds = timeout.or((event == "UserPromptSubmit").then_some(PROMPT_SECONDS));
        let reply = match seconds {
            Some(seconds) => self.ask_within(turn.scope, request, seconds).await?,
            None => Reply::Answer(self.ask(turn.scope, request).await?),
        };
        Ok(match reply {
            Reply::TimedOut => HookReply::TimedOut,
            Reply::Answer(Answer::Success(output)) => HookReply::Output(output),
            Reply::Answer(Answer::Error(_)) => HookReply::Output(Json::empty()),
        })
    }

    fn hook_input(&self, turn: &Turn, event: &str, body: &Json) -> Json {
        let setup = self.setup();
        let (id, mode) = self.with(|state| (state.chat.id.clone(), state.chat.mode.clone()));
        let with_mode = !matches!(
            event,
            "MessageDisplay"
                | "PreCompact"
                | "PostCompact"
                | "SessionStart"
                | "StopFailure"
                | "SubagentStart"
        );
        let with_effort = (with_mode && event != "UserPromptSubmit") || event == "StopFailure";
        let agent = turn.agent();
        let mut input = obj! {
            "session_id" => &id,
            "transcript_path" => super::store::transcript_path(&setup.env, &id),
            "cwd" => &setup.env.cwd,
            "prompt_id" => &turn.prompt_id,
            "permission_mode" if with_mode => mode,
            "agent_id" if agent.is_some() => agent.map(|agent| agent.agent_id.clone()),
            "agent_type" if agent.is_some() => agent.map(|agent| agent.kind.clone()),
            "effort" if with_effort => obj! { "level" => setup.version.effort() },
            "hook_event_name" => event,
        };
        for (key, value) in body.fields() {
            input.set(key, value);
        }
        input
    }
}

impl HookReply {
    /// The hook JSON, if it came.
    pub(crate) fn output(&self) -> Option<&Json> {
        match self {
            Self::Output(output) => Some(output),
            Self::TimedOut => None,
        }
    }

    /// `hookSpecificOutput.<key>` as a string.
    pub(crate) fn specific(&self, key: &str) -> Option<&str> {
        self.output()?.at(&["hookSpecificOutput", key])?.as_text()
    }

    /// The reason of `{"decision":"block"}`, if it says so.
    pub(crate) fn block(&self) -> Option<String> {
        let output = self.output()?;
        let blocked = output.text("decision") == Some("block");
        blocked.then(|| {
            output
                .text("reason")
                .unwrap_or("Blocked by hook")
                .to_owned()
        })
    }
}
