//! Requests of the CLI to its host: sending them, waiting for the answer, taking them back.

use super::json::{Json, obj};
use super::state::{Abort, Answer, Effect, Pending, Scope, Sim};
use super::tools::Call;
use super::truth::checksum;
use super::turn::{Turn, Voice};

/// How an asked host answered.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Reply {
    /// It answered.
    Answer(Answer),
    /// It did not in time.
    TimedOut,
}

impl Sim {
    /// Asks the host and waits for its answer.
    pub(crate) async fn ask(&self, scope: Scope, request: Json) -> Result<Answer, Abort> {
        let id = self.send_request(scope, request);
        self.until_in(scope, |state| state.answers.remove(&id))
            .await
    }

    /// The same with a deadline in seconds, after which the request is taken back.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "seconds of a hook"
    )]
    pub(crate) async fn ask_within(
        &self,
        scope: Scope,
        request: Json,
        seconds: f64,
    ) -> Result<Reply, Abort> {
        let id = self.send_request(scope, request);
        let due = self.now() + self.scaled((seconds * 1000.0) as u64);
        let reply = self
            .until_in(scope, |state| {
                if let Some(answer) = state.answers.remove(&id) {
                    return Some(Reply::Answer(answer));
                }
                state.wake_at(due);
                (state.now >= due).then_some(Reply::TimedOut)
            })
            .await?;
        if reply == Reply::TimedOut {
            self.cancel_requests(|pending| pending.id == id);
        }
        Ok(reply)
    }

    /// Prints a request and remembers that it is open.
    pub(crate) fn send_request(&self, scope: Scope, request: Json) -> String {
        let id = self.uuid();
        let line = obj! {
            "type" => "control_request",
            "request_id" => &id,
            "request" => request,
        };
        self.with(|state| {
            let subtype = line.at(&["request", "subtype"]).cloned();
            if subtype.as_ref().and_then(Json::as_text) == Some("can_use_tool") {
                let part = |key: &str| line.at(&["request", key]).cloned().unwrap_or_default();
                let fact = obj! {
                    "request_id" => &id,
                    "tool_use_id" => part("tool_use_id"),
                    "tool" => part("tool_name"),
                    "input_fnv" => checksum(part("input").to_string().as_bytes()),
                };
                state.effects.push(Effect::Fact("ask", fact));
            }
            state.pending.push(Pending {
                id: id.clone(),
                scope,
                line: line.clone(),
            });
        });
        self.emit(&line);
        id
    }

    /// Takes open requests back.
    pub(crate) fn cancel_requests(&self, chosen: impl Fn(&Pending) -> bool) {
        let ids: Vec<String> = self.with(|state| {
            let (cancelled, kept) = std::mem::take(&mut state.pending)
                .into_iter()
                .partition(|pending| chosen(pending));
            state.pending = kept;
            let cancelled: Vec<Pending> = cancelled;
            cancelled.into_iter().map(|pending| pending.id).collect()
        });
        for id in ids {
            self.emit(&obj! { "type" => "control_cancel_request", "request_id" => id });
        }
    }

    /// Takes the host's answer; one to a request that is not open is ignored.
    pub(crate) fn take_answer(&self, line: &Json) {
        let Some(response) = line.get("response") else {
            return;
        };
        let id = response.text("request_id").unwrap_or_default().to_owned();
        let known = self.with(|state| {
            let before = state.pending.len();
            state.pending.retain(|pending| pending.id != id);
            state.pending.len() < before
        });
        if !known {
            self.with(|state| {
                let fact = obj! { "request_id" => &id, "stale" => true };
                state.effects.push(Effect::Fact("answer", fact));
            });
            self.run_stale(response);
            return;
        }
        let answer = if response.text("subtype") == Some("error") {
            let text = response.text("error").unwrap_or("unknown error");
            Answer::Error(text.to_owned())
        } else {
            // An error is not echoed; a success is, so that whoever reads the output knows the answer too.
            if self.setup().args.replay {
                self.echo_answer(line);
            }
            Answer::Success(response.get("response").cloned().unwrap_or_default())
        };
        self.with(|state| {
            let behavior = match &answer {
                Answer::Success(body) => body.text("behavior").unwrap_or("success").to_owned(),
                Answer::Error(_) => "error".to_owned(),
            };
            let fact = obj! { "request_id" => &id, "behavior" => behavior };
            state.effects.push(Effect::Fact("answer", fact));
            state.answers.insert(id, answer);
        });
    }

    /// The older CLI greets a server on before it echoes the server's greeting.
    fn echo_answer(&self, line: &Json) {
        let greeting = line.at(&[
            "response",
            "response",
            "mcp_response",
            "result",
            "serverInfo",
        ]);
        let waits = self.with(|state| state.initializing > 0);
        if greeting.is_none() || waits || self.is_325() {
            self.emit(line);
            return;
        }
        let (sim, line) = (self.clone(), line.clone());
        self.spawn(async move { sim.emit(&line) });
    }

    /// 2.1.197 runs a call of an earlier process when an old allow names it; 2.1.325 does not.
    fn run_stale(&self, response: &Json) {
        let allowed = response
            .at(&["response", "behavior"])
            .and_then(Json::as_text)
            == Some("allow");
        let named = response
            .at(&["response", "toolUseID"])
            .and_then(Json::as_text);
        let Some(id) = named.filter(|_| allowed && !self.is_325()) else {
            return;
        };
        let found = self.with(|state| {
            let at = state
                .chat
                .dangling
                .iter()
                .position(|(known, ..)| known == id);
            at.map(|at| state.chat.dangling.remove(at))
        });
        let Some((id, tool, input)) = found else {
            return;
        };
        let updated = response.at(&["response", "updatedInput"]).cloned();
        let call = Call {
            id,
            tool,
            input: updated.unwrap_or(input),
        };
        let sim = self.clone();
        self.spawn(async move {
            let scope = sim.with(super::state::State::open_scope);
            let mut turn = Turn::new(&sim, scope, Voice::Main, Vec::new());
            sim.run_allowed(&mut turn, &call).await;
        });
    }
}
