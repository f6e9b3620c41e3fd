//! The desk's second door: for those who live in the same process, such as the gateway.
//!
//! A request from here takes the same lanes and the same handlers as one of an app, and is checked against the rights
//! that come with it. Whoever watches a conversation is told what was stored, in order, beginning with what is under way.
//! Who does not read is cut off and begins again from a cursor; the desk waits for nobody.

use std::collections::HashMap;
use std::sync::Arc;

use estelle_proto::ipc::{HostEvent, ServerShutdown};
use estelle_proto::{
    ApiError, AppToPylon, ClaudeEvent, ConversationId, ConversationStatus, Envelope, Epoch,
    ErrorCode, Message as _, PylonToApp, Retry, Right, Seq,
};
use tokio::sync::{mpsc, oneshot, watch};

use super::actor::Actor;
use super::context::Asker;
use super::error::{Told, permitted};
use super::requests;
use crate::link::relay::Outlet;
use crate::store::{PageFrom, PageQuery};

/// Requests that wait for the desk.
pub(super) const REQUESTS: usize = 64;
/// What one watcher may leave unread: some seconds of the busiest turn.
const UNREAD: usize = 1024;

/// What comes in by this door.
#[derive(Debug)]
pub(super) enum Local {
    Request {
        rights: Vec<Right>,
        message: Box<AppToPylon>,
        outlet: Outlet,
    },
    Watch {
        conversation: ConversationId,
        items: mpsc::Sender<Item>,
        begin: oneshot::Sender<Result<Beginning, ApiError>>,
    },
}

/// What a watcher is told.
#[derive(Debug, Clone)]
pub enum Item {
    /// Something happened, and is in the store.
    Event(Arc<HostEvent>),
    /// The coarse state of the conversation.
    Status(ConversationStatus),
    /// The host goes down and takes its runs along.
    Shutdown(ServerShutdown),
}

/// Where a watcher begins: everything up to `head` is in the store, everything after it is told.
#[derive(Debug, Clone)]
pub struct Beginning {
    /// The newest event that is in the store.
    pub head: Seq,
    /// Its epoch; none if nothing happened yet.
    pub epoch: Option<Epoch>,
    /// The coarse state.
    pub status: ConversationStatus,
    /// What is being written, what waits, and what a person has to decide.
    pub under_way: Vec<ClaudeEvent>,
}

/// A conversation that is watched. The items end when the watcher was too slow, or the conversation is gone or began
/// anew.
#[derive(Debug)]
pub struct Watch {
    /// Where it begins.
    pub beginning: Beginning,
    /// What follows.
    pub items: mpsc::Receiver<Item>,
}

/// The desk, for those in the same process.
#[derive(Debug, Clone)]
pub struct LocalDesk {
    pub(super) desk: mpsc::Sender<Local>,
    pub(super) lost_hosts: watch::Receiver<u64>,
}

impl LocalDesk {
    /// Asks for something, with these rights, and waits for the answer.
    pub async fn ask(
        &self,
        rights: Vec<Right>,
        message: impl Into<AppToPylon>,
    ) -> Result<PylonToApp, ApiError> {
        let (outlet, mut answers) = Outlet::open();
        let request = Local::Request {
            rights,
            message: Box::new(message.into()),
            outlet,
        };
        self.desk.send(request).await.map_err(|_| closed())?;
        let answer = answers.recv().await.ok_or_else(closed)?;
        let answer = Envelope::<PylonToApp>::parse(&answer.text);
        let answer = answer.map_err(|error| ApiError::from(&error))?.message;
        if let PylonToApp::ErrorReport(report) = answer {
            return Err(ApiError::new(
                report.error_code.unwrap_or(ErrorCode::Internal),
                report.error,
                report.retry.unwrap_or(Retry::Never),
            ));
        }
        Ok(answer)
    }

    /// Returns when the connection to the host is lost from now on, and everything that came over it was taken in and told.
    pub fn lost_host(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut lost = self.lost_hosts.clone();
        lost.mark_unchanged();
        async move {
            // A desk that is gone takes nothing in any more.
            let _ = lost.changed().await;
        }
    }

    /// Watches a conversation.
    pub async fn watch(&self, conversation: ConversationId) -> Result<Watch, ApiError> {
        let (items, told) = mpsc::channel(UNREAD);
        let (begin, beginning) = oneshot::channel();
        let watch = Local::Watch {
            conversation,
            items,
            begin,
        };
        self.desk.send(watch).await.map_err(|_| closed())?;
        Ok(Watch {
            beginning: beginning.await.map_err(|_| closed())??,
            items: told,
        })
    }
}

