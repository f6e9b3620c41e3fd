//! The ledger of decisions: what a person has to answer, who answered, and how far the answer got.
//!
//! A decision goes one way: open, answered, delivered, settled; or void, when the process that asked is gone. It is
//! bound to one call of one generation, so an answer can never run something in a later process. The first answer wins
//! and every later one is told who was first. The policy's own verdicts are entries like any other, answered by no
//! device.
//!
//! The ledger decides and gives [`Fact`]s; the shell makes them durable and then applies them. Only [`Ledger::apply`]
//! changes anything, so a ledger made from the log equals the one that wrote it. Asking twice for the same thing gives
//! no second fact: a journal can be read again.
//!
//! A conversation can make a hundred thousand calls. Of decisions that are over only the newest are kept, without their
//! lines, so that a late answer still learns who was first.

use std::collections::{BTreeMap, VecDeque};

use estelle_proto::decisions::{DecisionKind, DecisionState};
use estelle_proto::{Author, DeviceId, Generation, Timestamp, ToolUseId};
use serde::{Deserialize, Serialize};

/// So many decisions that are over are kept; whoever answers an older one is told that there is none.
const KEPT: usize = 1_000;

/// Names one decision: a call within the generation that made it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DecisionKey {
    /// The run that asked.
    pub generation: Generation,
    /// The call it is about.
    pub tool_use_id: ToolUseId,
}

/// What was asked, as it is shown to people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Asked {
    /// Which decision.
    pub key: DecisionKey,
    /// What kind.
    pub kind: DecisionKind,
    /// The CLI's id of the request, which the answer must name.
    pub request_id: String,
    /// The hash of what will run; an answer to something else is refused.
    pub input_hash: String,
    /// When it was asked.
    pub at: Timestamp,
}

/// The person behind an answer, by the device it came from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct By {
    /// The number of its connection; none when the policy decided.
    pub device: Option<DeviceId>,
    /// The paired device, if the connection is one of those.
    pub author: Option<Author>,
}

impl From<Option<DeviceId>> for By {
    fn from(device: Option<DeviceId>) -> Self {
        let author = None;
        Self { device, author }
    }
}

/// An answer, as it goes to the CLI.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Answered {
    /// Which decision.
    pub key: DecisionKey,
    /// The device of the person; none when the policy decided.
    pub by: Option<DeviceId>,
    /// The paired device behind that, which has the same key after every reconnect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<Author>,
    /// When.
    pub at: Timestamp,
    /// The line for the CLI, sent again byte for byte until its echo is seen.
    pub line: String,
}

/// Something that happened to a decision. Made durable, then applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "fact", rename_all = "camelCase")]
pub enum Fact {
    /// It was asked.
    Opened(Asked),
    /// Somebody, or the policy, answered.
    Answered(Answered),
    /// The CLI has the answer.
    Delivered(DecisionKey),
    /// The CLI acted on it, or withdrew the question.
    Settled(DecisionKey),
    /// The process that asked is gone.
    Voided(DecisionKey),
}

/// Why an answer was not taken. Nothing changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RefuseAnswer {
    /// There never was such a decision, or it was over long ago.
    #[error("there is no such decision in this conversation, or it was over long ago")]
    Unknown,
    /// Somebody was first.
    #[error("this was already answered")]
    AlreadyAnswered {
        /// By which device; none when the policy decided or the CLI withdrew the question.
        by: Option<DeviceId>,
        /// When.
        at: Option<Timestamp>,
    },
    /// The process that asked is gone.
    #[error("the process that asked is gone")]
    Void,
    /// The answer is to something else than what will run.
    #[error("what was shown is not what will run; look again")]
    Changed,
}

/// One decision and how far it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// What was asked.
    pub asked: Asked,
    /// The answer, once there is one; its line is empty when the decision is over.
    pub answer: Option<Answered>,
    phase: Phase,
    /// Its place among all decisions.
    order: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Open,
    Answered,
    Delivered,
    Settled,
    Void,
}

