//! Playing turns: taking messages from the queue, asking the model until it is done, printing the result.
//!
//! One flow runs here from start to end of the process. It takes what is due (a prompt, an ended task, the end of the input)
//! and plays it; everything that happens meanwhile goes on in the other flows.

use super::cursor::Cursor;
use super::json::{Json, obj};
use super::model::Reply;
use super::queue::Due;
use super::result::Outcome;
use super::state::{Abort, Queued, Sim};
use super::tools::Batch;
use super::turn::{Turn, Voice};

/// Prints the line that says a turn was cut off.
pub(crate) fn print_interrupted(sim: &Sim, turn: &mut Turn, text: &str) {
    let content = vec![super::model::text_block(text)];
    turn.user_line(sim, content.into(), Json::empty());
}

/// The flow of the whole session.
pub(crate) async fn session(sim: Sim) {
    let mut cursor = Cursor::default();
    loop {
        let due = sim.until(super::queue::due).await;
        match due {
            Due::Prompt(batch) => play_prompt(&sim, batch, &mut cursor).await,
            Due::Notice(notice) => play_notice(&sim, notice, &mut cursor).await,
            Due::Leave => break,
        }
    }
    sim.end_process();
}

async fn play_prompt(sim: &Sim, batch: Vec<Queued>, cursor: &mut Cursor) {
    let uuids: Vec<String> = batch
        .iter()
        .filter_map(|message| message.uuid.clone())
        .collect();
    let mut turn = sim.open_turn(uuids);
    let merged = super::queue::merge(sim, &mut turn, &batch);
    let text = super::queue::text_of(&merged);
    let query = batch.iter().all(|message| message.query);
    let outcome = if !query {
        sim.print_init();
        turn.echo(sim);
        Outcome::Local {
            text: String::new(),
            command: None,
        }
    } else if let Some(outcome) = sim.slash(&mut turn, &text).await {
        outcome
    } else {
        *cursor = Cursor::read(&text, sim.setup().env.is_on(super::state::Switch::Plain));
        play(sim, &mut turn, cursor, &text).await
    };
    sim.close_turn(&turn, outcome);
}

async fn play_notice(sim: &Sim, notice: Json, cursor: &mut Cursor) {
    let mut turn = sim.open_turn(Vec::new());
    turn.origin = Some(notice);
    let outcome = if sim.is_325() {
        // The newer CLI shows the notification to the prompt hooks.
        play(sim, &mut turn, cursor, "<task-notification>").await
    } else {
        sim.print_init();
        ask_model(sim, &mut turn, cursor).await
    };
    sim.close_turn(&turn, outcome);
}

async fn play(sim: &Sim, turn: &mut Turn, cursor: &mut Cursor, text: &str) -> Outcome {
    match sim.submit_prompt(turn, text).await {
        Ok(None) => {}
        Ok(Some(blocked)) => return blocked,
        Err(abort) => return aborted(sim, turn, abort, Cut::Streaming),
    }
    sim.print_init();
    ask_model(sim, turn, cursor).await
}

/// Where a turn was cut off.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cut {
    Streaming,
    Tools,
}

/// Asks until an answer has no more calls.
async fn ask_model(sim: &Sim, turn: &mut Turn, cursor: &mut Cursor) -> Outcome {
    let setup = sim.setup();
    let mut stop_hook_active = false;
    loop {
        if let Some(outcome) = sim.over_budget() {
            sim.print_requesting(&turn.uuids);
            turn.stop_reason = None;
            return outcome;
        }
        let before = turn.user_lines;
        let said = match sim.request(turn, cursor).await {
            Ok(Reply::Answer(said)) => said,
            Ok(Reply::Refused(refusal)) => return Outcome::Refused(refusal),
            Err(abort) => {
                // A cut text has already been printed with its line.
                let printed = turn.user_lines > before;
                if !printed && abort == Abort::Interrupt {
                    turn.echo(sim);
                    print_interrupted(sim, turn, "[Request interrupted by user]");
                }
                return aborted(sim, turn, abort, Cut::Streaming);
            }
        };
        if let Some(outcome) = sim.over_budget() {
            return outcome;
        }
        if said.calls.is_empty() {
            if said.stop == "max_tokens" {
                sim.print_resume_hint(turn);
                continue;
            }
            match sim
                .stop_hooks(turn, said.text.as_deref(), stop_hook_active)
                .await
            {
                Ok(true) => {
                    stop_hook_active = true;
                    continue;
                }
                Ok(false) => {}
                Err(abort) => return aborted(sim, turn, abort, Cut::Streaming),
            }
            let text = said.text.unwrap_or_default();
            return Outcome::Done {
                text,
                stop: said.stop,
            };
        }
        match sim.run_calls(turn, &said.calls).await {
            Ok(Batch::Done) => {}
            Ok(Batch::Deferred(call)) => return Outcome::Deferred(call),
            Err(abort) => return aborted(sim, turn, abort, Cut::Tools),
        }
        if setup
            .args
            .max_turns
            .is_some_and(|most| turn.requests >= most)
        {
            return Outcome::MaxTurns(setup.args.max_turns.unwrap_or_default());
        }
        let superseded = sim.with(|state| std::mem::take(&mut state.work.ends_after_tools));
        if superseded {
            return aborted(sim, turn, Abort::Superseded, Cut::Tools);
        }
        super::queue::fold(sim, turn);
    }
}

