//! The subscriptions of one client, each conversation's in the order in which they were asked for.
//!
//! A replay can take long, because it waits for a client that reads slowly. So it does not hold up the commands behind it;
//! a later word about the same conversation ends it.

use std::collections::BTreeMap;
use std::sync::Arc;

use estelle_proto::ipc::Subscribe;
use estelle_proto::{ApiError, ConversationId, ErrorCode, Retry};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::desk::Desk;
use crate::mailbox::Mailbox;

/// So many replays go on at once; the mailbox is what limits them anyway.
const REPLAYS: usize = 4;
/// Turns that are over are cleared away when there are so many.
const MANY: usize = 1024;

/// What was asked last about a conversation.
#[derive(Debug, Clone, Default)]
struct Turn {
    /// Something newer was asked.
    superseded: CancellationToken,
    /// It is over.
    over: CancellationToken,
}

#[derive(Debug)]
pub(super) struct Subscriptions {
    turns: BTreeMap<ConversationId, Turn>,
    replays: Arc<Semaphore>,
}

impl Subscriptions {
    pub(super) fn new() -> Self {
        Self {
            turns: BTreeMap::new(),
            replays: Arc::new(Semaphore::new(REPLAYS)),
        }
    }

    /// Subscribes, after what was asked before about this conversation has ended.
    pub(super) fn begin<D: Desk>(
        &mut self,
        desk: Arc<D>,
        request: Subscribe,
        mailbox: Mailbox,
    ) -> impl Future<Output = Result<(), ApiError>> + Send + use<D> {
        let (before, turn) = self.turn(&request.session_id);
        let replays = Arc::clone(&self.replays);
        async move {
            let _over = turn.over.drop_guard();
            before.over.cancelled().await;
            let subscribed = async {
                // The semaphore is never closed.
                let _replay = replays.acquire().await;
                // A second subscription begins afresh and does not double the first.
                desk.unsubscribe(&request.session_id, &mailbox).await;
                desk.subscribe(request, mailbox).await
            };
            tokio::select! {
                biased;
                () = turn.superseded.cancelled() => Err(superseded()),
                subscribed = subscribed => subscribed,
            }
        }
    }

    /// Unsubscribes.
    pub(super) fn end<D: Desk>(
        &mut self,
        desk: Arc<D>,
        id: ConversationId,
        mailbox: Mailbox,
    ) -> impl Future<Output = ()> + Send + use<D> {
        let (before, turn) = self.turn(&id);
        async move {
            let _over = turn.over.drop_guard();
            before.over.cancelled().await;
            desk.unsubscribe(&id, &mailbox).await;
            mailbox.forget(&id);
        }
    }

    /// Ends the turn before this one, and makes this one the last.
    fn turn(&mut self, id: &ConversationId) -> (Turn, Turn) {
        if self.turns.len() >= MANY {
            self.turns.retain(|_, turn| !turn.over.is_cancelled());
        }
        let turn = Turn::default();
        let before = self
            .turns
            .insert(id.clone(), turn.clone())
            .unwrap_or_else(|| {
                let none = Turn::default();
                none.over.cancel();
                none
            });
        before.superseded.cancel();
        (before, turn)
    }
}

fn superseded() -> ApiError {
    let text = "a later message about this conversation took the place of this subscription";
    ApiError::new(ErrorCode::Conflict, text.to_owned(), Retry::Never)
}
