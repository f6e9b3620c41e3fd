//! Sub-agents: a conversation of their own inside a call, in the foreground or behind.

use super::cursor::Cursor;
use super::json::{Json, obj};
use super::model::Reply;
use super::state::{Abort, Sim};
use super::tasks::Task;
use super::tools::{Call, Form, Output};
use super::turn::{AgentVoice, Turn, Voice};

/// Most answers of one sub-agent; its script ends long before.
const MOST_ANSWERS: usize = 1000;

impl Sim {
    /// `Agent`. 2.1.325 runs it behind the conversation unless told not to, 2.1.197 only when told to.
    pub(crate) async fn use_agent(&self, turn: &Turn, call: &Call) -> Result<Output, Abort> {
        let told = call.input.get("run_in_background").is_some();
        let behind = if told {
            call.input.flag("run_in_background")
        } else {
            self.is_325()
        };
        let behind = turn.is_main() && behind;
        let prompt = call.input.text("prompt").unwrap_or_default().to_owned();
        let task = self.agent_task(turn, call, behind);
        self.start_task(&task, Some(&prompt));
        let voice = Voice::Agent(AgentVoice {
            tool_use_id: call.id.clone(),
            agent_id: task.id.clone(),
            kind: task.kind().to_owned(),
            description: task.description.clone(),
            behind,
        });
        let inner = Turn::new(self, task.scope, voice, Vec::new());
        self.call_hooks(&inner, "SubagentStart", task.kind(), Json::empty())
            .await?;
        if behind {
            let sim = self.clone();
            let (spawned, text) = (task.clone(), prompt.clone());
            self.spawn(async move { sim.run_behind(spawned, inner, &text).await });
            return Ok(self.launched(&task, &prompt));
        }
        self.run_in_front(&task, inner, &prompt).await
    }

    fn agent_task(&self, turn: &Turn, call: &Call, behind: bool) -> Task {
        let kind = call
            .input
            .text("subagent_type")
            .unwrap_or("general-purpose");
        let description = call.input.text("description").unwrap_or("sub-agent");
        self.with(|state| Task {
            id: state.ids.agent(),
            run: state.ids.run(),
            tool_use_id: call.id.clone(),
            description: description.to_owned(),
            agent: Some(kind.to_owned()),
            told: call.input.get("run_in_background").is_some(),
            behind,
            scope: if behind {
                state.open_scope()
            } else {
                turn.scope
            },
            done: false,
        })
    }

    async fn run_behind(&self, task: Task, mut turn: Turn, prompt: &str) {
        let began = self.now();
        let Ok((text, uses)) = self.agent_answers(&task, &mut turn, prompt).await else {
            return;
        };
        let summary = if self.is_325() {
            text
        } else {
            format!("Agent \"{}\" finished", task.description)
        };
        let usage = self.agent_usage(&turn, uses, began);
        self.finish_task(&task, "completed", &summary, Some(usage));
    }

    async fn run_in_front(
        &self,
        task: &Task,
        mut turn: Turn,
        prompt: &str,
    ) -> Result<Output, Abort> {
        let began = self.now();
        let content = vec![super::model::text_block(prompt)];
        turn.user_line(self, content.into(), Json::empty());
        let (text, uses) = self.agent_answers(task, &mut turn, prompt).await?;
        let usage = self.agent_usage(&turn, uses, began);
        let took = self.now() - began;
        let newer = self.is_325();
        let summary = if newer { &text } else { &task.description };
        self.finish_task(task, "completed", summary, Some(usage));
        let tokens = super::usage::INPUT_TOKENS + super::usage::OUTPUT_TOKENS;
        let id = &task.id;
        let told = format!(
            "agentId: {id} (use SendMessage with to: '{id}', summary: '<5-10 word recap>' to continue this agent)\n<usage>subagent_tokens: {tokens}\ntool_uses: {uses}\nduration_ms: {took}</usage>"
        );
        let content = if newer {
            vec![super::model::text_block(&format!("{text}\n{told}"))]
        } else {
            vec![
                super::model::text_block(&text),
                super::model::text_block(&told),
            ]
        };
        let none: Vec<Json> = Vec::new();
        let tools = if uses > 0 {
            vec![Json::from("Bash")]
        } else {
            none
        };
        // To a host that hears its sub-agents the newer CLI notes the tools in front of the report.
        let noted = newer && uses > 0 && self.with(|state| state.agent_text);
        let before = "<tools-used-before-summary>Bash</tools-used-before-summary>\n";
        let before = noted.then(|| super::model::text_block(before));
        let report: Vec<Json> = before
            .into_iter()
            .chain([super::model::text_block(&text)])
            .collect();
        Ok(Output {
            content: content.into(),
            form: Form::Plain,
            structured: obj! {
                "status" => "completed",
                "prompt" => prompt,
                "agentId" => id,
                "agentType" => task.kind(),
                "toolsUsed" if newer => tools,
                "harnessNoteCount" if newer => u64::from(noted),
                "harnessTailCount" if newer => 0,
                "harnessSectionHash" if newer => self.with(|state| state.ids.agent()[1..].to_owned()),
                "content" => report,
                "resolvedModel" => self.with(|state| state.chat.model.clone()),
                "totalDurationMs" => took,
                "totalTokens" => tokens,
                "totalToolUseCount" => uses,
                "usage" => super::usage::agent_usage(self.version()),
                "toolStats" if uses > 0 => obj! {
                    "readCount" => 0,
                    "searchCount" => 0,
                    "bashCount" => uses,
                    "editFileCount" => 0,
                    "linesAdded" => 0,
                    "linesRemoved" => 0,
                    "otherToolCount" => 0,
                },
                "canContinueAgent" if newer => true,
            },
        })
    }

