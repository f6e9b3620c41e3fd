//! When is a conversation over? A pure machine over what the CLI reports.
//!
//! A `result` alone does not mean the end: background commands and sub-agents run on, queued messages start
//! turns of their own, and a finished background task starts one without any message. Ending the CLI's input
//! too early kills such work and leaves its permission requests without an answer. So a query asks this
//! machine, which keeps the facts and derives the verdict; it has no clock and does no IO.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

/// How long a CLI that does not report its state must print nothing to count as idle. A queued message or a
/// finished task starts its turn within milliseconds.
pub(crate) const SETTLE: Duration = Duration::from_millis(1500);

/// How many uuids are remembered; a caller repeats a message soon or not at all.
const RECENT: usize = 256;

/// What a message means for the question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Seen {
    /// A turn began.
    TurnStarted,
    /// A turn ended; so many queued messages are known to follow.
    Result {
        /// What the CLI says is still queued.
        queued: u64,
        /// The messages it says the turn has answered; an older CLI names none.
        answered: Vec<String>,
    },
    /// A task, in the background or not, began.
    TaskStarted(String),
    /// It ended.
    TaskEnded(String),
    /// These are all the background tasks there are.
    BackgroundTasks(BTreeSet<String>),
    /// The CLI says that it does nothing.
    StateIdle,
    /// The CLI says that it works or waits for the user.
    StateBusy,
    /// Something else was printed.
    Other,
}

/// Whether the input may be ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Work goes on.
    Busy,
    /// Nothing is known to go on; if nothing is printed for [`SETTLE`], it is over.
    Settling,
    /// It is over.
    Quiet,
}

/// The facts.
#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one fact by itself; the verdict is derived from all"
)]
pub(crate) struct Quiet {
    /// A message was sent and no turn has ended since.
    unanswered: bool,
    /// No turn has begun since the last message, nor named it: the CLI may not even have read it.
    unread: bool,
    turn_open: bool,
    queued: u64,
    tasks: BTreeSet<String>,
    /// The last state the CLI reported, if it reports any.
    idle: Option<bool>,
    /// How many messages were sent; the second may wait in the CLI's queue.
    sent: u64,
    /// The uuids of the last messages, newest first.
    recent: VecDeque<String>,
    /// A task was seen, whose end may start a turn.
    had_tasks: bool,
}

impl Quiet {
    /// A message goes to the CLI.
    pub(crate) fn sent(&mut self, uuid: &str) {
        // The CLI runs a uuid once, so a repeated one brings no result to wait for.
        if self.recent.iter().any(|recent| recent == uuid) {
            return;
        }
        self.recent.truncate(RECENT - 1);
        self.recent.push_front(uuid.to_owned());
        self.unanswered = true;
        self.unread = true;
        self.sent += 1;
        if self.idle.is_some() {
            self.idle = Some(false);
        }
    }

    /// The CLI printed something.
    pub(crate) fn observe(&mut self, seen: Seen) {
        match seen {
            Seen::TurnStarted => {
                self.turn_open = true;
                self.unread = false;
            }
            Seen::Result { queued, answered } => {
                self.turn_open = false;
                self.unanswered = false;
                self.unread &= !self
                    .recent
                    .front()
                    .is_some_and(|last| answered.contains(last));
                self.queued = queued;
            }
            Seen::TaskStarted(id) => {
                self.tasks.insert(id);
                self.had_tasks = true;
            }
            Seen::TaskEnded(id) => {
                self.tasks.remove(&id);
            }
            Seen::BackgroundTasks(ids) => {
                self.had_tasks |= !ids.is_empty();
                self.tasks = ids;
            }
            Seen::StateIdle => self.idle = Some(true),
            Seen::StateBusy => self.idle = Some(false),
            Seen::Other => {}
        }
    }

    /// Whether a message was sent and no turn has ended since.
    pub(crate) fn owes_an_answer(&self) -> bool {
        self.unanswered
    }

