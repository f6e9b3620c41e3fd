//! The `result` line: every way a turn can end, in the field order of each version.

use super::api_errors::Refusal;
use super::json::{Json, obj};
use super::state::{Abort, Sim};
use super::turn::Turn;

/// How a turn ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Outcome {
    /// With an answer.
    Done {
        /// The last text.
        text: String,
        /// The last stop reason.
        stop: String,
    },
    /// The API refused.
    Refused(Refusal),
    /// It was cut off.
    Aborted {
        /// Why.
        abort: Abort,
        /// While tools were running or asked for.
        in_tools: bool,
    },
    /// The model wanted more answers than allowed.
    MaxTurns(u64),
    /// More money was spent than allowed.
    Budget(f64),
    /// A hook put a call off.
    Deferred(Json),
    /// No model was asked.
    Local {
        /// The text for the person.
        text: String,
        /// The slash command.
        command: Option<String>,
    },
}

/// The parts of a result that depend on the outcome.
struct Shape {
    subtype: &'static str,
    is_error: bool,
    /// `result`, or nothing if `errors` is printed instead.
    text: Option<String>,
    errors: Vec<String>,
    stop: Json,
    terminal: Option<&'static str>,
    refusal: Option<Refusal>,
    deferred: Option<Json>,
    /// No model was asked.
    local: bool,
    /// The slash command.
    command: Option<String>,
    num_turns: u64,
}

fn failed(
    subtype: &'static str,
    error: String,
    stop: Json,
    terminal: &'static str,
    num_turns: u64,
) -> Shape {
    Shape {
        subtype,
        is_error: true,
        text: None,
        errors: vec![error],
        stop,
        terminal: Some(terminal),
        refusal: None,
        deferred: None,
        local: false,
        command: None,
        num_turns,
    }
}

fn succeeded(text: String, stop: Json, terminal: Option<&'static str>, num_turns: u64) -> Shape {
    Shape {
        subtype: "success",
        is_error: false,
        text: Some(text),
        errors: Vec::new(),
        stop,
        terminal,
        refusal: None,
        deferred: None,
        local: false,
        command: None,
        num_turns,
    }
}

fn shape(sim: &Sim, turn: &Turn, outcome: Outcome) -> Shape {
    let turns = 1 + turn.user_lines;
    let stop: Json = turn.stop_reason.clone().into();
    match outcome {
        Outcome::Done { text, stop } => succeeded(text, stop.into(), Some("completed"), turns),
        Outcome::Refused(refusal) => {
            let terminal = match (refusal.too_long, sim.is_325()) {
                (true, _) => "prompt_too_long",
                (false, true) => "api_error",
                (false, false) => "completed",
            };
            let stop = "stop_sequence".into();
            let mut shape = succeeded(refusal.text.clone(), stop, Some(terminal), turns);
            shape.is_error = true;
            shape.refusal = Some(refusal);
            shape
        }
        Outcome::Aborted {
            abort: Abort::Superseded,
            in_tools: false,
        } if !sim.is_325() && !turn.cut_text.is_empty() => {
            let text = turn.cut_text.clone();
            succeeded(text, Json::Null, Some("aborted_streaming"), turns)
        }
        Outcome::Aborted {
            abort: Abort::Superseded,
            in_tools: true,
        } => succeeded(String::new(), stop, Some("aborted_tools"), turns),
        Outcome::Aborted { in_tools, .. } => {
            let terminal = if in_tools {
                "aborted_tools"
            } else {
                "aborted_streaming"
            };
            let stop = if in_tools { stop } else { Json::Null };
            let said = stop.as_text().unwrap_or("null").to_owned();
            let error = format!(
                "[ede_diagnostic] result_type=user last_content_type=n/a stop_reason={said}"
            );
            failed("error_during_execution", error, stop, terminal, turns)
        }
        Outcome::MaxTurns(most) => {
            let error = format!("Reached maximum number of turns ({most})");
            failed("error_max_turns", error, stop, "max_turns", turns)
        }
        Outcome::Budget(most) => {
            let error = format!("Reached maximum budget (${most})");
            let mut shape = failed(
                "error_max_budget_usd",
                error,
                stop,
                "budget_exhausted",
                turns,
            );
            shape.terminal = shape.terminal.filter(|_| sim.is_325());
            shape
        }
        Outcome::Deferred(call) => {
            let mut shape = succeeded(
                String::new(),
                "tool_deferred".into(),
                Some("tool_deferred"),
                1,
            );
            shape.deferred = Some(call);
            shape
        }
        Outcome::Local { text, command } => {
            let mut shape = succeeded(text, Json::Null, None, 0);
            shape.local = true;
            shape.command = command;
            shape
        }
    }
}