    /// Lets the sub-agent answer until it has nothing more to call.
    async fn agent_answers(
        &self,
        task: &Task,
        turn: &mut Turn,
        prompt: &str,
    ) -> Result<(String, usize), Abort> {
        let mut cursor = Cursor::read(prompt, true);
        for _ in 0..MOST_ANSWERS {
            let said = match self.request(turn, &mut cursor).await? {
                Reply::Answer(said) => said,
                Reply::Refused(refusal) => return Ok((refusal.text, turn.uses)),
            };
            if said.calls.is_empty() {
                let text = said.text.unwrap_or_default();
                self.agent_stopped(turn, &text).await?;
                return Ok((text, turn.uses));
            }
            for call in &said.calls {
                if task.behind {
                    turn.uses += 1;
                    self.print_progress(task, turn, &call.tool, &call.input);
                }
                // A sub-agent inside a sub-agent runs in the foreground, so the future must be boxed.
                Box::pin(self.run_calls(turn, std::slice::from_ref(call))).await?;
            }
        }
        Ok((String::new(), turn.uses))
    }

    pub(crate) async fn agent_stopped(&self, turn: &Turn, text: &str) -> Result<(), Abort> {
        let setup = self.setup();
        let (id, agent) = (self.session_id(), turn.agent());
        let agent_id = agent
            .map(|agent| agent.agent_id.clone())
            .unwrap_or_default();
        let dir = super::store::project_dir(&setup.env);
        let body = obj! {
            "stop_hook_active" => false,
            "agent_transcript_path" => format!("{dir}/{id}/subagents/agent-{agent_id}.jsonl"),
            "last_assistant_message" => text,
            "background_tasks" => self.with(|state| super::tasks::for_hooks(&state.tasks)),
            "session_crons" => Json::List(Vec::new()),
        };
        let kind = agent.map(|agent| agent.kind.clone()).unwrap_or_default();
        self.call_hooks(turn, "SubagentStop", &kind, body).await?;
        Ok(())
    }

    /// A sub-agent in the foreground tells of its progress before it shows the call.
    pub(crate) fn print_progress_before(&self, turn: &mut Turn, block: &Json) {
        let Some(tool) = block.text("name") else {
            return;
        };
        let task = turn
            .agent()
            .filter(|agent| !agent.behind)
            .and_then(|agent| {
                let known = |task: &&Task| task.id == agent.agent_id;
                self.with(|state| state.tasks.iter().find(known).cloned())
            });
        if let Some(task) = task {
            turn.uses += 1;
            let input = block.get("input").cloned().unwrap_or_default();
            self.print_progress(&task, turn, tool, &input);
        }
    }

    fn print_progress(&self, task: &Task, turn: &Turn, tool: &str, input: &Json) {
        let newer = self.is_325();
        let subject = input.text("command").or_else(|| input.text("file_path"));
        let doing = match (tool, subject) {
            ("Bash", Some(command)) => format!("Running {command}"),
            (tool, Some(path)) => format!("{tool} {path}"),
            (tool, None) => tool.to_owned(),
        };
        self.print_system(
            "task_progress",
            obj! {
                "task_id" => &task.id,
                "run_id" if newer => &task.run,
                "tool_use_id" => &task.tool_use_id,
                "description" => doing,
                "subagent_type" => task.kind(),
                "usage" => self.agent_usage(turn, turn.uses, turn.started),
                "last_tool_name" => tool,
            },
        );
    }

    fn agent_usage(&self, turn: &Turn, uses: usize, began: u64) -> Json {
        let tokens = super::usage::INPUT_TOKENS + super::usage::OUTPUT_TOKENS;
        obj! {
            "total_tokens" => if turn.requests == 0 { 0 } else { tokens },
            "tool_uses" => uses,
            "duration_ms" => self.now() - began,
        }
    }

    fn launched(&self, task: &Task, prompt: &str) -> Output {
        let id = &task.id;
        let path = self.with(|state| super::store::task_output_path(state, id));
        let told = format!(
            "Async agent launched successfully.\nagentId: {id} (internal ID - do not mention to user.)\noutput_file: {path}"
        );
        let newer = self.is_325();
        Output {
            content: vec![super::model::text_block(&told)].into(),
            form: Form::Plain,
            structured: obj! {
                "isAsync" => true,
                "status" => "async_launched",
                "agentId" => id,
                "description" => &task.description,
                "resolvedModel" => self.with(|state| state.chat.model.clone()),
                "prompt" => prompt,
                "outputFile" => path,
                "canReadOutputFile" => true,
                "canContinueAgent" if newer => true,
            },
        }
    }
}
