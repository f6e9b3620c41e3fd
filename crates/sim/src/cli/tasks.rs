//! Commands and background tasks: `Bash` in the foreground and behind, moving one behind the other, stopping it.
//!
//! A task's command is only pretended (see [`super::bash`]); what is real is its time and everything it prints about itself.

use super::bash;
use super::json::{Json, obj};
use super::state::{Abort, Scope, Sim, State};
use super::store::task_output_path;
use super::tools::{Call, Form, Output};
use super::turn::Turn;

/// A foreground command gets a task of its own after this long.
const TASK_AFTER_MS: u64 = 3000;
/// How long 2.1.197 waits for a background command once the input has ended.
pub(crate) const LEAVE_AFTER_MS: u64 = 5000;

/// A piece of background work.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Task {
    /// Its id.
    pub(crate) id: String,
    /// The id of this run of it.
    pub(crate) run: String,
    /// The call that started it.
    pub(crate) tool_use_id: String,
    /// What it does.
    pub(crate) description: String,
    /// The type of the sub-agent, if it is one.
    pub(crate) agent: Option<String>,
    /// Whether the model said where it should run.
    pub(crate) told: bool,
    /// Whether the turn no longer waits for it.
    pub(crate) behind: bool,
    /// What stops it.
    pub(crate) scope: Scope,
    /// Whether it has ended.
    pub(crate) done: bool,
}

impl Task {
    /// Whether it is a sub-agent.
    pub(crate) fn is_agent(&self) -> bool {
        self.agent.is_some()
    }

    /// The type of the sub-agent.
    pub(crate) fn kind(&self) -> &str {
        self.agent.as_deref().unwrap_or_default()
    }

    /// Whether it has ended.
    pub(crate) fn is_done(&self) -> bool {
        self.done
    }

    /// Whether it runs behind the conversation.
    pub(crate) fn runs_behind(&self) -> bool {
        self.behind && !self.done
    }
}

/// The running background tasks as hooks are told.
pub(crate) fn for_hooks(tasks: &[Task]) -> Json {
    let entries = tasks.iter().filter(|task| task.runs_behind()).map(|task| {
        obj! {
            "id" => &task.id,
            "type" => if task.is_agent() { "subagent" } else { "shell" },
            "status" => "running",
            "description" => &task.description,
            "agent_type" if task.is_agent() => task.kind(),
        }
    });
    Json::List(entries.collect())
}

/// The running background tasks as they are listed.
fn listed(tasks: &[Task]) -> Json {
    let entries = tasks.iter().filter(|task| task.runs_behind()).map(|task| {
        let kind = if task.is_agent() {
            "local_agent"
        } else {
            "local_bash"
        };
        obj! {
            "task_id" => &task.id,
            "run_id" => &task.run,
            "task_type" => kind,
            "subagent_type" if task.is_agent() => task.kind(),
            "description" => &task.description,
        }
    });
    Json::List(entries.collect())
}

impl Sim {
    /// `Bash`.
    pub(crate) async fn use_bash(&self, turn: &Turn, call: &Call) -> Result<Output, Abort> {
        let command = call.input.text("command").unwrap_or_default();
        let outcome = bash::pretend(command);
        if call.input.flag("run_in_background") {
            return Ok(self.start_behind(call, &outcome));
        }
        let due = self.now() + self.scaled(outcome.sleep_ms);
        let task_due = self.now() + self.scaled(TASK_AFTER_MS);
        if due > task_due {
            self.wait_for(turn.scope, task_due).await?;
            return self.wait_as_task(turn, call, &outcome, due).await;
        }
        self.wait_for(turn.scope, due).await?;
        Ok(bash_output(&outcome))
    }

    async fn wait_for(&self, scope: Scope, due: u64) -> Result<(), Abort> {
        self.until_in(scope, |state| {
            state.wake_at(due);
            (state.now >= due).then_some(())
        })
        .await
    }

    fn command_task(&self, call: &Call, behind: bool) -> Task {
        let command = call.input.text("command").unwrap_or_default();
        let described = call.input.text("description").unwrap_or(command);
        self.with(|state| Task {
            id: state.ids.shell_task(),
            run: state.ids.run(),
            tool_use_id: call.id.clone(),
            description: described.to_owned(),
            agent: None,
            told: true,
            behind,
            scope: state.open_scope(),
            done: false,
        })
    }