impl Decision {
    /// How far it is.
    pub fn state(&self) -> DecisionState {
        match self.phase {
            Phase::Open => DecisionState::Open,
            Phase::Answered => DecisionState::Answered,
            Phase::Delivered => DecisionState::Delivered,
            Phase::Settled => DecisionState::Settled,
            Phase::Void => DecisionState::Void,
        }
    }

    /// Whether nothing more can happen to it.
    pub fn is_over(&self) -> bool {
        self.phase >= Phase::Settled
    }
}

/// The decisions of a conversation: those that are not over, and the newest of the others.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ledger {
    decisions: BTreeMap<DecisionKey, Decision>,
    /// Those that are not over, in the order they were asked.
    live: BTreeMap<u64, DecisionKey>,
    /// Those that are over, in the order they ended.
    over: VecDeque<DecisionKey>,
    /// What the CLI's ids of requests stand for.
    requests: BTreeMap<(Generation, String), DecisionKey>,
    next: u64,
}

/// Deciding: what would happen. Nothing changes.
impl Ledger {
    /// The CLI asks. Nothing for a request that is known: its line was read again.
    pub fn ask(&self, asked: Asked) -> Option<Fact> {
        (!self.decisions.contains_key(&asked.key)).then_some(Fact::Opened(asked))
    }

    /// Somebody answers what was shown to him under `input_hash`.
    pub fn answer(&self, answered: Answered, input_hash: &str) -> Result<Fact, RefuseAnswer> {
        let decision = self
            .decisions
            .get(&answered.key)
            .ok_or(RefuseAnswer::Unknown)?;
        match decision.phase {
            Phase::Open if decision.asked.input_hash == input_hash => Ok(Fact::Answered(answered)),
            Phase::Open => Err(RefuseAnswer::Changed),
            Phase::Answered | Phase::Delivered | Phase::Settled | Phase::Void => {
                Err(self.refusal(&answered.key))
            }
        }
    }

    /// The CLI echoed an answer, which says that it has it.
    pub fn echoed(&self, generation: Generation, request_id: &str) -> Option<Fact> {
        let decision = self.asked_as(generation, request_id)?;
        (decision.phase == Phase::Answered).then(|| Fact::Delivered(decision.asked.key.clone()))
    }

    /// The tool came back, or the CLI withdrew its question: it is dealt with, whatever we know of an answer.
    pub fn settled(&self, key: &DecisionKey) -> Option<Fact> {
        let decision = self.decisions.get(key)?;
        (!decision.is_over()).then(|| Fact::Settled(key.clone()))
    }

    /// The process of a generation is really gone: what it still asked is void.
    pub fn process_gone(&self, generation: Generation) -> Vec<Fact> {
        self.live
            .values()
            .filter(|key| key.generation == generation)
            .map(|key| Fact::Voided(key.clone()))
            .collect()
    }
}

/// Looking.
impl Ledger {
    /// One decision.
    pub fn get(&self, key: &DecisionKey) -> Option<&Decision> {
        self.decisions.get(key)
    }

    /// What waits for a person, in the order it was asked.
    pub fn open(&self) -> Vec<&Decision> {
        self.live()
            .filter(|decision| decision.phase == Phase::Open)
            .collect()
    }

    /// Answers that the CLI of this generation may not have yet, to be sent again.
    pub fn undelivered(&self, generation: Generation) -> Vec<&Answered> {
        self.live()
            .filter(|decision| decision.asked.key.generation == generation)
            .filter(|decision| decision.phase == Phase::Answered)
            .filter_map(|decision| decision.answer.as_ref())
            .collect()
    }

    /// The newest decision about a call.
    pub fn newest(&self, id: &ToolUseId) -> Option<DecisionKey> {
        let about = self
            .decisions
            .values()
            .filter(|decision| decision.asked.key.tool_use_id == *id);
        about
            .max_by_key(|decision| decision.order)
            .map(|decision| decision.asked.key.clone())
    }