fn aborted(sim: &Sim, turn: &mut Turn, abort: Abort, cut: Cut) -> Outcome {
    if cut == Cut::Tools && abort == Abort::Interrupt {
        print_interrupted(sim, turn, "[Request interrupted by user for tool use]");
    }
    Outcome::Aborted {
        abort,
        in_tools: cut == Cut::Tools,
    }
}

impl Sim {
    /// Starts a turn.
    pub(crate) fn open_turn(&self, uuids: Vec<String>) -> Turn {
        let scope = self.with(|state| {
            let scope = state.open_scope();
            state.work.turn = Some(scope);
            state.work.turn_uuids.clone_from(&uuids);
            scope
        });
        Turn::new(self, scope, Voice::Main, uuids)
    }

    /// Prints the result and ends a turn.
    fn close_turn(&self, turn: &Turn, outcome: Outcome) {
        let cancelled = matches!(
            outcome,
            Outcome::Aborted { .. } | Outcome::Refused(_) | Outcome::Budget(_)
        );
        self.print_result(turn, outcome);
        self.with(|state| {
            state.work.turn = None;
            state.work.turn_uuids.clear();
        });
        let end = if cancelled { "cancelled" } else { "completed" };
        for uuid in turn.uuids.iter().take(turn.first_messages) {
            self.print_lifecycle(Some(uuid), end);
        }
        let idle =
            self.with(|state| state.inbox.queue.is_empty() && state.inbox.notices.is_empty());
        if idle {
            self.print_state("idle");
        }
    }

    /// Calls `UserPromptSubmit`; an outcome means that the prompt was blocked.
    async fn submit_prompt(&self, turn: &Turn, text: &str) -> Result<Option<Outcome>, Abort> {
        let body = obj! { "prompt" => text };
        let replies = self.call_hooks(turn, "UserPromptSubmit", "", body).await?;
        if replies.contains(&super::hooks::HookReply::TimedOut) {
            if !self.is_325() {
                self.with(|state| state.effects.push(super::state::Effect::Exit(1)));
            }
            return Ok(Some(Outcome::Local {
                text: String::new(),
                command: None,
            }));
        }
        Ok(replies
            .iter()
            .find_map(super::hooks::HookReply::block)
            .map(|reason| Outcome::Local {
                text: format!("Operation stopped by hook: {reason}"),
                command: None,
            }))
    }

    /// Calls `Stop`; true if the turn must go on.
    async fn stop_hooks(
        &self,
        turn: &mut Turn,
        text: Option<&str>,
        active: bool,
    ) -> Result<bool, Abort> {
        let body = obj! {
            "stop_hook_active" => active,
            "last_assistant_message" => text.unwrap_or_default(),
            "background_tasks" => self.with(|state| super::tasks::for_hooks(&state.tasks)),
            "session_crons" => Json::List(Vec::new()),
        };
        let replies = self.call_hooks(turn, "Stop", "", body).await?;
        let Some(reason) = replies.iter().find_map(super::hooks::HookReply::block) else {
            return Ok(false);
        };
        let content = vec![super::model::text_block(&format!(
            "Stop hook feedback:\n{reason}"
        ))];
        turn.user_line(self, content.into(), obj! { "isSynthetic" => true });
        self.print_system(
            "notification",
            obj! {
                "key" => "stop-hook-error",
                "text" => "Stop hook error occurred · ctrl+o to see",
                "priority" => "immediate",
            },
        );
        Ok(true)
    }

    fn print_resume_hint(&self, turn: &mut Turn) {
        if self.is_325() {
            let text = "Output token limit hit. Resume directly — no apology, no recap of what you were doing. Pick up mid-thought if that is where the cut happened. Break remaining work into smaller pieces.";
            let content = vec![super::model::text_block(text)];
            turn.user_line(self, content.into(), obj! { "isSynthetic" => true });
        }
    }

    fn over_budget(&self) -> Option<Outcome> {
        let most = self.setup().args.max_budget?;
        let spent = self.with(|state| state.totals.dollars);
        (spent >= most).then_some(Outcome::Budget(most))
    }
}
