//! When workers are visited: at a time, when the host is back, or when something ended in their conversations.

use std::collections::HashMap;

use estelle_proto::{ConversationId, WorkspaceId};
use tokio::time::Instant;

use super::actor::Actor;
use super::jobs::Job;
use super::lanes::{Entry, Lane};
use super::worker::{Note, RETRY, Wake};

/// The workers that somebody has to look after.
#[derive(Debug, Default)]
pub(super) struct Wakes(HashMap<WorkspaceId, Note>);

impl Wakes {
    fn note(&mut self, id: WorkspaceId, note: Note) {
        if note.wake == Wake::Never {
            self.0.remove(&id);
        } else {
            self.0.insert(id, note);
        }
    }

    /// The next time that one wants to be visited.
    pub(super) fn next(&self) -> Option<Instant> {
        let times = self.0.values().filter_map(|note| match note.wake {
            Wake::At(at) => Some(at),
            Wake::Called | Wake::Never => None,
        });
        times.min()
    }

    /// Those whose time has come.
    fn due(&mut self, now: Instant) -> Vec<WorkspaceId> {
        let due = self.0.iter_mut().filter_map(|(id, note)| match note.wake {
            Wake::At(at) if at <= now => {
                note.wake = Wake::Called;
                Some(id.clone())
            }
            Wake::At(_) | Wake::Called | Wake::Never => None,
        });
        due.collect()
    }

    fn at(&self, conversation: &ConversationId) -> Option<WorkspaceId> {
        let mut all = self.0.iter();
        let found = all.find(|(_, note)| note.conversation.as_ref() == Some(conversation));
        found.map(|(id, _)| id.clone())
    }
}

impl Actor {
    pub(super) fn note_worker(&mut self, id: WorkspaceId, note: Note) {
        self.wakes.note(id, note);
    }

    pub(super) fn wake_workers(&mut self) {
        for id in self.wakes.due(Instant::now()) {
            self.visit(&id);
        }
    }

    /// The host is there again.
    pub(super) fn visit_all_workers(&mut self) {
        let all: Vec<WorkspaceId> = self.wakes.0.keys().cloned().collect();
        for id in all {
            self.visit(&id);
        }
    }

    /// A turn ended in a conversation, or the conversation itself did.
    pub(super) fn visit_worker_at(&mut self, conversation: &ConversationId) {
        if let Some(id) = self.wakes.at(conversation) {
            self.visit(&id);
        }
    }

    fn visit(&mut self, id: &WorkspaceId) {
        let lane = Lane::Workspace(id.clone());
        match self.jobs.lanes.enter(&lane, Job::Worker(id.clone())) {
            Entry::Refused(_) => {
                let again = Wake::At(Instant::now() + RETRY);
                if let Some(note) = self.wakes.0.get_mut(id) {
                    note.wake = again;
                }
            }
            entry @ (Entry::Run(_) | Entry::Waits) => self.entered(lane, entry),
        }
    }
}
