//! The receiving half of a connection: the hello, then commands until the client has no more.
//!
//! Commands are handed to the host one after another, so their order is the client's; their results come when they
//! come. A client that asks for more than it is answered waits, and nobody else does.

use std::sync::Arc;

use estelle_proto::ipc::{GetStatus, PylonReconnected, StatusResponse};
use estelle_proto::{ApiError, ConversationId, ErrorCode, Key, PylonToHost, RequestId, Retry};
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use tokio::io::AsyncRead;
use tokio_util::sync::CancellationToken;

use super::desk::{Desk, Done, Refusal, result};
use super::lines::{Line, Lines};
use super::parse::parse;
use super::roll::in_one_line;
use super::subscriptions::Subscriptions;
use super::vet::vet;
use crate::mailbox::{Letter, Mailbox};

/// So many commands of one client may wait for their results; then no more are read.
const MAX_IN_FLIGHT: usize = 1024;

/// A client that was greeted.
pub(super) struct Reader<D> {
    desk: Arc<D>,
    mailbox: Mailbox,
    subscriptions: Subscriptions,
    /// Commands that wait for their results.
    flights: FuturesUnordered<BoxFuture<'static, ()>>,
}

/// To whom a result goes, and about what it is.
struct Return {
    session_id: Option<ConversationId>,
    request: Option<RequestId>,
    mailbox: Mailbox,
}

impl Return {
    /// Only who asks for a result or has failed gets one.
    fn post(self, outcome: Result<Done, Refusal>) {
        if outcome.is_err() || self.request.is_some() {
            let message = result(self.session_id, self.request.as_ref(), outcome);
            // A client that is gone misses nothing.
            let _ = self.mailbox.post(Letter::message(&message));
        }
    }
}

impl<D: Desk> Reader<D> {
    pub(super) fn new(desk: Arc<D>, mailbox: Mailbox) -> Self {
        Self {
            desk,
            mailbox,
            subscriptions: Subscriptions::new(),
            flights: FuturesUnordered::new(),
        }
    }

    /// Reads commands until there are no more or the host stops; then waits for their results.
    pub(super) async fn run<R>(&mut self, lines: &mut Lines<R>, stop: &CancellationToken)
    where
        R: AsyncRead + Unpin,
    {
        loop {
            let has_room = self.flights.len() < MAX_IN_FLIGHT;
            let line = tokio::select! {
                biased;
                () = stop.cancelled() => break,
                // Results make room for commands.
                Some(()) = self.flights.next() => continue,
                line = lines.next(), if has_room => line,
            };
            match line {
                Ok(Some(line)) => self.take(&line).await,
                Ok(None) => break,
                Err(error) => {
                    tracing::debug!(%error, "cannot read from the client");
                    return;
                }
            }
        }
        while self.flights.next().await.is_some() {}
    }

    async fn take(&mut self, line: &Line) {
        match parse(line) {
            Ok(command) => self.obey(command).await,
            Err(report) => {
                tracing::debug!(error = %report.error, "refused a line");
                let _ = self.mailbox.post(Letter::message(&report.into()));
            }
        }
    }