    /// What follows from the facts.
    pub(crate) fn verdict(&self) -> Verdict {
        if self.unanswered || self.turn_open || self.queued > 0 || !self.tasks.is_empty() {
            return Verdict::Busy;
        }
        match self.idle {
            Some(false) => Verdict::Busy,
            None if self.sent > 1 || self.had_tasks => Verdict::Settling,
            // It may have been idle before it read the last message.
            Some(true) if self.unread => Verdict::Settling,
            Some(true) | None => Verdict::Quiet,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The verdicts after each observation, for one message sent.
    fn verdicts(seen: impl IntoIterator<Item = Seen>) -> Vec<Verdict> {
        let mut quiet = Quiet::default();
        quiet.sent("m1");
        let observe = |seen| {
            quiet.observe(seen);
            quiet.verdict()
        };
        seen.into_iter().map(observe).collect()
    }

    fn task(id: &str) -> String {
        id.to_owned()
    }

    const RESULT: Seen = Seen::Result {
        queued: 0,
        answered: Vec::new(),
    };
    use Verdict::{Busy, Quiet as Over, Settling};

    #[test]
    fn a_plain_turn_is_over_with_its_result() {
        assert_eq!(
            verdicts([Seen::TurnStarted, Seen::Other, RESULT]),
            [Busy, Busy, Over]
        );
    }

    #[test]
    fn with_two_messages_the_second_may_still_start_its_turn() {
        let mut quiet = Quiet::default();
        quiet.sent("m2");
        quiet.observe(Seen::TurnStarted);
        quiet.sent("m3");
        quiet.observe(RESULT);
        assert_eq!(quiet.verdict(), Settling);
    }

    #[test]
    fn a_cli_that_reports_its_state_is_believed() {
        assert_eq!(
            verdicts([Seen::StateBusy, Seen::TurnStarted, RESULT, Seen::StateIdle]),
            [Busy, Busy, Busy, Over]
        );
    }

    #[test]
    fn a_background_task_outlives_the_result_and_starts_a_turn_of_its_own() {
        assert_eq!(
            verdicts([
                Seen::TurnStarted,
                Seen::TaskStarted(task("b1")),
                RESULT,
                Seen::TaskEnded(task("b1")),
                Seen::TurnStarted,
                RESULT,
            ]),
            [Busy, Busy, Busy, Settling, Busy, Settling]
        );
    }

    #[test]
    fn the_list_of_background_tasks_replaces_what_was_pieced_together() {
        assert_eq!(
            verdicts([
                Seen::TurnStarted,
                Seen::TaskStarted(task("foreground")),
                Seen::BackgroundTasks(BTreeSet::from([task("b2")])),
                RESULT,
                Seen::StateIdle,
                Seen::BackgroundTasks(BTreeSet::new()),
            ]),
            [Busy, Busy, Busy, Busy, Busy, Over]
        );
    }

    #[test]
    fn queued_messages_keep_it_busy() {
        assert_eq!(
            verdicts([
                Seen::TurnStarted,
                Seen::Result {
                    queued: 1,
                    answered: Vec::new()
                },
                Seen::TurnStarted,
                RESULT
            ]),
            [Busy, Busy, Busy, Over]
        );
    }

    #[test]
    fn a_message_sent_later_makes_it_busy_again() {
        let mut quiet = Quiet::default();
        quiet.sent("m4");
        for seen in [Seen::TurnStarted, RESULT, Seen::StateIdle] {
            quiet.observe(seen);
        }
        assert_eq!(quiet.verdict(), Over);
        quiet.sent("m5");
        assert_eq!(quiet.verdict(), Busy);
    }

    #[test]
    fn a_repeated_message_brings_no_result_to_wait_for() {
        let mut quiet = Quiet::default();
        quiet.sent("same");
        for seen in [Seen::TurnStarted, RESULT, Seen::StateIdle] {
            quiet.observe(seen);
        }
        quiet.sent("same");
        assert_eq!(quiet.verdict(), Over);
    }

    #[test]
    fn an_idle_cli_may_not_have_read_the_last_message_yet() {
        for (answered, expected) in [(vec![], Settling), (vec![task("m2")], Over)] {
            let mut quiet = Quiet::default();
            quiet.sent("m1");
            quiet.observe(Seen::TurnStarted);
            // It goes out while the end of the turn is on its way to us.
            quiet.sent("m2");
            quiet.observe(Seen::Result {
                queued: 0,
                answered,
            });
            quiet.observe(Seen::StateIdle);
            assert_eq!(quiet.verdict(), expected);
        }
    }
}
