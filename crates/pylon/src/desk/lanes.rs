//! Which requests wait for which: those of one lane are carried out one after another, in the order of their arrival.
//!
//! The protocol says for each request on what it is serialized. Here that becomes queues; running and waiting for jobs
//! is the desk's.

use std::collections::{HashMap, VecDeque};

use estelle_proto::{ConversationId, Key, TerminalId, WorkspaceId};

/// Jobs of all lanes that may wait together; beyond that something floods us.
pub(super) const MAX_WAITING: usize = 1024;

/// What a job is serialized on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Lane {
    Conversation(ConversationId),
    Workspace(WorkspaceId),
    Terminal(TerminalId),
    Machine,
    /// Telling all clients what workspaces there are.
    List,
    /// Telling all clients how the pylon is.
    Status,
    /// Holding what was spent against budgets.
    Budgets,
    /// Telling the host what was deleted and cleared.
    Removals,
    /// Telling the host what people look at.
    Looks,
}

impl Lane {
    /// The lane of a request; none if it need not wait for anything.
    pub(super) fn of(key: Key<'_>) -> Option<Self> {
        match key {
            Key::Conversation(id) => Some(Self::Conversation(id.clone())),
            Key::Workspace(id) => Some(Self::Workspace(id.clone())),
            Key::Terminal(id) => Some(Self::Terminal(id.clone())),
            Key::Machine => Some(Self::Machine),
            Key::None => None,
        }
    }
}

/// What became of a job that wanted to enter a lane.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Entry<J> {
    /// The lane is free: run it.
    Run(J),
    /// It waits.
    Waits,
    /// Too many wait already.
    Refused(J),
}

/// The lanes that are in use.
#[derive(Debug)]
pub(super) struct Lanes<J> {
    busy: HashMap<Lane, VecDeque<J>>,
    waiting: usize,
}

impl<J> Default for Lanes<J> {
    fn default() -> Self {
        Self {
            busy: HashMap::new(),
            waiting: 0,
        }
    }
}

impl<J> Lanes<J> {
    /// A job wants to run.
    pub(super) fn enter(&mut self, lane: &Lane, job: J) -> Entry<J> {
        let Some(queue) = self.busy.get_mut(lane) else {
            self.busy.insert(lane.clone(), VecDeque::new());
            return Entry::Run(job);
        };
        if self.waiting >= MAX_WAITING {
            return Entry::Refused(job);
        }
        queue.push_back(job);
        self.waiting += 1;
        Entry::Waits
    }

    /// The same for a job of which one that waits is as good as many.
    pub(super) fn enter_once(&mut self, lane: &Lane, job: J) -> Entry<J> {
        if self.busy.get(lane).is_some_and(|queue| !queue.is_empty()) {
            return Entry::Waits;
        }
        self.enter(lane, job)
    }

    /// A job is done; the next one of its lane, if one waits.
    pub(super) fn leave(&mut self, lane: &Lane) -> Option<J> {
        let next = self.busy.get_mut(lane)?.pop_front();
        match next {
            Some(_) => self.waiting -= 1,
            None => drop(self.busy.remove(lane)),
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_runs_one_job_at_a_time_in_order() {
        let mut lanes = Lanes::default();
        assert_eq!(lanes.enter(&Lane::Machine, 1), Entry::Run(1));
        assert_eq!(lanes.enter(&Lane::Machine, 2), Entry::Waits);
        assert_eq!(lanes.enter(&Lane::Machine, 3), Entry::Waits);
        assert_eq!(lanes.enter(&Lane::List, 9), Entry::Run(9));
        assert_eq!(lanes.leave(&Lane::Machine), Some(2));
        assert_eq!(lanes.leave(&Lane::Machine), Some(3));
        assert_eq!(lanes.leave(&Lane::Machine), None);
        assert_eq!(lanes.enter(&Lane::Machine, 4), Entry::Run(4));
    }

    #[test]
    fn one_announcement_that_waits_is_enough() {
        let mut lanes = Lanes::default();
        assert_eq!(lanes.enter_once(&Lane::List, 1), Entry::Run(1));
        assert_eq!(lanes.enter_once(&Lane::List, 2), Entry::Waits);
        assert_eq!(lanes.enter_once(&Lane::List, 3), Entry::Waits);
        assert_eq!(lanes.leave(&Lane::List), Some(2));
        assert_eq!(lanes.leave(&Lane::List), None);
    }

    #[test]
    fn a_flood_is_refused() {
        let mut lanes = Lanes::default();
        let _ = lanes.enter(&Lane::Machine, 0);
        for job in 1..=MAX_WAITING {
            assert_eq!(lanes.enter(&Lane::Machine, job), Entry::Waits);
        }
        assert_eq!(lanes.enter(&Lane::Machine, 7), Entry::Refused(7));
        assert_eq!(lanes.enter(&Lane::List, 8), Entry::Run(8));
    }
}