    async fn obey(&mut self, command: PylonToHost) {
        let back = self.return_of(&command);
        if let Err(error) = vet(&command) {
            return back.post(Err(error.into()));
        }
        match command {
            PylonToHost::Hello(_) => back.post(Err(second_hello().into())),
            PylonToHost::GetStatus(request) => self.get_status(request, back),
            PylonToHost::PylonReconnected(request) => self.reconnected(request, back).await,
            PylonToHost::ClaimCall(claim) => {
                let (desk, mailbox) = (Arc::clone(&self.desk), self.mailbox.clone());
                // Its result may be right behind it.
                let granted = self.meanwhile(async move { desk.claim(claim, mailbox).await });
                let granted = granted.await;
                back.post(granted.map(|()| Done::default()).map_err(Refusal::from));
            }
            PylonToHost::Subscribe(request) => {
                let (desk, mailbox) = (Arc::clone(&self.desk), self.mailbox.clone());
                let begin = self.subscriptions.begin(desk, request, mailbox);
                self.fly(async move {
                    let outcome = begin.await;
                    back.post(outcome.map(|()| Done::default()).map_err(Refusal::from));
                });
            }
            PylonToHost::Unsubscribe(request) => {
                let (desk, mailbox) = (Arc::clone(&self.desk), self.mailbox.clone());
                let end = self.subscriptions.end(desk, request.session_id, mailbox);
                self.fly(async move {
                    end.await;
                    back.post(Ok(Done::default()));
                });
            }
            command @ (PylonToHost::SendMessage(_)
            | PylonToHost::StopSession(_)
            | PylonToHost::ResumeSession(_)
            | PylonToHost::NewSession(_)
            | PylonToHost::ClearSession(_)
            | PylonToHost::DeleteSession(_)
            | PylonToHost::ForkSession(_)
            | PylonToHost::RewindSession(_)
            | PylonToHost::PermissionResponse(_)
            | PylonToHost::QuestionResponse(_)
            | PylonToHost::SetPermissionMode(_)
            | PylonToHost::SetModel(_)
            | PylonToHost::CancelMessage(_)
            | PylonToHost::Touch(_)
            | PylonToHost::GetCost(_)
            | PylonToHost::GetRules(_)
            | PylonToHost::SetRule(_)
            | PylonToHost::RemoveRule(_)
            | PylonToHost::RevokeTool(_)
            | PylonToHost::ToolResult(_)
            | PylonToHost::OpenTerminal(_)
            | PylonToHost::ListSaved(_)
            | PylonToHost::ReadSaved(_)
            | PylonToHost::CopySaved(_)
            | PylonToHost::ListTerminals(_)
            | PylonToHost::CloseTerminal(_)
            | PylonToHost::Shutdown(_)
            | PylonToHost::Unknown(_)) => self.submit(command, back).await,
        }
    }

    /// Waits until the command has its place among the others, not for its result.
    async fn submit(&mut self, command: PylonToHost, back: Return) {
        let desk = Arc::clone(&self.desk);
        let outcome = self.meanwhile(desk.submit(command)).await;
        self.fly(async move { back.post(outcome.await) });
    }

    fn get_status(&self, request: GetStatus, back: Return) {
        let desk = Arc::clone(&self.desk);
        self.fly(async move {
            match desk.status(request.session_id).await {
                Ok(sessions) => {
                    let status = StatusResponse {
                        request_id: back.request.clone(),
                        ..StatusResponse::new(sessions)
                    };
                    let _ = back.mailbox.post(in_one_line(status));
                    back.post(Ok(Done::default()));
                }
                Err(error) => back.post(Err(error.into())),
            }
        });
    }

    /// Everything the Pylon needs to know, before anything that is behind this command. Only a conversation that is busy tells
    /// its decisions later.
    async fn reconnected(&mut self, request: PylonReconnected, back: Return) {
        let (desk, mailbox) = (Arc::clone(&self.desk), self.mailbox.clone());
        let told = async move {
            let sessions = desk.status(None).await?;
            let status = StatusResponse {
                request_id: request.request_id,
                ..StatusResponse::new(sessions)
            };
            let _ = mailbox.post(in_one_line(status));
            desk.tell_decisions(mailbox).await;
            Ok::<_, ApiError>(())
        };
        let told = self.meanwhile(told).await;
        back.post(told.map(|()| Done::default()).map_err(Refusal::from));
    }

    fn fly(&self, flight: impl Future<Output = ()> + Send + 'static) {
        self.flights.push(Box::pin(flight));
    }

    /// Waits for something without holding up the results of other commands.
    async fn meanwhile<T>(&mut self, wait: impl Future<Output = T>) -> T {
        tokio::pin!(wait);
        loop {
            tokio::select! {
                biased;
                output = &mut wait => return output,
                Some(()) = self.flights.next() => {}
            }
        }
    }

    fn return_of(&self, command: &PylonToHost) -> Return {
        let session_id = match command.key() {
            Key::Conversation(id) => Some(id.clone()),
            Key::Workspace(_) | Key::Terminal(_) | Key::Machine | Key::None => None,
        };
        Return {
            session_id,
            request: command.request_id().cloned(),
            mailbox: self.mailbox.clone(),
        }
    }
}

fn second_hello() -> ApiError {
    let text = "`hello` is the first line of a connection and comes once";
    ApiError::new(ErrorCode::Conflict, text.to_owned(), Retry::Never)
}