    /// A long command is a task that can be moved behind the conversation or stopped.
    async fn wait_as_task(
        &self,
        turn: &Turn,
        call: &Call,
        outcome: &bash::Outcome,
        due: u64,
    ) -> Result<Output, Abort> {
        let task = self.command_task(call, false);
        self.start_task(&task, None);
        let (id, scope) = (task.id.clone(), task.scope);
        let ended = self
            .until_in(turn.scope, |state| {
                state.wake_at(due);
                let moved = state
                    .tasks
                    .iter()
                    .any(|known| known.id == id && known.behind);
                let stopped = state.work.aborted.contains_key(&scope);
                (moved || stopped || state.now >= due).then_some((moved, stopped))
            })
            .await;
        let Ok((moved, stopped)) = ended else {
            self.with(|state| end_task(state, &id));
            return Err(Abort::Interrupt);
        };
        if stopped {
            return Ok(Output::failed("Exit code 137"));
        }
        if !moved {
            self.with(|state| end_task(state, &id));
            return Ok(bash_output(outcome));
        }
        self.watch_command(task.clone(), outcome.code, due);
        let path = self.with(|state| task_output_path(state, &id));
        let said = format!(
            "Command was manually backgrounded by user with ID: {id}. Output is being written to: {path}"
        );
        Ok(behind_output(&id, said, true))
    }

    fn start_behind(&self, call: &Call, outcome: &bash::Outcome) -> Output {
        let task = self.command_task(call, true);
        self.start_task(&task, None);
        let due = self.now() + self.scaled(outcome.sleep_ms);
        let id = task.id.clone();
        self.watch_command(task, outcome.code, due);
        let path = self.with(|state| task_output_path(state, &id));
        let said = format!(
            "Command running in background with ID: {id}. Output is being written to: {path}. You will be notified when it completes. To check interim output, use Read on that file path."
        );
        behind_output(&id, said, false)
    }

    /// Prints that a task started.
    pub(crate) fn start_task(&self, task: &Task, prompt: Option<&str>) {
        self.with(|state| state.tasks.push(task.clone()));
        let newer = self.is_325();
        if task.behind {
            self.print_tasks();
        }
        let agent = task.agent.as_ref();
        let kind = if agent.is_some() {
            "local_agent"
        } else {
            "local_bash"
        };
        self.print_system(
            "task_started",
            obj! {
                "task_id" => &task.id,
                "run_id" if newer => &task.run,
                "tool_use_id" => &task.tool_use_id,
                "description" => &task.description,
                "subagent_type" if agent.is_some() => agent,
                "is_backgrounded" if newer => task.behind,
                "spawn_depth" if newer && agent.is_some() => 1,
                "task_type" => kind,
                "prompt" if prompt.is_some() => prompt,
            },
        );
    }

    /// Prints `background_tasks_changed`.
    pub(crate) fn print_tasks(&self) {
        if self.is_325() {
            let tasks = self.with(|state| listed(&state.tasks));
            self.print_system("background_tasks_changed", obj! { "tasks" => tasks });
        }
    }

    fn watch_command(&self, task: Task, code: i32, due: u64) {
        let sim = self.clone();
        self.spawn(async move {
            if sim.wait_for(task.scope, due).await.is_err() {
                return;
            }
            let words = escape(&task.description);
            let (status, ending) = if code == 0 {
                ("completed", format!("completed (exit code {code})"))
            } else {
                ("failed", format!("failed with exit code {code}"))
            };
            let summary = format!("Background command \"{words}\" {ending}");
            sim.finish_task(&task, status, &summary, None);
        });
    }

    /// Prints that a task ended and makes its turn due.
    pub(crate) fn finish_task(
        &self,
        task: &Task,
        status: &str,
        summary: &str,
        usage: Option<Json>,
    ) {
        let behind = self.with(|state| {
            let behind = state
                .tasks
                .iter()
                .any(|known| known.id == task.id && known.behind);
            end_task(state, &task.id);
            behind
        });
        self.print_task_end(task, status, status, summary, usage);
        if behind {
            self.print_tasks();
            let mut origin = obj! { "kind" => "task-notification" };
            if self.is_325() {
                origin.set("producer", "session-task");
                origin.set("runId", &task.run);
            }
            self.with(|state| state.inbox.notices.push_back(origin));
        }
    }

