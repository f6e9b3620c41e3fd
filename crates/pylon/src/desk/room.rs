//! Who is there, who looks at what, and to whom something is told.
//!
//! A client looks at one conversation at a time. It is told everything about that one, and of the others what a person
//! must not miss. The room holds facts only; sending is the desk's.

use std::collections::{BTreeMap, BTreeSet};

use estelle_proto::{ClaudeEvent, ConversationId, DeviceId};

use super::context::Aside;
use super::live::Live;

/// Who has to be told of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Audience {
    /// Whoever looks at the conversation.
    Viewers,
    /// All clients.
    Everybody,
}

impl Audience {
    /// What a person was asked, what became of it, and how a turn ended reach everybody.
    pub(super) fn of(event: &ClaudeEvent) -> Self {
        match event {
            ClaudeEvent::UserMessage(_)
            | ClaudeEvent::PermissionAsked(_)
            | ClaudeEvent::QuestionAsked(_)
            | ClaudeEvent::DecisionAnswered(_)
            | ClaudeEvent::State(_)
            | ClaudeEvent::Result(_)
            | ClaudeEvent::Error(_)
            | ClaudeEvent::Aborted(_)
            | ClaudeEvent::MessageCancelled(_)
            | ClaudeEvent::Paused(_)
            | ClaudeEvent::Resumed(_) => Self::Everybody,
            ClaudeEvent::Init(_)
            | ClaudeEvent::StateUpdate(_)
            | ClaudeEvent::Text(_)
            | ClaudeEvent::TextComplete(_)
            | ClaudeEvent::Thinking(_)
            | ClaudeEvent::Waiting(_)
            | ClaudeEvent::ThinkingComplete(_)
            | ClaudeEvent::ToolInfo(_)
            | ClaudeEvent::ToolComplete(_)
            | ClaudeEvent::Task(_)
            | ClaudeEvent::JournalDamage(_)
            | ClaudeEvent::Remark(_)
            | ClaudeEvent::IdleWarning(_)
            | ClaudeEvent::SessionReset(_)
            | ClaudeEvent::Rewound(_)
            // What the plan allows reaches everybody with the state of the pylon.
            | ClaudeEvent::Limits(_)
            | ClaudeEvent::ApiRetry(_)
            | ClaudeEvent::Unknown(_) => Self::Viewers,
        }
    }
}

/// Everybody and everything that is there now.
#[derive(Debug, Default)]
pub(super) struct Room {
    clients: BTreeSet<DeviceId>,
    views: BTreeMap<DeviceId, ConversationId>,
    /// Under which number the store keeps what a client has seen, where that is not the number of its connection.
    readers: BTreeMap<DeviceId, DeviceId>,
    /// Who was told that a conversation has something new, and has not looked since.
    told: BTreeSet<(ConversationId, DeviceId)>,
    live: BTreeMap<ConversationId, Live>,
    /// Conversations whose log is told again from its start. Clients fetch that as history, not event by event.
    muted: BTreeSet<ConversationId>,
    /// Conversations of which the host still tells what happened while nobody listened.
    behind: BTreeSet<ConversationId>,
    /// Where a turn ended since budgets were last held against what was spent.
    ended: BTreeSet<ConversationId>,
}

impl Room {
    /// These clients are there and no others. Gives those who came, and those who went with their readers.
    pub(super) fn present(
        &mut self,
        clients: BTreeSet<DeviceId>,
    ) -> (Vec<DeviceId>, Vec<(DeviceId, DeviceId)>) {
        let came = clients.difference(&self.clients).copied().collect();
        let went: Vec<_> = self.clients.difference(&clients).copied().collect();
        let went = went.into_iter();
        let went = went.filter_map(|client| Some((client, self.leave(client)?)));
        let went = went.collect();
        self.clients = clients;
        (came, went)
    }

    /// A client is a paired device, which the store knows by a number of its own.
    pub(super) fn recognise(&mut self, client: DeviceId, reader: DeviceId) {
        self.readers.insert(client, reader);
    }

    /// Whether it is known which paired device a client is.
    pub(super) fn is_recognised(&self, client: DeviceId) -> bool {
        self.readers.contains_key(&client)
    }

