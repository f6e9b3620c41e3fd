//! What no model does: stalling, dying, garbage, floods. A script asks for it to see how a host bears it.

use super::flow::GATE_POLL_MS;
use super::json::{Json, obj};
use super::model::Said;
use super::state::{Abort, Answer as Heard, Effect, Sim};
use super::turn::Turn;
use crate::script::{Answer, Gate, Mischief};

/// Longest line a script may ask for.
const MOST_BYTES: u64 = 1 << 30;

impl Sim {
    /// Does it, and answers with a short text where the turn goes on.
    pub(crate) async fn mischief(
        &self,
        turn: &mut Turn,
        deed: &Mischief,
        gate: Option<&Gate>,
    ) -> Result<Said, Abort> {
        if let Mischief::Ask(request) = deed {
            return self.ask_aloud(turn, request, gate).await;
        }
        if let Some(gate) = gate {
            self.gate(turn.scope, &gate.name).await?;
        }
        match deed {
            Mischief::Ask(_) => {}
            Mischief::Stall(None) => self.until_in(turn.scope, |_| None::<()>).await?,
            Mischief::Stall(Some(ms)) => self.sleep_in(turn.scope, *ms).await?,
            Mischief::Exit(code) => self.do_now(Effect::Exit(*code)),
            Mischief::Signal(name) => self.do_now(Effect::Die(name.clone())),
            Mischief::Garbage(text) => self.do_now(Effect::Bytes(format!("{text}\n").into_bytes())),
            Mischief::InvalidUtf8 => {
                self.do_now(Effect::Bytes(b"{\"type\":\"\xff\xfe\"}\n".to_vec()));
            }
            Mischief::Huge(bytes) => self.print_huge(*bytes),
            Mischief::HalfLine(text) => {
                self.do_now(Effect::Bytes(text.clone().into_bytes()));
                self.do_now(Effect::Exit(1));
            }
            Mischief::Flood(count) => {
                let chunks = usize::try_from(*count).unwrap_or(usize::MAX);
                // Stamps tell the deltas apart, so a lost one is noticed.
                let answer = Answer {
                    say: Some(String::new()),
                    chunks: Some(chunks),
                    stamp: true,
                    ..Answer::default()
                };
                return self.stream(turn, &answer, None).await;
            }
        }
        if matches!(
            deed,
            Mischief::Exit(_) | Mischief::Signal(_) | Mischief::HalfLine(_)
        ) {
            // The process is gone when this step is performed.
            self.until_in(turn.scope, |_| None::<()>).await?;
        }
        let answer = super::cursor::plain_answer("[mischief done]");
        self.stream(turn, &answer, None).await
    }

    /// Asks the host something and says what it answered, unless the gate opens first and the request is taken back.
    async fn ask_aloud(
        &self,
        turn: &mut Turn,
        request: &str,
        gate: Option<&Gate>,
    ) -> Result<Said, Abort> {
        self.print_state("requires_action");
        let id = self.send_request(turn.scope, Json::parse(request).unwrap_or_default());
        let heard = self.until_in(turn.scope, |state| {
            if let Some(answer) = state.answers.remove(&id) {
                return Some(match answer {
                    Heard::Success(body) => format!("answered: {body}"),
                    Heard::Error(text) => format!("refused: {text}"),
                });
            }
            if state.work.disk.gate_is_open(&gate?.name) {
                return Some("[taken back]".to_owned());
            }
            state.wake_at(state.now + GATE_POLL_MS);
            None
        });
        let heard = heard.await?;
        // Only a request without an answer is still open.
        self.cancel_requests(|pending| pending.id == id);
        self.print_state("running");
        let answer = super::cursor::plain_answer(&heard);
        self.stream(turn, &answer, None).await
    }

    fn do_now(&self, effect: Effect) {
        self.with(|state| state.effects.push(effect));
    }

    /// One valid line of exactly this many bytes, its newline not counted.
    fn print_huge(&self, bytes: u64) {
        let line = |fill: String| -> Json {
            obj! { "type" => "system", "subtype" => "informational", "content" => fill, "level" => "info" }
        };
        let frame = line(String::new()).to_string().len();
        let wanted = usize::try_from(bytes.min(MOST_BYTES)).unwrap_or(frame);
        self.emit(&line("x".repeat(wanted.saturating_sub(frame))));
    }
}
