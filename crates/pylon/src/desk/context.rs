//! What a request is carried out with: the store, the host, the way back to the asker, and a line to the desk.
//!
//! A handler runs in a task of its own and owns nothing; what the desk alone knows (who looks at what, what is under
//! way) it asks the desk for.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::SystemTime;

use estelle_proto::budgets::BudgetWarning;
use estelle_proto::conversations::ProcessState;
use estelle_proto::events::ActivityState;
use estelle_proto::{
    ApiError, Author, ClientId, ConversationId, DeviceId, Envelope, ErrorReport, PylonToApp, Reply,
    RequestId, Sender, Timestamp, To, WorkspaceId,
};
use tokio::sync::{Notify, Semaphore, mpsc, oneshot};

use super::DeskConfig;
use super::fit;
use super::removing::Removing;
use super::terminals::Looks;
use super::worker::{Held, Note};
use crate::deploy::Deploys;
use crate::link::host::HostLink;
use crate::link::relay::{Outlet, SendError};
use crate::store::Store;
use crate::worktrees::Worktrees;

/// What somebody sees who begins to look at a conversation.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) is_active: bool,
    pub(super) working_since: Option<Timestamp>,
}

/// What the desk knows of a conversation beside what is in the store.
#[derive(Debug, Default)]
pub(super) struct Aside {
    pub(super) process: Option<ProcessState>,
    pub(super) activity: Option<ActivityState>,
}

/// What handlers tell the desk.
#[derive(Debug)]
pub(super) enum Msg {
    /// From now on the client is told everything about the conversation.
    Look {
        client: DeviceId,
        conversation: ConversationId,
        seen: oneshot::Sender<Seen>,
    },
    /// The client has the page of a conversation it looks at, and is to be told what is under way in it.
    Show {
        asker: Asker,
        conversation: ConversationId,
    },
    /// The client has the list of workspaces, and is to be told what waits for a person in any of them.
    ShowDecisions(Asker),
    /// The list of workspaces is another one.
    ListChanged,
    /// The status of the pylon is another one.
    StatusChanged,
    /// Which conversation does this client look at?
    Viewed {
        client: DeviceId,
        viewed: oneshot::Sender<Option<ConversationId>>,
    },
    /// Of which conversations is more known than the store has?
    Asides(oneshot::Sender<BTreeMap<ConversationId, Aside>>),
    /// Something that all clients are to be told.
    Broadcast(Box<PylonToApp>),
    /// When a worker is to be visited; whoever waits for it knows that this counts from now on.
    Worker(WorkspaceId, Note, Option<oneshot::Sender<()>>),
    /// A conversation is gone.
    Deleted(ConversationId),
    /// The host could not be told of something that was deleted or cleared.
    RemovalsLeft,
    /// Budgets are other ones.
    Budgets,
    /// A line of a budget was passed. The answer is whether somebody is there who hears of it.
    Passed(BudgetWarning, oneshot::Sender<bool>),
    /// These may go on beyond a hard line.
    NotStopped(BTreeSet<ConversationId>),
    /// A conversation goes on by itself at another time, or not any more.
    Continuation(ConversationId),
}

/// Shared by all handlers.
#[derive(Debug, Clone)]
pub(super) struct Context {
    pub(super) config: Arc<DeskConfig>,
    pub(super) store: Store,
    pub(super) host: HostLink,
    pub(super) deploys: Deploys,
    pub(super) worktrees: Worktrees,
    pub(super) desk: mpsc::Sender<Msg>,
    pub(super) looks: Looks,
    /// Calls whose whole is being told: each is held in memory meanwhile.
    pub(super) details: Arc<Semaphore>,
    /// What is being deleted or cleared.
    pub(super) removing: Removing,
    /// The folders that our workers have.
    pub(super) held: Held,
    /// Wakes whoever delivers notifications.
    pub(super) wake: Arc<Notify>,
    /// Wakes whoever goes on at the reset of a limit.
    pub(super) reset: Arc<Notify>,
    /// Our name among the host's clients, for as long as we remember which calls we have begun.
    pub(super) client: Option<ClientId>,
}

/// A name that nobody had before.
pub(super) fn new_client() -> Option<ClientId> {
    ClientId::parse(&format!("pylon-{}", uuid::Uuid::now_v7())).ok()
}

impl Context {
    /// Our own id.
    pub(super) fn device(&self) -> DeviceId {
        self.config.device_id
    }

    /// Registers a viewer. Whatever happens after this reaches it, so what it is shown next leaves no gap.
    pub(super) async fn look(&self, client: DeviceId, conversation: ConversationId) -> Seen {
        let (seen, answer) = oneshot::channel();
        let look = Msg::Look {
            client,
            conversation,
            seen,
        };
        self.tell(look).await;
        answer.await.unwrap_or_default()
    }

    /// The conversation that a client looks at.
    pub(super) async fn viewed(&self, client: DeviceId) -> Option<ConversationId> {
        let (viewed, answer) = oneshot::channel();
        self.tell(Msg::Viewed { client, viewed }).await;
        answer.await.ok().flatten()
    }

    /// The conversations of which more is known than the store has.
    pub(super) async fn asides(&self) -> BTreeMap<ConversationId, Aside> {
        let (asides, answer) = oneshot::channel();
        self.tell(Msg::Asides(asides)).await;
        answer.await.unwrap_or_default()
    }

    /// Tells a viewer what is under way. The desk does that itself: events that follow then come after it.
    pub(super) async fn show(&self, asker: Asker, conversation: ConversationId) {
        self.tell(Msg::Show {
            asker,
            conversation,
        })
        .await;
    }

