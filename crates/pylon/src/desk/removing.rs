//! Deleting and clearing: one transaction here decides, and the host follows.
//!
//! What is decided is out of the lists and noted among the removals at the same moment, so that nothing is ever half gone:
//! what the host did not hear of, because it or we died, is told to it when both are there again. Refused is only what
//! nothing was done about: while the host is away, and while a terminal has one of the conversations.
//! [Crash windows](../../../../docs/design/removals.md).

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use estelle_proto::ipc::{ClearSession, CloseTerminal, DeleteSession};
use estelle_proto::terminals::TerminalState;
use estelle_proto::{ApiError, ConversationId, ErrorCode, Reply as _, Retry, TerminalId};
use futures_util::StreamExt as _;

use super::claude::ask_if_known;
use super::context::Context;
use super::error::{Told as _, refusal};
use super::{attachments, worker};
use crate::failpoint;
use crate::link::host::HostState;
use crate::link::keeper;
use crate::store::{ConversationError, Removed, StoreError};

/// Conversations that the host is asked to end at once.
const AT_ONCE: usize = 16;
/// How long to wait before the host is asked again for what it could not do.
const AGAIN: Duration = Duration::from_secs(10);

/// What is being removed at this moment.
#[derive(Debug, Clone, Default)]
pub(super) struct Removing {
    /// By how many requests each conversation is being removed.
    marked: Arc<Mutex<HashMap<ConversationId, usize>>>,
    /// Held while a history is cleared in the host: a second time would take what was said after the first.
    clearing: Arc<tokio::sync::Mutex<()>>,
}

impl Removing {
    fn marked(&self) -> MutexGuard<'_, HashMap<ConversationId, usize>> {
        // Nothing that could fail is done while it is held.
        self.marked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on no terminal gets one of these conversations.
    fn mark(&self, of: &[ConversationId]) -> Mark {
        for id in of {
            *self.marked().entry(id.clone()).or_default() += 1;
        }
        Mark {
            removing: self.clone(),
            of: of.to_vec(),
        }
    }

    fn is_marked(&self, id: &ConversationId) -> bool {
        self.marked().contains_key(id)
    }
}

/// Ends a mark when it is dropped.
struct Mark {
    removing: Removing,
    of: Vec<ConversationId>,
}

impl Drop for Mark {
    fn drop(&mut self) {
        let mut marked = self.removing.marked();
        for id in &self.of {
            if let Some(count) = marked.get_mut(id) {
                *count -= 1;
                if *count == 0 {
                    marked.remove(id);
                }
            }
        }
    }
}

/// Removes conversations: nobody has them in a terminal, `decide` takes them out of the lists, and the host ends them. Once
/// that is decided it does not fail any more. Gives whether the host has ended all of them; if not, it is told again later.
pub(super) async fn remove(
    cx: &Context,
    of: &[ConversationId],
    decide: impl Future<Output = Result<Vec<ConversationId>, ApiError>>,
) -> Result<bool, ApiError> {
    let _mark = cx.removing.mark(of);
    not_lent(cx, of).await?;
    let gone = decide.await?;
    failpoint::reach("removal-kept");
    let ended = futures_util::stream::iter(gone).map(|id| async move {
        let ended = end(cx, id.clone()).await;
        failpoint::reach("removal-ended");
        cx.deleted(id.clone()).await;
        (id, ended)
    });
    let mut ended = ended.buffer_unordered(AT_ONCE);
    let mut is_left = false;
    while let Some((conversation, ended)) = ended.next().await {
        if let Err(error) = ended {
            is_left = true;
            tracing::warn!(%conversation, %error, "the host is told later that a conversation is deleted");
        }
    }
    if is_left {
        cx.removals_left().await;
    }
    Ok(!is_left)
}

/// Makes the host end a conversation for good. One that it does not know has ended.
pub(super) async fn end(cx: &Context, conversation: ConversationId) -> Result<(), ApiError> {
    ask_if_known(cx, DeleteSession::new(conversation)).await
}

/// Refuses while a terminal has one of these conversations: its agent would go on in something that is gone.
async fn not_lent(cx: &Context, of: &[ConversationId]) -> Result<(), ApiError> {
    let all = match keeper::list(&cx.host).await {
        Ok(all) => all,
        // A host of a build before there were terminals has none.
        Err(error) if error.code == ErrorCode::UnknownType => return Ok(()),
        Err(error) => return Err(error),
    };
    for kept in all {
        let terminal = kept.terminal;
        if let Some(conversation) = &terminal.conversation_id
            && terminal.state == TerminalState::Running
            && of.contains(conversation)
        {
            let text = format!(
                "conversation {conversation} is in terminal {}: close the terminal first; nothing was changed",
                terminal.terminal_id
            );
            return Err(ApiError::new(ErrorCode::Conflict, text, Retry::Later));
        }
    }
    Ok(())
}

