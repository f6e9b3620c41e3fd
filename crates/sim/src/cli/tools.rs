//! Tools: what happens to a call from the moment the model made it to its result.
//!
//! Calls of one answer run one after the other, each through the hooks, the permission and the tool itself. **Invariant:** a
//! tool does something only after [`Sim::mark_run`], which leaves a marker file and a record in the truth file.

use super::consent::{Consent, interrupted_meta, rejected_text};
use super::hooks::HookReply;
use super::json::{Json, obj};
use super::state::{Abort, Effect, Sim, ToolRun};
use super::turn::Turn;
use super::version::Version;

const HOOK_STOPPED: &str = "The user doesn't want to take this action right now. STOP what you are doing and wait for the user to tell you how to proceed.";

/// A call of the model.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    /// Its id.
    pub(crate) id: String,
    /// The tool.
    pub(crate) tool: String,
    /// The input.
    pub(crate) input: Json,
}

/// What a tool gives back.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Output {
    /// `content` of the result block.
    pub(crate) content: Json,
    /// How the block is written.
    pub(crate) form: Form,
    /// `tool_use_result`.
    pub(crate) structured: Json,
}

/// The three ways in which the CLI writes a result block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Id first, no error flag.
    Plain,
    /// Id first, `is_error: false`.
    Flagged,
    /// Id last, no error flag.
    Answered,
    /// Id last, `is_error: true`.
    Failed,
}

/// How the calls of one answer ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Batch {
    /// All have results.
    Done,
    /// A hook put one off.
    Deferred(Json),
}

impl Call {
    /// The entry in `permission_denials`.
    pub(crate) fn denial(&self) -> Json {
        obj! {
            "tool_name" => &self.tool,
            "tool_use_id" => &self.id,
            "tool_input" => &self.input,
        }
    }

    /// The name a person reads.
    pub(crate) fn display_name(&self) -> String {
        let Some((_, name)) = self
            .tool
            .strip_prefix("mcp__")
            .and_then(|rest| rest.split_once("__"))
        else {
            return self.tool.clone();
        };
        let mut letters = name.chars();
        letters.next().map_or(String::new(), |first| {
            first.to_uppercase().chain(letters).collect()
        })
    }
}

impl Output {
    /// A failed tool.
    pub(crate) fn failed(text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            structured: format!("Error: {text}").into(),
            content: text.into(),
            form: Form::Failed,
        }
    }

    /// A call that was refused before it reached the tool.
    pub(crate) fn misused(text: &str) -> Self {
        Self {
            content: format!("<tool_use_error>{text}</tool_use_error>").into(),
            form: Form::Failed,
            structured: if text.starts_with("Error:") {
                text.into()
            } else {
                format!("Error: {text}").into()
            },
        }
    }

    fn block(&self, id: &str) -> Json {
        let content = &self.content;
        match self.form {
            Form::Plain => {
                obj! { "tool_use_id" => id, "type" => "tool_result", "content" => content }
            }
            Form::Flagged => {
                obj! { "tool_use_id" => id, "type" => "tool_result", "content" => content, "is_error" => false }
            }
            Form::Answered => {
                obj! { "type" => "tool_result", "content" => content, "tool_use_id" => id }
            }
            Form::Failed => {
                obj! { "type" => "tool_result", "content" => content, "is_error" => true, "tool_use_id" => id }
            }
        }
    }
}

impl Sim {
    /// Runs the calls of one answer.
    pub(crate) async fn run_calls(&self, turn: &mut Turn, calls: &[Call]) -> Result<Batch, Abort> {
        let mut settled = Vec::new();
        for (index, call) in calls.iter().enumerate() {
            let run = self.run_call(turn, call).await;
            match run {
                Ok(Some(response)) => settled.push(response),
                Ok(None) => {
                    let deferred =
                        obj! { "id" => &call.id, "name" => &call.tool, "input" => &call.input };
                    return Ok(Batch::Deferred(deferred));
                }
                Err(abort) => {
                    for open in calls.iter().skip(index) {
                        self.print_rejected(turn, open);
                    }
                    return Err(abort);
                }
            }
        }
        let body = obj! { "tool_calls" => settled };
        self.call_hooks(turn, "PostToolBatch", "", body).await?;
        Ok(Batch::Done)
    }

