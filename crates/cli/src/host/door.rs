//! The host as its clients see it: the one command that concerns the program itself is taken out.
//!
//! `shutdown` is acknowledged and told to whoever runs the host; everything else goes on to it.

use estelle_host::Host;
use estelle_host::ipc::{Desk, Done, Refusal};
use estelle_host::mailbox::{Enlisted, Mailbox};
use estelle_proto::ipc::{ClaimCall, SessionStatus, Shutdown, Subscribe};
use estelle_proto::{ApiError, ConversationId, PylonToHost};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::sync::mpsc;

/// How the host is to end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wish {
    /// The runs live on.
    Leave,
    /// The runs are ended first; clients are told this reason.
    Stop(String),
}

/// Why clients are told that everything ends.
fn reason(shutdown: &Shutdown) -> String {
    const USUAL: &str = "SIGTERM";
    /// No signal has a longer name.
    const LONGEST: usize = 32;
    let given = shutdown.reason.as_deref();
    let given = given.filter(|name| (1..=LONGEST).contains(&name.len()));
    given.unwrap_or(USUAL).to_owned()
}

/// The host behind its door.
pub(super) struct Door {
    host: Host,
    /// Whether ending the host ends its runs when nobody says otherwise.
    stops_runs: bool,
    wishes: mpsc::Sender<Wish>,
}

impl Door {
    pub(super) fn new(host: Host, stops_runs: bool) -> (Self, mpsc::Receiver<Wish>) {
        // One wish is enough to end.
        let (wishes, receiver) = mpsc::channel(1);
        let door = Self {
            host,
            stops_runs,
            wishes,
        };
        (door, receiver)
    }
}

impl Desk for Door {
    async fn submit(&self, command: PylonToHost) -> BoxFuture<'static, Result<Done, Refusal>> {
        if let PylonToHost::Shutdown(shutdown) = &command {
            let wish = if shutdown.stop_runs.unwrap_or(self.stops_runs) {
                Wish::Stop(reason(shutdown))
            } else {
                Wish::Leave
            };
            // If there is no room the end is near already.
            let _ = self.wishes.try_send(wish);
            return std::future::ready(Ok(Done::default())).boxed();
        }
        self.host.submit(command).await
    }

    async fn status(&self, which: Option<ConversationId>) -> Result<Vec<SessionStatus>, ApiError> {
        self.host.status(which).await
    }

    async fn tell_decisions(&self, mailbox: Mailbox) {
        self.host.tell_decisions(mailbox).await;
    }

    async fn claim(&self, claim: ClaimCall, mailbox: Mailbox) -> Result<(), ApiError> {
        self.host.claim(claim, mailbox).await
    }

    async fn subscribe(&self, request: Subscribe, mailbox: Mailbox) -> Result<(), ApiError> {
        self.host.subscribe(request, mailbox).await
    }

    async fn unsubscribe(&self, id: &ConversationId, mailbox: &Mailbox) {
        self.host.unsubscribe(id, mailbox).await;
    }

    fn enlist(&self, mailbox: Mailbox) -> Enlisted {
        self.host.enlist(mailbox)
    }
}