fn closed() -> ApiError {
    let text = "the Pylon is being stopped";
    ApiError::new(ErrorCode::HostUnavailable, text.to_owned(), Retry::Later)
}

/// Who watches what.
#[derive(Debug, Default)]
pub(super) struct Watchers(HashMap<ConversationId, Vec<mpsc::Sender<Item>>>);

impl Watchers {
    fn add(&mut self, conversation: ConversationId, items: mpsc::Sender<Item>) {
        let watchers = self.0.entry(conversation).or_default();
        watchers.retain(|watcher| !watcher.is_closed());
        watchers.push(items);
    }

    /// Tells all who watch a conversation. Who has no room left is cut off.
    pub(super) fn tell(&mut self, conversation: &ConversationId, item: impl FnOnce() -> Item) {
        let Some(watchers) = self.0.get_mut(conversation) else {
            return;
        };
        let item = item();
        watchers.retain(|watcher| watcher.try_send(item.clone()).is_ok());
        if watchers.is_empty() {
            self.0.remove(conversation);
        }
    }

    /// Tells everybody.
    pub(super) fn tell_all(&mut self, item: &Item) {
        self.0.retain(|_, watchers| {
            watchers.retain(|watcher| watcher.try_send(item.clone()).is_ok());
            !watchers.is_empty()
        });
    }

    /// A conversation is gone, or is another one from now on.
    pub(super) fn cut(&mut self, conversation: &ConversationId) {
        self.0.remove(conversation);
    }
}

impl Actor {
    pub(super) async fn on_local(&mut self, message: Local) {
        match message {
            Local::Request {
                rights,
                message,
                outlet,
            } => self.on_local_request(&rights, message, outlet),
            Local::Watch {
                conversation,
                items,
                begin,
            } => {
                let beginning = self.beginning(&conversation).await;
                if beginning.is_ok() {
                    self.watchers.add(conversation, items);
                }
                // A watcher that is gone does not need to know.
                drop(begin.send(beginning));
            }
        }
    }

    fn on_local_request(&mut self, rights: &[Right], message: Box<AppToPylon>, outlet: Outlet) {
        let asker = Asker {
            request: requests::request_id(&message),
            device: self.cx.device(),
            reader: self.cx.device(),
            sender: None,
            to_all: false,
            outlet,
        };
        if let Err(error) = permitted(rights, &message) {
            return asker.complain(error, Some(message.kind()));
        }
        self.admit(asker, message);
    }

    /// What is in the store now, and what is under way beside it. Nothing is taken in meanwhile, so the two fit.
    async fn beginning(&mut self, id: &ConversationId) -> Result<Beginning, ApiError> {
        let newest = PageQuery {
            conversation_id: id.clone(),
            workspace_id: None,
            limit: 1,
            from: PageFrom::Newest { offset: 0 },
            epoch: None,
        };
        let page = self.cx.store.page(newest).await;
        let page = page.map_err(|error| error.told())?;
        let live = self.room.live(id);
        let standing = live.under_way().into_iter().chain(live.waiting());
        let pending = live.pending().into_iter().map(|open| open.event);
        Ok(Beginning {
            head: page.head_seq,
            epoch: page.epoch,
            status: live.status(),
            under_way: standing.chain(pending).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(name: &str) -> ConversationId {
        ConversationId::parse(name).unwrap()
    }

    fn idle() -> Item {
        Item::Status(ConversationStatus::Idle)
    }

    #[test]
    fn who_does_not_read_is_cut_off_and_the_others_are_told_on() {
        let mut watchers = Watchers::default();
        let (slow, mut unread) = mpsc::channel(1);
        let (quick, mut read) = mpsc::channel(4);
        watchers.add(id("a"), slow);
        watchers.add(id("a"), quick);
        watchers.tell(&id("a"), idle);
        watchers.tell(&id("b"), idle);
        watchers.tell(&id("a"), idle);
        assert!(unread.try_recv().is_ok());
        assert_eq!(
            unread.try_recv().err(),
            Some(mpsc::error::TryRecvError::Disconnected)
        );
        assert!(read.try_recv().is_ok() && read.try_recv().is_ok());
        watchers.cut(&id("a"));
        assert_eq!(
            read.try_recv().err(),
            Some(mpsc::error::TryRecvError::Disconnected)
        );
    }
}