    fn print_rejected(&self, turn: &mut Turn, call: &Call) {
        let output = Output {
            content: rejected_text().into(),
            form: Form::Failed,
            structured: "User rejected tool use".into(),
        };
        self.print_output(turn, call, &output, interrupted_meta());
    }

    /// Runs one call and gives its entry for `PostToolBatch`; nothing if a hook deferred it.
    async fn run_call(&self, turn: &mut Turn, call: &Call) -> Result<Option<Json>, Abort> {
        let Some((output, meta)) = self.settle_call(turn, call).await? else {
            return Ok(None);
        };
        self.print_output(turn, call, &output, meta);
        Ok(Some(obj! {
            "tool_name" => &call.tool,
            "tool_input" => &call.input,
            "tool_use_id" => &call.id,
            "tool_response" => &output.content,
        }))
    }

    async fn settle_call(
        &self,
        turn: &mut Turn,
        call: &Call,
    ) -> Result<Option<(Output, Json)>, Abort> {
        if let Some(refused) = self.misuse(call) {
            return Ok(Some((refused, Json::empty())));
        }
        let body = obj! { "tool_name" => &call.tool, "tool_input" => &call.input, "tool_use_id" => &call.id };
        let replies = self
            .call_hooks(turn, "PreToolUse", &call.tool, body)
            .await?;
        let consent = match hook_verdict(self.version(), &replies, call) {
            HookVerdict::Defer => return Ok(None),
            HookVerdict::None => self.consent(turn, call).await?,
            HookVerdict::Settled(consent) => {
                if matches!(consent, Consent::Refused(..)) && !timed_out(&replies) {
                    turn.denials.push(call.denial());
                }
                consent
            }
        };
        let (input, note) = match consent {
            Consent::Run(input, note) => (input, note),
            Consent::Refused(text, meta) => {
                let mut output = Output::failed(text);
                if timed_out(&replies) {
                    output.structured = "Error: undefined".into();
                }
                return Ok(Some((output, meta)));
            }
        };
        let run = Call {
            input,
            ..call.clone()
        };
        self.mark_run(&run);
        let began = self.now();
        self.with(|state| state.work.tools_running = true);
        let output = self.use_tool(turn, &run).await;
        self.with(|state| state.work.tools_running = false);
        let output = output?;
        self.after_tool(turn, &run, &output, self.now() - began)
            .await?;
        Ok(Some((output, obj! { "permission_decision" => note })))
    }

    /// Runs a call without asking anybody.
    pub(crate) async fn run_allowed(&self, turn: &mut Turn, call: &Call) {
        self.mark_run(call);
        if let Ok(output) = self.use_tool(turn, call).await {
            self.print_output(turn, call, &output, Json::empty());
        }
    }

    /// Leaves a marker and a record before the tool does anything.
    pub(crate) fn mark_run(&self, call: &Call) {
        self.with(|state| {
            state.effects.push(Effect::RunTool(ToolRun {
                id: call.id.clone(),
                tool: call.tool.clone(),
                input: call.input.clone(),
            }));
        });
    }

    async fn after_tool(
        &self,
        turn: &Turn,
        call: &Call,
        output: &Output,
        took: u64,
    ) -> Result<(), Abort> {
        let failed = output.form == Form::Failed;
        let body = if failed {
            obj! {
                "tool_name" => &call.tool,
                "tool_input" => &call.input,
                "tool_use_id" => &call.id,
                "error" => &output.content,
                "is_interrupt" => false,
                "duration_ms" => took,
            }
        } else {
            obj! {
                "tool_name" => &call.tool,
                "tool_input" => &call.input,
                "tool_response" => &output.structured,
                "tool_use_id" => &call.id,
                "duration_ms" => took,
            }
        };
        let event = if failed {
            "PostToolUseFailure"
        } else {
            "PostToolUse"
        };
        self.call_hooks(turn, event, &call.tool, body).await?;
        Ok(())
    }