impl Sim {
    /// Prints the result of a turn.
    pub(crate) fn print_result(&self, turn: &Turn, outcome: Outcome) {
        if turn.uuids.len() > turn.first_messages {
            for uuid in turn.uuids.iter().skip(turn.first_messages) {
                self.print_lifecycle(Some(uuid), "completed");
            }
        }
        let shape = shape(self, turn, outcome);
        let line = if self.is_325() {
            self.result_325(turn, &shape)
        } else {
            self.result_197(turn, &shape)
        };
        self.with(|state| {
            state.totals.last_was_error = shape.is_error;
            state.totals.results += 1;
        });
        self.emit(&line);
        self.flush_record();
    }

    fn result_197(&self, turn: &Turn, shape: &Shape) -> Json {
        let version = self.version();
        let timed = !shape.local && shape.deferred.is_none();
        let answered = timed
            && shape.text.is_some()
            && turn.moments.first_block.is_some()
            && shape.refusal.is_none();
        let status = shape.refusal.as_ref().map(|refusal| refusal.status.clone());
        let is_text = shape.text.is_some();
        let dollars = self.with(|state| state.totals.dollars);
        let api_ms = self.with(|state| state.totals.api_ms);
        let since = |at: Option<u64>| at.unwrap_or(turn.started) - turn.started;
        obj! {
            "type" => "result",
            "subtype" => shape.subtype,
            "is_error" if is_text => shape.is_error,
            "api_error_status" if is_text && timed => status,
            "duration_ms" => self.now() - turn.started,
            "duration_api_ms" => api_ms,
            "ttft_ms" if answered => since(turn.moments.first_block),
            "ttft_stream_ms" if answered && turn.moments.first_content.is_some() => since(turn.moments.first_content),
            "time_to_request_ms" if answered && turn.moments.first_content.is_some() => since(turn.moments.requested),
            "is_error" if !is_text => shape.is_error,
            "num_turns" => shape.num_turns,
            "result" if is_text => shape.text.clone(),
            "stop_reason" => &shape.stop,
            "session_id" => self.session_id(),
            "total_cost_usd" => dollars,
            "usage" => super::usage::turn_usage(version, turn.requests),
            "modelUsage" => self.with(|state| state.totals.by_model(version)),
            "permission_denials" => turn.denials.clone(),
            "deferred_tool_use" if shape.deferred.is_some() => shape.deferred.clone(),
            "terminal_reason" if shape.terminal.is_some() => shape.terminal,
            "fast_mode_state" => "off",
            "origin" if turn.origin.is_some() => turn.origin.clone(),
            "uuid" => self.uuid(),
            "errors" if !is_text => shape.errors.clone(),
        }
    }

