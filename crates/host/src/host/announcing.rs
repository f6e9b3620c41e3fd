//! Telling one client what waits for people: each conversation tells it itself, when it comes to it.
//!
//! What a conversation tells stands between what it told before and what it tells after, so nobody hears of a decision that
//! was answered before. One that is busy holds nobody up and tells it late; it forgets nobody.

use tokio::sync::{mpsc, oneshot};

use super::{ANSWER, Host};
use crate::conversation::Command;
use crate::mailbox::Mailbox;

impl Host {
    /// Lets every conversation tell what waits for people in it. Ends when all have, or when some take too long.
    pub(super) async fn announce_to(&self, mailbox: &Mailbox) {
        let all = self.all().into_iter();
        let told: Vec<_> = all
            .map(|(_, actor)| self.order(actor, mailbox.clone()))
            .collect();
        let told = futures_util::future::join_all(told);
        // Those who take longer have their order.
        let _ = tokio::time::timeout(ANSWER, told).await;
    }

    fn order(&self, actor: mpsc::Sender<Command>, mailbox: Mailbox) -> oneshot::Receiver<()> {
        let (reply, told) = oneshot::channel();
        let order = Command::TellDecisions(mailbox, reply);
        if let Err(mpsc::error::TrySendError::Full(order)) = actor.try_send(order) {
            self.context.tracker.spawn(async move {
                // One that is gone has nothing to tell.
                let _ = actor.send(order).await;
            });
        }
        told
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;
    use std::time::Duration;

    use estelle_claude::options::Search;
    use estelle_proto::decisions::DecisionKind;
    use estelle_proto::ipc::HostToPylon;
    use estelle_proto::{ConversationId, Json, ToolUseId};
    use estelle_state::conversation::Request;
    use estelle_state::idle::IdleTimeout;

    use super::*;
    use crate::conversation::{Actor, Book, HostSettings, begin_empty, now};
    use crate::data::DataFolder;
    use crate::ipc::Desk as _;
    use crate::mailbox::{Mail, mailbox};
    use crate::run::ShimCommand;

    fn host(data: &Path) -> Host {
        let settings = HostSettings {
            data: data.to_owned(),
            shim: ShimCommand {
                program: "/nowhere".into(),
                args: Vec::new(),
            },
            search: Search::default(),
            environment: BTreeMap::new(),
            home: None,
            deny_first: false,
            patterns: estelle_state::policy::DenyPatterns::default(),
            on_busy: estelle_proto::OnBusy::Inject,
            turn_limit: None,
            idle: IdleTimeout::default(),
            grace: Duration::from_secs(5),
        };
        Host::open(DataFolder::take(data).unwrap(), settings).unwrap()
    }

    /// A conversation in which people are asked something.
    fn asking(host: &Host, id: &ConversationId) -> Book {
        let mut book = begin_empty(&host.context, id).unwrap();
        let request = Request {
            request_id: "trust".to_owned(),
            tool_use_id: ToolUseId::parse("trust-1").unwrap(),
            kind: DecisionKind::Trust,
            tool_name: "folder".to_owned(),
            input: Json::parse("{}").unwrap(),
            input_hash: "hash".to_owned(),
            questions: Vec::new(),
            parent_tool_use_id: None,
        };
        let entries = book.decide().ask(now(), request, "new".to_owned());
        book.append_all(&entries).unwrap();
        book
    }

    #[tokio::test(start_paused = true)]
    async fn a_conversation_that_is_busy_tells_its_decisions_when_it_is_not() {
        let place = tempfile::tempdir().unwrap();
        let host = host(&place.path().join("data"));
        let id = ConversationId::parse("conv-1").unwrap();
        let book = asking(&host, &id);
        // Its task does not look at what it is asked, of which there is as much as it takes.
        let (actor, inbox) = mpsc::channel(1);
        actor.try_send(Command::Tick).unwrap();
        host.lock().insert(id.clone(), actor);
        let (mailbox, mut mail) = mailbox();
        host.tell_decisions(mailbox).await;
        assert!(mail.take().is_none(), "nobody waits for it for ever");
        let folder = host.context.conversation_folder(id.as_str());
        let task = Actor::new(host.context.clone(), folder, book, inbox).run(None);
        host.context.tracker.spawn(task);
        let told = tokio::time::timeout(Duration::from_secs(20), mail.next()).await;
        let Ok(Mail::Line(line)) = told else {
            panic!("it was forgotten");
        };
        let message: HostToPylon = serde_json::from_str(&line).unwrap();
        assert!(
            matches!(&message, HostToPylon::PermissionRequest(open) if open.session_id == id),
            "{message:?}"
        );
    }
}