    fn print_output(&self, turn: &mut Turn, call: &Call, output: &Output, meta: Json) {
        let mut more = obj! { "tool_use_result" => &output.structured };
        if self.is_325() && !meta.fields().is_empty() {
            let mut entry = obj! { "id" => &call.id };
            for (key, value) in meta.into_fields() {
                entry.set(&key, value);
            }
            more.set("tool_result_meta", vec![entry]);
        }
        turn.user_line(self, vec![output.block(&call.id)].into(), more);
    }

    /// What makes a call fail before anybody is asked.
    fn misuse(&self, call: &Call) -> Option<Output> {
        let known = self
            .version()
            .recorded("init")
            .get("tools")
            .is_some_and(|tools| {
                let names = tools.items().iter().filter_map(Json::as_text);
                names
                    .into_iter()
                    .any(|name| name == call.tool || (name == "Task" && call.tool == "Agent"))
            });
        let served = self.with(|state| {
            let names = state.mcp.iter().flat_map(super::mcp::McpServer::tool_names);
            names.into_iter().any(|name| name == call.tool)
        });
        if !known && !served && !matches!(call.tool.as_str(), "Glob" | "Grep" | "TodoWrite") {
            let text = format!("Error: No such tool available: {}", call.tool);
            return Some(Output::misused(&text));
        }
        super::files::misuse(self, call)
    }

    async fn use_tool(&self, turn: &mut Turn, call: &Call) -> Result<Output, Abort> {
        match call.tool.as_str() {
            "Bash" => self.use_bash(turn, call).await,
            "Agent" | "Task" => self.use_agent(turn, call).await,
            "Write" => Ok(self.use_write(turn, call)),
            "Edit" => Ok(self.use_edit(turn, call)),
            "Read" => Ok(self.use_read(call)),
            "AskUserQuestion" => Ok(super::question::answers(call)),
            "ExitPlanMode" => Ok(self.leave_plan(call)),
            "WebFetch" => {
                let text =
                    "Unable to verify if domain is safe to fetch. The simulator has no network.";
                Ok(Output::failed(text))
            }
            tool if tool.starts_with("mcp__") => self.use_mcp(turn, call).await,
            tool => Ok(Output {
                content: format!("[simulated] {tool}").into(),
                form: Form::Plain,
                structured: obj! { "simulated" => true },
            }),
        }
    }
}

enum HookVerdict {
    None,
    Settled(Consent),
    Defer,
}

fn timed_out(replies: &[HookReply]) -> bool {
    replies.contains(&HookReply::TimedOut)
}

fn hook_verdict(version: Version, replies: &[HookReply], call: &Call) -> HookVerdict {
    if timed_out(replies) {
        let meta = obj! { "non_execution_kind" => "user-rejected" };
        return HookVerdict::Settled(Consent::Refused(HOOK_STOPPED.to_owned(), meta));
    }
    for reply in replies {
        let reason = reply.specific("permissionDecisionReason");
        if let Some(text) = reply.block() {
            return HookVerdict::Settled(Consent::Refused(text, hook_refusal()));
        }
        match reply.specific("permissionDecision") {
            Some("deny") => {
                let text = reason.unwrap_or("Blocked by hook");
                let text = if version.is_325() {
                    format!("PreToolUse:{} hook error: {text}", call.tool)
                } else {
                    text.to_owned()
                };
                return HookVerdict::Settled(Consent::Refused(text, hook_refusal()));
            }
            Some("allow") => {
                let updated = reply
                    .output()
                    .and_then(|output| output.at(&["hookSpecificOutput", "updatedInput"]));
                let input = updated.unwrap_or(&call.input).clone();
                let note = obj! { "decision" => "accept", "source" => "hook" };
                return HookVerdict::Settled(Consent::Run(input, note));
            }
            Some("defer") => return HookVerdict::Defer,
            Some(_) | None => {}
        }
    }
    HookVerdict::None
}

fn hook_refusal() -> Json {
    obj! {
        "non_execution_kind" => "permission-rule",
        "permission_decision" => obj! { "decision" => "reject", "source" => "hook", "reason_type" => "hook" },
    }
}