    /// The number under which the store keeps what a client has seen.
    pub(super) fn reader(&self, client: DeviceId) -> DeviceId {
        self.readers.get(&client).copied().unwrap_or(client)
    }

    /// A client is there. Tells whether it just came.
    pub(super) fn join(&mut self, client: DeviceId) -> bool {
        self.clients.insert(client)
    }

    /// A client went. Gives its reader, unless that one is there on another connection.
    pub(super) fn leave(&mut self, client: DeviceId) -> Option<DeviceId> {
        let reader = self.reader(client);
        self.clients.remove(&client);
        self.views.remove(&client);
        self.readers.remove(&client);
        self.told.retain(|(_, device)| *device != client);
        let is_there = self.readers.values().any(|other| *other == reader);
        (!is_there).then_some(reader)
    }

    /// A client looks at a conversation, and no longer at another. One that is not here is told nothing.
    pub(super) fn look(&mut self, client: DeviceId, conversation: ConversationId) {
        if !self.clients.contains(&client) {
            return;
        }
        self.told.remove(&(conversation.clone(), client));
        self.views.insert(client, conversation);
    }

    /// All clients.
    pub(super) fn clients(&self) -> impl Iterator<Item = DeviceId> + '_ {
        self.clients.iter().copied()
    }

    /// What a client looks at.
    pub(super) fn viewed(&self, client: DeviceId) -> Option<ConversationId> {
        self.views.get(&client).cloned()
    }

    /// Who looks at a conversation.
    pub(super) fn viewers(&self, conversation: &ConversationId) -> Vec<DeviceId> {
        let views = self.views.iter();
        let viewers = views.filter(|(_, viewed)| *viewed == conversation);
        viewers.map(|(client, _)| *client).collect()
    }

    /// A turn ended, so that something was spent.
    pub(super) fn ended(&mut self, conversation: ConversationId) {
        self.ended.insert(conversation);
    }

    /// All conversations in which something may be under way: also where a turn ended, because a message that waited may have
    /// begun the next one.
    pub(super) fn spending(&mut self) -> BTreeSet<ConversationId> {
        let active = self.live.iter().filter(|(_, live)| live.is_active());
        let active = active.map(|(id, _)| id.clone());
        active.chain(std::mem::take(&mut self.ended)).collect()
    }

    /// What is known of conversations beside what is in the store.
    pub(super) fn asides(&self) -> BTreeMap<ConversationId, Aside> {
        let asides = self.live.iter().map(|(id, live)| {
            let (process, activity) = (live.suspect(), live.activity());
            (id.clone(), Aside { process, activity })
        });
        let is_any = |aside: &Aside| aside.process.is_some() || aside.activity.is_some();
        asides.filter(|(_, aside)| is_any(aside)).collect()
    }

    /// All conversations that somebody looks at.
    pub(super) fn all_viewed(&self) -> BTreeSet<ConversationId> {
        self.views.values().cloned().collect()
    }

    /// All conversations whose log is told again from its start.
    pub(super) fn all_muted(&self) -> BTreeSet<ConversationId> {
        self.muted.clone()
    }

    /// Whether somebody who is there does not look at a conversation.
    pub(super) fn has_others(&self, conversation: &ConversationId) -> bool {
        let is_viewer = |client| self.views.get(client) == Some(conversation);
        !self.clients.iter().all(is_viewer)
    }

    /// The clients of readers who have to be told that there is something new: once, until they look.
    pub(super) fn untold(
        &mut self,
        conversation: &ConversationId,
        unread_by: &[DeviceId],
    ) -> Vec<DeviceId> {
        let there = self.clients.iter().filter(|client| {
            unread_by.contains(&self.reader(**client))
                && self.views.get(client) != Some(conversation)
        });
        let there: Vec<_> = there.copied().collect();
        let is_new = |client: &DeviceId| self.told.insert((conversation.clone(), *client));
        there.into_iter().filter(is_new).collect()
    }

    /// What is under way in a conversation, if anything of it is known.
    pub(super) fn get(&self, conversation: &ConversationId) -> Option<&Live> {
        self.live.get(conversation)
    }

    /// What is under way in a conversation.
    pub(super) fn live(&mut self, conversation: &ConversationId) -> &mut Live {
        self.live.entry(conversation.clone()).or_default()
    }

    /// Conversations in which something waits for a person, as far as that is known.
    pub(super) fn asking(&self) -> Vec<ConversationId> {
        let live = self
            .live
            .iter()
            .filter(|(id, live)| !self.is_muted(id) && !live.pending().is_empty());
        live.map(|(id, _)| id.clone()).collect()
    }

    /// The host begins to tell what happened in a conversation while nobody listened.
    pub(super) fn fall_behind(&mut self, conversation: ConversationId) {
        self.behind.insert(conversation);
    }

    /// The host told all that happened until now.
    pub(super) fn catch_up(&mut self, conversation: &ConversationId) {
        self.behind.remove(conversation);
    }

    /// Whether more is to come of what happened before.
    pub(super) fn is_behind(&self, conversation: &ConversationId) -> bool {
        self.behind.contains(conversation)
    }

    /// The log of a conversation begins anew.
    pub(super) fn mute(&mut self, conversation: ConversationId) {
        self.muted.insert(conversation);
    }

    /// It is all there again. Tells whether it was muted.
    pub(super) fn unmute(&mut self, conversation: &ConversationId) -> bool {
        self.muted.remove(conversation)
    }

    /// Whether events of a conversation are shown as they come.
    pub(super) fn is_muted(&self, conversation: &ConversationId) -> bool {
        self.muted.contains(conversation)
    }

    /// A conversation is gone.
    pub(super) fn forget(&mut self, conversation: &ConversationId) {
        self.live.remove(conversation);
        self.muted.remove(conversation);
        self.behind.remove(conversation);
        self.ended.remove(conversation);
        self.views.retain(|_, viewed| viewed != conversation);
        self.told.retain(|(told, _)| told != conversation);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conversation(name: &str) -> ConversationId {
        ConversationId::parse(name).unwrap()
    }

    #[test]
    fn a_client_looks_at_one_conversation_at_a_time() {
        let mut room = Room::default();
        let (one, two) = (DeviceId(100), DeviceId(101));
        assert!(room.join(one) && room.join(two) && !room.join(one));
        room.look(one, conversation("a"));
        room.look(two, conversation("a"));
        assert_eq!(room.viewers(&conversation("a")), [one, two]);
        assert!(!room.has_others(&conversation("a")));
        room.look(two, conversation("b"));
        assert_eq!(room.viewers(&conversation("a")), [one]);
        assert!(room.has_others(&conversation("a")));
        room.leave(one);
        assert!(room.viewers(&conversation("a")).is_empty());
    }

    #[test]
    fn something_new_is_told_once_until_the_client_looks() {
        let mut room = Room::default();
        let client = DeviceId(100);
        room.join(client);
        let unread = [client, DeviceId(555)];
        assert_eq!(room.untold(&conversation("a"), &unread), [client]);
        assert!(room.untold(&conversation("a"), &unread).is_empty());
        room.look(client, conversation("a"));
        room.look(client, conversation("b"));
        assert_eq!(room.untold(&conversation("a"), &unread), [client]);
    }

    #[test]
    fn a_device_with_two_connections_is_one_reader() {
        let mut room = Room::default();
        let (one, two, reader) = (DeviceId(100), DeviceId(101), DeviceId(9000));
        for client in [one, two] {
            room.join(client);
            room.recognise(client, reader);
        }
        room.look(one, conversation("a"));
        assert_eq!(room.untold(&conversation("a"), &[reader]), [two]);
        assert_eq!(room.leave(one), None, "it is still there");
        assert_eq!(room.leave(two), Some(reader));
    }

    #[test]
    fn those_who_came_and_went_are_told_apart() {
        let mut room = Room::default();
        let devices = |ids: &[u32]| ids.iter().copied().map(DeviceId).collect::<BTreeSet<_>>();
        assert_eq!(room.present(devices(&[100, 101])).0.len(), 2);
        room.look(DeviceId(101), conversation("a"));
        let (came, went) = room.present(devices(&[100, 102]));
        let gone = (DeviceId(101), DeviceId(101));
        assert_eq!((came, went), (vec![DeviceId(102)], vec![gone]));
        assert!(room.viewers(&conversation("a")).is_empty());
    }
}