    /// Whether another generation made a call under the same id.
    pub fn is_known_elsewhere(&self, key: &DecisionKey) -> bool {
        let mut all = self.decisions.keys();
        all.any(|one| one.tool_use_id == key.tool_use_id && one.generation != key.generation)
    }

    /// Why a decision takes no answer, for one that is not open.
    pub fn refusal(&self, key: &DecisionKey) -> RefuseAnswer {
        let Some(decision) = self.decisions.get(key) else {
            return RefuseAnswer::Unknown;
        };
        if decision.phase == Phase::Void {
            return RefuseAnswer::Void;
        }
        let first = decision.answer.as_ref();
        RefuseAnswer::AlreadyAnswered {
            by: first.and_then(|first| first.by),
            at: first.map(|first| first.at),
        }
    }

    /// The decision that a request of the CLI asked for.
    pub fn asked_as(&self, generation: Generation, request_id: &str) -> Option<&Decision> {
        let key = self.requests.get(&(generation, request_id.to_owned()))?;
        self.decisions.get(key)
    }

    fn live(&self) -> impl Iterator<Item = &Decision> {
        self.live.values().filter_map(|key| self.decisions.get(key))
    }
}

/// Changing.
impl Ledger {
    /// The ledger that a log tells.
    pub fn replay(facts: impl IntoIterator<Item = Fact>) -> Self {
        let mut ledger = Self::default();
        facts.into_iter().for_each(|fact| ledger.apply(fact));
        ledger
    }

    /// Takes a fact that is durable. A fact that does not fit changes nothing: a decision goes one way.
    pub fn apply(&mut self, fact: Fact) {
        match fact {
            Fact::Opened(asked) => self.open_one(asked),
            Fact::Answered(answered) => {
                if let Some(decision) = self.at(&answered.key, Phase::Open) {
                    decision.phase = Phase::Answered;
                    decision.answer = Some(answered);
                }
            }
            Fact::Delivered(key) => {
                if let Some(decision) = self.at(&key, Phase::Answered) {
                    decision.phase = Phase::Delivered;
                }
            }
            Fact::Settled(key) => self.finish(&key, Phase::Settled),
            Fact::Voided(key) => self.finish(&key, Phase::Void),
        }
    }

    fn open_one(&mut self, asked: Asked) {
        let key = asked.key.clone();
        if self.decisions.contains_key(&key) {
            return;
        }
        let order = self.next;
        self.next += 1;
        self.live.insert(order, key.clone());
        self.requests
            .entry((key.generation, asked.request_id.clone()))
            .or_insert_with(|| key.clone());
        let decision = Decision {
            asked,
            answer: None,
            phase: Phase::Open,
            order,
        };
        self.decisions.insert(key, decision);
    }

    fn at(&mut self, key: &DecisionKey, phase: Phase) -> Option<&mut Decision> {
        self.decisions
            .get_mut(key)
            .filter(|decision| decision.phase == phase)
    }

    fn finish(&mut self, key: &DecisionKey, phase: Phase) {
        let decision = self.decisions.get_mut(key);
        let Some(decision) = decision.filter(|decision| !decision.is_over()) else {
            return;
        };
        decision.phase = phase;
        if let Some(answer) = &mut decision.answer {
            answer.line = String::new();
        }
        self.live.remove(&decision.order);
        self.over.push_back(key.clone());
        if self.over.len() > KEPT
            && let Some(oldest) = self.over.pop_front()
        {
            self.forget(&oldest);
        }
    }

    fn forget(&mut self, key: &DecisionKey) {
        let Some(decision) = self.decisions.remove(key) else {
            return;
        };
        let request = (key.generation, decision.asked.request_id);
        if self.requests.get(&request) == Some(key) {
            self.requests.remove(&request);
        }
    }
}

#[cfg(test)]
#[path = "decisions_tests.rs"]
mod tests;
