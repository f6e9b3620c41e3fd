//! What can be broken, and which promise that is.

use std::fmt;

/// A promise, by its number in the threat model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Invariant {
    /// Nothing runs without exactly one valid allow.
    I1,
    /// Every prompt is visible until it is dealt with.
    I2,
    /// An answer applies once, to what was shown.
    I3,
    /// Every client's events are a prefix of the truth.
    I4,
    /// What was acknowledged is done once and never lost.
    I5,
    /// The death of anything of ours ends no session.
    I6,
    /// One owner per session.
    I7,
    /// Nothing crosses realms.
    I10,
}

macro_rules! rules {
    ($($(#[doc = $doc:expr])+ $name:ident => $invariant:ident,)+) => {
        /// A way to break a promise.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Rule {
            $($(#[doc = $doc])+ $name,)+
        }

        impl Rule {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// The promise it breaks.
            pub fn invariant(self) -> Invariant {
                match self {
                    $(Self::$name => Invariant::$invariant,)+
                }
            }
        }
    };
}

rules! {
    /// A tool ran that nobody was asked about.
    RanUnasked => I1,
    /// A tool ran though no allow had reached the CLI.
    RanWithoutAllow => I1,
    /// A tool ran more than once.
    RanTwice => I1,
    /// A tool left a mark though the CLI did not run it.
    MarkWithoutRun => I1,
    /// A tool ran with something else than what was asked.
    RanOtherInput => I1,
    /// The CLI asked, and the log does not know.
    AskNotLogged => I2,
    /// People were to be asked, and no event tells them; or several do.
    PromptNotShown => I2,
    /// A status leaves out a prompt that is open.
    PromptForgotten => I2,
    /// A status lists a prompt that is not open.
    PromptGhost => I2,
    /// A client that is connected was never told of a prompt that is open, or heard of its answer first.
    PromptUnseen => I2,
    /// What people were shown is not what the CLI asked.
    ShownOther => I3,
    /// The log has a second answer, or one to nothing.
    AnsweredTwice => I3,
    /// The log has an answer to a decision that was over.
    AnsweredLate => I3,
    /// Two answers were told that they were the first.
    TwoWinners => I3,
    /// An answer was accepted that the log does not have.
    WinnerNotLogged => I3,
    /// The CLI took an answer that is not the one in the log.
    DeliveredOther => I3,
    /// The CLI took two answers to one request.
    DeliveredTwice => I3,
    /// An answer in the log never reached the CLI that asked.
    NotDelivered => I3,
    /// The log or its chain is damaged, or does not begin as it must.
    LogBroken => I4,
    /// Between two stretches of a journal something was not read.
    StretchGap => I4,
    /// Something of a journal was read twice.
    StretchOverlap => I4,
    /// The CLI printed something that made no event.
    TruthLost => I4,
    /// An event tells of something that the CLI did not print there.
    TruthInvented => I4,
    /// A client misses an event between two others.
    Gap => I4,
    /// A client got an event again, or an older one after a newer one.
    Repeated => I4,
    /// An event bears an epoch that is not the one of the subscription.
    WrongEpoch => I4,
    /// The hash of an event is not the one of the log.
    WrongHash => I4,
    /// An event is not what the log has under its number.
    Changed => I4,
    /// An event has a number that the log does not have.
    Invented => I4,
    /// A client got events of a conversation that it did not subscribe to.
    Foreign => I4,
    /// A durable event has no number, or a passing one has one.
    Misnumbered => I4,
    /// At rest, a subscriber has not got everything.
    Behind => I4,
    /// A cursor that was good was refused.
    CursorRefused => I4,
    /// A cursor that was void was accepted.
    CursorAccepted => I4,
    /// A snapshot is not where the replay ended.
    SnapshotElsewhere => I4,
    /// Pieces of a text do not fit together, or not with the whole.
    TextTorn => I4,
    /// A client got a piece of a text twice.
    PieceTwice => I4,
    /// History lacks a row.
    RowLost => I4,
    /// History has a row twice, or two in the wrong order.
    RowDoubled => I4,
    /// History has a row that nothing in the log or of the CLI is behind.
    RowInvented => I4,
    /// A row says something else than what happened.
    RowChanged => I4,
    /// At rest, the Pylon has not taken everything in.
    RowBehind => I4,
    /// A message was acknowledged and is not in the log.
    AckedLost => I5,
    /// A message is in the log more than once.
    AcceptedTwice => I5,
    /// A message is in the log that nobody sent, or with another text.
    MessageInvented => I5,
    /// A message was answered more than once.
    RanMessageTwice => I5,
    /// A message was acknowledged and never answered.
    NeverRan => I5,
    /// A CLI ended though nobody wanted it to.
    EndedByAccident => I6,
    /// A run began before the one before it was over.
    TwoOwners => I7,
    /// A process was started for a run that the log does not know, or twice.
    StartedTwice => I7,
    /// A process is there that belongs to no living run.
    Orphan => I7,
    /// A run was given a message before it was greeted, so it does not know what we offer it.
    NotGreeted => I6,
    /// A run that should live has no process.
    ProcessMissing => I6,
    /// Something reached a device of another realm.
    CrossedRealms => I10,
}

/// A promise that was broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// How.
    pub rule: Rule,
    /// Where and what, for people.
    pub detail: String,
}

impl Violation {
    pub(super) fn new(rule: Rule, detail: impl Into<String>) -> Self {
        Self {
            rule,
            detail: detail.into(),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let invariant = self.rule.invariant();
        write!(f, "{invariant:?} {:?}: {}", self.rule, self.detail)
    }
}
