//! A person with an app: writes, reads, answers, and comes back whatever happens to the connection.
//!
//! It behaves as an app must: what was not acknowledged is sent again under the same name, what it looked at it looks at
//! again, and a prompt is answered until somebody's answer counts. It knows nothing of what the nemesis does.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function looks at a few kinds and leaves the others alone"
)]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use estelle_proto::decisions::PermissionDecision;
use estelle_proto::events::ClaudeEvent;
use estelle_proto::history::HistoryMessage;
use estelle_proto::{
    Answer, ClientMessageId, ConversationId, ErrorCode, PylonToApp, Seq, ToolUseId,
};
use fastrand::Rng;
use serde_json::json;

use super::board::{Board, Phase};
use super::words;
use crate::history::{AppStep, Part};
use crate::rig::{App, Talk, Tried};

/// How often a relay that is away is tried.
const AGAIN: Duration = Duration::from_millis(20);
/// How long nothing may happen before one looks around.
const TICK: Duration = Duration::from_millis(100);
/// How long an answer is waited for at first; twice as long after each silence.
const FIRST_WAIT: Duration = Duration::from_millis(500);
const LONGEST_WAIT: Duration = Duration::from_secs(16);

/// What a person does.
#[derive(Debug, Clone, PartialEq)]
enum Work {
    Nothing,
    Saying {
        talk: usize,
        name: ClientMessageId,
        prompt: String,
    },
    Awaiting {
        talk: usize,
        behind: u64,
    },
}

/// Which kind of prompt waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    Permission,
    Question,
}

/// A person.
#[derive(Debug)]
pub(super) struct Person {
    app: App,
    number: usize,
    talks: Vec<Talk>,
    board: Arc<Board>,
    dice: Rng,
    work: Work,
    looks_at: usize,
    is_shown: bool,
    /// Since when it is not served.
    away: Option<Instant>,
    wait: Duration,
    /// How much of the recording it knows.
    known: usize,
    prompts: BTreeMap<(ConversationId, ToolUseId), Asked>,
    /// The newest end of a turn, by conversation.
    ends: BTreeMap<ConversationId, u64>,
    said: u32,
}

impl Person {
    pub(super) fn new(
        app: App,
        number: usize,
        talks: Vec<Talk>,
        board: Arc<Board>,
        dice: Rng,
    ) -> Self {
        let looks_at = number % talks.len();
        Self {
            app,
            number,
            talks,
            board,
            dice,
            work: Work::Nothing,
            looks_at,
            is_shown: false,
            away: None,
            wait: FIRST_WAIT,
            known: 0,
            prompts: BTreeMap::new(),
            ends: BTreeMap::new(),
            said: 0,
        }
    }

    /// Lives until the round is over.
    pub(super) async fn live(mut self) {
        while self.board.phase() != Phase::Over {
            let mark = self.app.mark();
            if self.is_served().await {
                self.answer().await;
                self.work().await;
            }
            self.app.stirs(mark, TICK).await;
        }
    }

    fn doing(&self, what: &str) {
        let busy = self.work != Work::Nothing || !self.prompts.is_empty();
        self.board.doing(self.number, busy, what);
    }

    /// Does what is needed to be connected and shown what it looks at; tells whether it is.
    async fn is_served(&mut self) -> bool {
        if self.board.is_dropped(self.number) {
            self.app.leave().await;
        }
        if !self.app.is_connected() {
            self.misses();
            self.doing("connects");
            if !self.app.connects().await {
                tokio::time::sleep(AGAIN).await;
                return false;
            }
        }
        self.take_in();
        if !self.is_shown {
            self.look().await;
        }
        self.is_shown
    }

    fn misses(&mut self) {
        self.is_shown = false;
        self.away.get_or_insert_with(Instant::now);
        self.board.served(self.number, false, None);
    }

    async fn look(&mut self) {
        let talk = self.talks[self.looks_at].clone();
        self.doing(&format!("looks at {}", talk.id));
        if self.away.is_some() && !self.app.asks_what_there_is().await {
            return;
        }
        match self.app.looks(&talk, self.wait).await {
            Tried::Answered(true) => {
                self.is_shown = true;
                self.wait = FIRST_WAIT;
                self.board.served(self.number, true, self.away.take());
                self.doing("is shown what it looks at");
            }
            Tried::Answered(false) => tokio::time::sleep(AGAIN).await,
            Tried::Broken => {}
            Tried::Silent => self.be_patient(),
        }
    }

    fn be_patient(&mut self) {
        self.wait = (self.wait * 2).min(LONGEST_WAIT);
    }

    /// Takes in what was recorded since the last time.
    fn take_in(&mut self) {
        let (mut lost, known) = (false, self.known);
        self.known = self.app.mark();
        let (prompts, ends) = (&mut self.prompts, &mut self.ends);
        self.app.scan(known, |step| match step {
            AppStep::Lost | AppStep::Died(Part::Pylon) => lost = true,
            AppStep::Got(message) => match message.as_ref() {
                PylonToApp::ClaudeEventMessage(message) => {
                    let id = &message.conversation_id;
                    note_prompt(prompts, id, &message.event);
                    if is_end(&message.event) {
                        note_end(ends, id, message.seq);
                    }
                }
                PylonToApp::HistoryResult(page) => {
                    for row in &page.messages {
                        note_end(ends, &page.conversation_id, end_of(row));
                    }
                }
                _ => {}
            },
            AppStep::Connected | AppStep::Sent(_) | AppStep::Died(Part::Host) => {}
        });
        if lost {
            self.misses();
        }
    }