    fn print_task_end(
        &self,
        task: &Task,
        updated: &str,
        notified: &str,
        summary: &str,
        usage: Option<Json>,
    ) {
        let newer = self.is_325();
        let end_time = self.now();
        let patch = obj! { "status" => updated, "end_time" => end_time };
        self.print_system(
            "task_updated",
            obj! { "task_id" => &task.id, "run_id" if newer => &task.run, "patch" => patch },
        );
        let killed = updated == "killed";
        let in_front = task.is_agent() && !task.behind;
        let output_file = if !newer && (killed || in_front) {
            String::new()
        } else {
            self.with(|state| task_output_path(state, &task.id))
        };
        self.print_system(
            "task_notification",
            obj! {
                "task_id" => &task.id,
                "run_id" if newer => &task.run,
                "tool_use_id" => &task.tool_use_id,
                "status" => notified,
                "output_file" => output_file,
                "summary" => summary,
                "usage" if usage.is_some() => usage,
            },
        );
    }

    /// Stops a task; an unknown one is no error.
    pub(crate) fn stop_task(&self, id: &str) {
        let found = self.with(|state| {
            let task = state
                .tasks
                .iter()
                .find(|task| task.id == id && !task.done)
                .cloned();
            if let Some(task) = &task {
                state.work.aborted.insert(task.scope, Abort::Stopped);
                end_task(state, id);
            }
            task
        });
        let Some(task) = found else {
            return;
        };
        self.cancel_requests(|pending| pending.scope == task.scope);
        self.print_task_end(&task, "killed", "stopped", &task.description, None);
        if task.behind {
            self.print_tasks();
        }
    }

    /// Moves foreground commands behind the conversation.
    pub(crate) fn move_behind(&self, tool_use_id: Option<&str>) {
        let moved: Vec<Task> = self.with(|state| {
            let mut moved = Vec::new();
            for task in &mut state.tasks {
                let named = tool_use_id.is_none_or(|id| id == task.tool_use_id);
                if !task.behind && !task.done && named && !task.is_agent() {
                    task.behind = true;
                    moved.push(task.clone());
                }
            }
            moved
        });
        for task in moved {
            self.print_tasks();
            let patch = obj! { "is_backgrounded" => true };
            let newer = self.is_325();
            self.print_system(
                "task_updated",
                obj! { "task_id" => &task.id, "run_id" if newer => &task.run, "patch" => patch },
            );
        }
    }

    /// Stops what still runs and exits.
    pub(crate) fn end_process(&self) {
        let left: Vec<String> = self.with(|state| {
            let running = state.tasks.iter().filter(|task| task.runs_behind());
            running.map(|task| task.id.clone()).collect()
        });
        for id in left {
            self.stop_task(&id);
        }
        self.flush_record();
        self.with(|state| {
            let code = i32::from(state.totals.last_was_error);
            state.effects.push(super::state::Effect::Exit(code));
        });
    }
}

fn end_task(state: &mut State, id: &str) {
    for task in state.tasks.iter_mut().filter(|task| task.id == id) {
        task.done = true;
    }
}

fn bash_output(outcome: &bash::Outcome) -> Output {
    if outcome.code != 0 {
        let text = format!("Exit code {}\n{}", outcome.code, outcome.stdout);
        return Output::failed(text.trim_end());
    }
    let said = if outcome.stdout.is_empty() {
        "(Bash completed with no output)"
    } else {
        &outcome.stdout
    };
    Output {
        content: said.into(),
        form: Form::Flagged,
        structured: obj! {
            "stdout" => &outcome.stdout,
            "stderr" => "",
            "interrupted" => false,
            "isImage" => false,
            "noOutputExpected" => outcome.silent,
        },
    }
}

fn behind_output(id: &str, said: String, by_user: bool) -> Output {
    Output {
        content: said.into(),
        form: Form::Flagged,
        structured: obj! {
            "stdout" => "",
            "stderr" => "",
            "interrupted" => false,
            "isImage" => false,
            "noOutputExpected" => false,
            "backgroundTaskId" => id,
            "backgroundedByUser" if by_user => true,
        },
    }
}

/// The summary goes to the model inside of tags.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