/// Takes a terminal back that was opened for a conversation while that was being removed.
pub(super) async fn close_if_removed(
    cx: &Context,
    conversation: &ConversationId,
    terminal: &TerminalId,
) -> Result<(), ApiError> {
    let is_marked = cx.removing.is_marked(conversation);
    let found = cx.store.conversation(conversation.clone()).await;
    let is_gone = matches!(found, Err(ConversationError::UnknownConversation { .. }));
    if !is_marked && !is_gone {
        return Ok(());
    }
    let closed = cx.host.request(CloseTerminal::new(terminal.clone())).await;
    closed.map_err(|error| error.told())?.outcome()?;
    if is_gone {
        end(cx, conversation.clone()).await?;
    }
    let text = format!("conversation {conversation} is being deleted or cleared");
    Err(refusal(ErrorCode::Conflict, text))
}

/// Clears a conversation: its history, the host's log and the agent's session.
pub(super) async fn clear(cx: &Context, id: ConversationId) -> Result<(), ApiError> {
    if let HostState::Away(lost) = &*cx.host.state().borrow() {
        // Nothing may be deleted here that the host would keep.
        let text = lost.to_string();
        return Err(ApiError::new(
            ErrorCode::HostUnavailable,
            text,
            Retry::Later,
        ));
    }
    let of = [id];
    let _mark = cx.removing.mark(&of);
    not_lent(cx, &of).await?;
    let [id] = of;
    let _one = cx.removing.clearing.lock().await;
    // The host's log begins a new epoch; whatever of the old one still comes must find nothing to add to.
    let cleared = cx.store.clear_history(id.clone()).await;
    cleared.map_err(|error| error.told())?;
    failpoint::reach("clearing-kept");
    // It is decided: whatever the host says, the next message waits until it has followed.
    if let Err(error) = clear_in_host(cx, &id).await {
        tracing::warn!(conversation = %id, %error, "the host is told later that a history is cleared");
        cx.removals_left().await;
    }
    Ok(())
}

/// To be called by whoever holds `clearing`.
async fn clear_in_host(cx: &Context, id: &ConversationId) -> Result<(), ApiError> {
    ask_if_known(cx, ClearSession::new(id.clone())).await?;
    failpoint::reach("clearing-done");
    let finished = cx.store.finish_removal(Removed::History(id.clone())).await;
    finished.map_err(|error| error.told())
}

/// Nothing is said in a conversation, and nothing made of it, before the host has cleared what was cleared here.
pub(super) async fn finish_clearing(cx: &Context, id: &ConversationId) -> Result<(), ApiError> {
    if !is_clearing(cx, id).await? {
        return Ok(());
    }
    let _one = cx.removing.clearing.lock().await;
    if is_clearing(cx, id).await? {
        clear_in_host(cx, id).await?;
    }
    Ok(())
}

async fn is_clearing(cx: &Context, id: &ConversationId) -> Result<bool, ApiError> {
    let found = cx.store.is_clearing(id.clone()).await;
    found.map_err(|error| error.told())
}

/// Finishes what is left, as long as the host is there. Up to `old` is what an earlier pylon left: of that nothing can be on
/// its way any more, and once the host has heard of it, it is over. What this pylon deleted stays noted for the next one,
/// which asks once more: a message of ours may reach the host after the end of its conversation, and we may die before we
/// see that.
pub(super) async fn finish_all(cx: Context, old: i64) {
    while matches!(*cx.host.state().borrow(), HostState::Up(_)) {
        match pass(&cx, old).await {
            Ok(0) => return,
            Ok(left) => tracing::warn!(left, "the host has still to follow what was removed"),
            Err(error) => tracing::error!(%error, "what was removed is not known"),
        }
        tokio::time::sleep(AGAIN).await;
    }
}

/// Asks once for everything; gives how much of it failed.
async fn pass(cx: &Context, old: i64) -> Result<usize, StoreError> {
    let mut left = 0;
    for removal in cx.store.removals().await? {
        let is_old = removal.key <= old;
        let done = match &removal.what {
            Removed::Conversation(id) => {
                attachments::forget(cx, id).await;
                end(cx, id.clone()).await.map(|()| is_old)
            }
            Removed::History(id) => finish_clearing(cx, id).await.map(|()| false),
            // The task of its worker waits again once nobody is at it.
            Removed::Workspace(id, folder) if left == 0 => {
                worker::forget(cx, id, PathBuf::from(folder.as_str())).await;
                Ok(true)
            }
            Removed::Workspace(..) => Ok(false),
        };
        match done {
            Ok(true) => cx.store.finish_removal(removal.what).await?,
            Ok(false) => {}
            Err(error) => {
                tracing::debug!(?removal, %error, "a removal is not finished");
                left += 1;
            }
        }
    }
    Ok(left)
}