    /// Answers what is asked, one prompt at a time.
    async fn answer(&mut self) {
        let Some((key, asked)) = self.prompts.first_key_value() else {
            return;
        };
        let ((id, call), asked) = (key.clone(), *asked);
        let Some(talk) = self.talks.iter().find(|talk| talk.id == id).cloned() else {
            self.prompts.remove(&(id, call));
            return;
        };
        self.doing(&format!("answers {call} of {id}"));
        let went = match asked {
            Asked::Permission => {
                let words = [PermissionDecision::Allow, PermissionDecision::Deny];
                let word = words[usize::from(self.dice.u8(0..4) == 0)].clone();
                let tried = self.app.decides(&talk, &call, word, self.wait).await;
                outcome(tried, |result| (result.success, result.error_code))
            }
            Asked::Question => {
                let answer = serde_json::from_value::<Answer>(json!({words::QUESTION: "that"}));
                let Ok(answer) = answer else { return };
                let tried = self.app.answers(&talk, &call, answer, self.wait).await;
                outcome(tried, |result| (result.success, result.error_code))
            }
        };
        match went {
            Tried::Answered(counts) => {
                let settled = counts != Counts::NotYet;
                if settled {
                    self.wait = FIRST_WAIT;
                    self.prompts.remove(&(id, call));
                    self.board.achieved(|done| match counts {
                        Counts::First => done.answers += 1,
                        Counts::Late | Counts::NotYet => done.late += 1,
                    });
                }
                self.doing("has answered");
            }
            Tried::Broken => {}
            Tried::Silent => self.be_patient(),
        }
    }

    async fn work(&mut self) {
        match self.work.clone() {
            Work::Nothing => self.choose(),
            Work::Saying { talk, name, prompt } => self.say(talk, &name, &prompt).await,
            Work::Awaiting { talk, behind } => {
                let id = &self.talks[talk].id;
                if self.ends.get(id).is_some_and(|end| *end > behind) {
                    self.work = Work::Nothing;
                    self.board.achieved(|done| done.turns += 1);
                    self.doing("has seen the end of a turn");
                } else {
                    self.doing(&format!("awaits the end of a turn of {id} behind {behind}"));
                }
            }
        }
    }

    fn choose(&mut self) {
        if !self.board.may_write(self.number) {
            return self.doing("has nothing left to do");
        }
        let talk = self.dice.usize(0..self.talks.len());
        self.said += 1;
        let last = format!("{} {}", self.app.name(), self.said);
        let Ok(name) = ClientMessageId::parse(&last.replace(' ', "-")) else {
            return;
        };
        let prompt = words::prompt(&mut self.dice, &last);
        self.work = Work::Saying { talk, name, prompt };
        if self.looks_at != talk {
            self.looks_at = talk;
            self.is_shown = false;
        }
    }

    async fn say(&mut self, talk: usize, name: &ClientMessageId, prompt: &str) {
        let place = self.talks[talk].clone();
        self.doing(&format!("says {name} in {}", place.id));
        match self.app.says(&place, name, prompt, self.wait).await {
            Tried::Answered((true, seq)) => {
                self.wait = FIRST_WAIT;
                let behind = seq.map_or(0, |seq| seq.0);
                self.work = Work::Awaiting { talk, behind };
                self.board.achieved(|done| done.messages += 1);
            }
            Tried::Answered((false, _)) => tokio::time::sleep(AGAIN * 5).await,
            Tried::Broken => {}
            Tried::Silent => self.be_patient(),
        }
    }
}

/// What became of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Counts {
    First,
    Late,
    NotYet,
}

fn outcome<T>(tried: Tried<T>, read: impl Fn(T) -> (bool, Option<ErrorCode>)) -> Tried<Counts> {
    let is_late = |code: &ErrorCode| {
        matches!(
            code,
            ErrorCode::AlreadyAnswered | ErrorCode::DecisionVoid | ErrorCode::UnknownDecision
        )
    };
    match tried {
        Tried::Answered(result) => Tried::Answered(match read(result) {
            (true, _) => Counts::First,
            (false, Some(code)) if is_late(&code) => Counts::Late,
            (false, _) => Counts::NotYet,
        }),
        Tried::Broken => Tried::Broken,
        Tried::Silent => Tried::Silent,
    }
}

fn note_prompt(
    prompts: &mut BTreeMap<(ConversationId, ToolUseId), Asked>,
    id: &ConversationId,
    event: &ClaudeEvent,
) {
    let (call, asked) = match event {
        ClaudeEvent::PermissionAsked(asked) => (&asked.tool_use_id, Some(Asked::Permission)),
        ClaudeEvent::QuestionAsked(asked) => (&asked.tool_use_id, Some(Asked::Question)),
        ClaudeEvent::DecisionAnswered(over) => (&over.tool_use_id, None),
        _ => return,
    };
    let key = (id.clone(), call.clone());
    match asked {
        Some(asked) => prompts.insert(key, asked),
        None => prompts.remove(&key),
    };
}

fn is_end(event: &ClaudeEvent) -> bool {
    matches!(
        event,
        ClaudeEvent::Result(_) | ClaudeEvent::Aborted(_) | ClaudeEvent::Error(_)
    )
}

fn end_of(row: &HistoryMessage) -> Option<Seq> {
    match row {
        HistoryMessage::TurnResult(row) => row.seq,
        HistoryMessage::Aborted(row) => row.seq,
        HistoryMessage::Error(row) => row.seq,
        _ => None,
    }
}

fn note_end(ends: &mut BTreeMap<ConversationId, u64>, id: &ConversationId, seq: Option<Seq>) {
    if let Some(seq) = seq {
        let newest = ends.entry(id.clone()).or_default();
        *newest = seq.0.max(*newest);
    }
}