    fn result_325(&self, turn: &Turn, shape: &Shape) -> Json {
        let version = self.version();
        let local = shape.local;
        let is_text = shape.text.is_some();
        let timed = is_text && !local && shape.deferred.is_none();
        let answered = timed && turn.moments.first_block.is_some() && shape.refusal.is_none();
        let named = turn.uuids.last().is_some();
        let streamed = answered && turn.moments.first_content.is_some();
        let refusal = shape.refusal.as_ref();
        let api_ms = if local {
            0
        } else {
            self.with(|state| state.totals.api_ms)
        };
        let since = |at: Option<u64>| at.unwrap_or(turn.started) - turn.started;
        let command = shape.command.clone();
        let naming = turn.uuids.get(turn.first_messages.saturating_sub(1));
        let mut line = obj! {
            "is_error" if local => shape.is_error,
            "duration_api_ms" => api_ms,
            "num_turns" if local => shape.num_turns,
            "stop_reason" => &shape.stop,
            "session_id" => self.session_id(),
            "total_cost_usd" => self.with(|state| state.totals.dollars),
            "usage" => super::usage::turn_usage(version, turn.requests),
            "modelUsage" => self.with(|state| state.totals.by_model(version)),
            "permission_denials" => turn.denials.clone(),
            "deferred_tool_use" if shape.deferred.is_some() => shape.deferred.clone(),
            "terminal_reason" if shape.terminal.is_some() => shape.terminal,
            "fast_mode_state" => "off",
            "fast_mode_disabled_reason" => "sdk_opt_in_required",
            "origin" if turn.origin.is_some() => turn.origin.clone(),
            "subagent_stats" => self.subagent_stats(),
            "safety_stops" => 0,
            "is_error" if !local => shape.is_error,
            "num_turns" if !local => shape.num_turns,
            "subtype" => shape.subtype,
            "api_error_status" if timed => refusal.map(|refusal| refusal.status.clone()),
            "api_error_type" if refusal.is_some() => refusal.map(|refusal| refusal.etype.clone()),
            "result" if is_text => shape.text.clone(),
            "errors" if !is_text => shape.errors.clone(),
            "ttft_ms" if answered => since(turn.moments.first_block),
            "user_message_uuid" if named && (local || !is_text) => naming,
            "user_message_uuids" if named && local => turn.uuids.clone(),
            "local_command" if command.is_some() => command,
            "type" => "result",
            "duration_ms" => self.now() - turn.started,
            "uuid" => self.uuid(),
            "ttft_stream_ms" if streamed => since(turn.moments.first_content),
            "time_to_request_ms" if streamed => since(turn.moments.requested),
            "first_content_frame_ms" if streamed => since(turn.moments.first_content),
            "user_message_uuid" if named && is_text && !local => naming,
            "user_message_uuids" if named && !local => turn.uuids.clone(),
            "request_sent_wall_ms" if answered && named => turn.moments.requested,
            "first_request_input_tokens" if answered && named => super::usage::INPUT_TOKENS,
            "first_request_cache_read_input_tokens" if answered && named => 0,
            "queued_turn_count" => 0,
            "result_index" => self.with(|state| state.totals.results),
        };
        let since_last = self.with(|state| state.totals.take_since_result(version));
        line.set("model_usage_since_last_result", since_last);
        line
    }

    fn subagent_stats(&self) -> Json {
        let (spawned, completed, kinds, requested, behind) = self.with(|state| {
            let agents: Vec<&super::tasks::Task> =
                state.tasks.iter().filter(|task| task.is_agent()).collect();
            let done = agents.iter().filter(|task| task.is_done()).count();
            let mut kinds: Vec<(String, usize)> = Vec::new();
            for agent in &agents {
                let kind = agent.kind().to_owned();
                match kinds.iter_mut().find(|(name, _)| *name == kind) {
                    Some((_, count)) => *count += 1,
                    None => kinds.push((kind, 1)),
                }
            }
            let count = |told: bool, behind: bool| {
                let asked =
                    |task: &&&super::tasks::Task| task.told == told && task.behind == behind;
                agents.iter().filter(asked).count()
            };
            let requested = obj! {
                "background" => count(true, true),
                "foreground" => count(true, false),
                "unset" => count(false, true) + count(false, false),
            };
            let behind = count(true, true) + count(false, true);
            (agents.len(), done, kinds, requested, behind)
        });
        let mut stats = self.version().recorded("subagent_stats");
        if spawned > 0 {
            stats.set("spawned", spawned);
            stats.set("requested", requested);
            stats.set("started_in_background", behind);
            stats.set("max_depth", 1);
            stats.set("completed", completed);
            let by_type = kinds
                .into_iter()
                .map(|(kind, count)| (kind, count.into()))
                .collect();
            stats.set("by_type", Json::Object(by_type));
        }
        stats
    }

    /// The result of a process that could not start, printed before any input.
    pub(crate) fn print_start_failure(&self, text: &str) {
        let version = self.version();
        self.with(|state| {
            state
                .effects
                .push(super::state::Effect::Stderr(format!("{text}\n")));
        });
        let line = obj! {
            "type" => "result",
            "subtype" => "error_during_execution",
            "duration_ms" => 0,
            "duration_api_ms" => 0,
            "is_error" => true,
            "num_turns" => 0,
            "stop_reason" => Json::Null,
            "session_id" => self.session_id(),
            "total_cost_usd" => 0,
            "usage" => super::usage::turn_usage(version, 0),
            "modelUsage" => Json::empty(),
            "permission_denials" => Json::List(Vec::new()),
            "uuid" => self.uuid(),
            "errors" => vec![text],
            "result_index" if version.is_325() => 0,
        };
        self.emit(&line);
    }
}