    /// Tells a client all that waits for a person.
    pub(super) async fn show_decisions(&self, asker: Asker) {
        self.tell(Msg::ShowDecisions(asker)).await;
    }

    /// All clients have to be told what workspaces there are.
    pub(super) async fn list_changed(&self) {
        self.tell(Msg::ListChanged).await;
    }

    /// Tells all clients something.
    pub(super) async fn broadcast(&self, message: impl Into<PylonToApp>) {
        self.tell(Msg::Broadcast(Box::new(message.into()))).await;
    }

    /// Says when a worker is to be visited. What happens in its conversation after this leads to a visit.
    pub(super) async fn note_worker(&self, workspace: WorkspaceId, note: Note) {
        let (known, counts) = oneshot::channel();
        self.tell(Msg::Worker(workspace, note, Some(known))).await;
        // A desk that is gone visits nobody.
        let _ = counts.await;
    }

    /// A conversation is gone: nobody follows or views it any more.
    pub(super) async fn deleted(&self, conversation: ConversationId) {
        self.host.forget(conversation.clone()).await;
        super::attachments::forget(self, &conversation).await;
        self.tell(Msg::Deleted(conversation)).await;
    }

    /// What was deleted or cleared has to be told to the host again.
    pub(super) async fn removals_left(&self) {
        self.tell(Msg::RemovalsLeft).await;
    }

    /// Budgets have to be held against what was spent.
    pub(super) async fn budgets_changed(&self) {
        self.tell(Msg::Budgets).await;
    }

    /// All clients have to be told that a line was passed. Tells whether somebody is there.
    pub(super) async fn budget_passed(&self, warning: BudgetWarning) -> bool {
        let (heard, answer) = oneshot::channel();
        self.tell(Msg::Passed(warning, heard)).await;
        answer.await.unwrap_or_default()
    }

    /// Some conversations may go on beyond a hard line, and have to be stopped later.
    pub(super) async fn not_stopped(&self, conversations: BTreeSet<ConversationId>) {
        self.tell(Msg::NotStopped(conversations)).await;
    }

    /// All clients have to be told when a conversation goes on by itself.
    pub(super) async fn continuation_changed(&self, conversation: ConversationId) {
        self.tell(Msg::Continuation(conversation)).await;
    }

    async fn tell(&self, message: Msg) {
        // A desk that is gone ends its handlers as well.
        let _ = self.desk.send(message).await;
    }
}

/// Tells the desk that the status of the pylon is another one.
#[derive(Debug)]
pub(crate) struct Changed(pub(super) mpsc::Sender<Msg>);

impl Changed {
    /// Tells it. A desk that is too busy tells the status at the next occasion.
    pub(crate) fn tell(&self) {
        let _ = self.0.try_send(Msg::StatusChanged);
    }
}

/// The clock, which only the shell reads.
pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let millis = since.map_or(0, |since| since.as_millis());
    Timestamp(i64::try_from(millis).unwrap_or(i64::MAX))
}

/// Whoever sent a request, over the connection it came on.
#[derive(Debug, Clone)]
pub(crate) struct Asker {
    pub(super) device: DeviceId,
    /// Under which number the store keeps what it has seen.
    pub(super) reader: DeviceId,
    /// The name of the request, if it has one and this is about a request.
    pub(crate) request: Option<RequestId>,
    /// What the relay says about it; nothing if it is in the same process.
    pub(super) sender: Option<Arc<Sender>>,
    /// Whether it was said to a group, and not to us alone.
    pub(crate) to_all: bool,
    pub(super) outlet: Outlet,
}

impl Asker {
    /// The paired device that asks, for what is kept longer than its connection.
    pub(super) fn author(&self) -> Option<Author> {
        let sender = self.sender.as_ref()?;
        let key = sender.device_key.clone()?;
        Some(Author::new(key, sender.name.clone()))
    }

    /// Answers. An asker that is gone with its connection asks again when it is back.
    pub(crate) fn answer(&self, reply: impl Into<PylonToApp>) {
        let envelope = Envelope::<PylonToApp>::to(To::device(self.device), reply);
        match fit::send(&self.outlet, &envelope) {
            Ok(()) | Err(SendError::Gone | SendError::Full) => {}
            Err(error @ (SendError::TooLarge { .. } | SendError::Encode(_))) => {
                tracing::error!(%error, "an answer cannot be sent");
                let text = error.to_string();
                let error = super::error::refusal(estelle_proto::ErrorCode::TooLarge, text);
                self.complain(error, None);
            }
        }
    }

    /// Answers with one of many pieces, when few others wait for the connection. Tells whether it still stands.
    pub(super) async fn answer_in_turn(&self, reply: impl Into<PylonToApp>) -> bool {
        let envelope = Envelope::<PylonToApp>::to(To::device(self.device), reply);
        self.outlet.send_in_turn(&envelope).await.is_ok()
    }

    /// Carries something out for a request, and answers with what became of its result, or with why nothing did.
    pub(super) async fn answer_with<R, F>(
        &self,
        request: Option<&RequestId>,
        result: R,
        work: impl FnOnce(R) -> F,
    ) where
        R: Reply + Clone + Into<PylonToApp>,
        F: Future<Output = Result<R, ApiError>>,
    {
        let done = work(result.clone()).await;
        let result = done.unwrap_or_else(|error| result.failed(error));
        self.answer(result.in_reply_to(request));
    }

    /// Answers a request that has no result of its own.
    pub(super) fn complain(&self, error: ApiError, about: Option<&str>) {
        let mut report = ErrorReport::from(error);
        report.about = about.map(str::to_owned);
        report.request_id.clone_from(&self.request);
        let envelope = Envelope::<PylonToApp>::to(To::device(self.device), report);
        let _ = self.outlet.send(&envelope);
    }
}
