//! Lets any `rmcp` server handler serve as an in-process server.
//!
//! `rmcp` wants a transport it reads and writes by itself; the CLI's messages come one by one, each waiting for its
//! own answer. The adapter feeds messages into a channel, matches responses to the requests by id, and passes the rest
//! (notifications and requests of the server's own) to the outbox. Each `initialize` starts a fresh service, so a CLI
//! that reconnects finds a server in its first state.

use std::collections::HashMap;
use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use rmcp::model::{ErrorData, ProtocolVersion, ServerConfig};
use rmcp::service::{
    NotificationContext, RequestContext, RxJsonRpcMessage, ServiceRole, TxJsonRpcMessage,
    serve_server_with_ct,
};
use rmcp::transport::Transport;
use rmcp::{RoleServer, ServerHandler, Service};
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use super::json_rpc;
use super::server::{Outbox, SdkMcpServer, ServerConnection, ToolServer};

/// How many messages may wait for the service, which takes them at once and works on them elsewhere.
const INBOUND_CAPACITY: usize = 256;

/// Makes a server of an `rmcp` handler. `handler` gives a new one for each connection.
///
/// Sessions with such a server must be started inside a tokio runtime. The CLI always asks it for its tools: it has no
/// manifest, since only a running handler knows them.
///
/// ```
/// use estelle_claude::mcp::rmcp_server;
///
/// #[derive(Clone)]
/// struct Empty;
/// impl rmcp::ServerHandler for Empty {}
///
/// let server = rmcp_server("empty", || Empty);
/// assert_eq!(server.name(), "empty");
/// ```
pub fn rmcp_server<S: ServerHandler>(
    name: &str,
    handler: impl Fn() -> S + Send + Sync + 'static,
) -> SdkMcpServer {
    SdkMcpServer::new(
        name,
        RmcpServer {
            handler: Arc::new(handler),
        },
    )
}

type Factory<S> = Arc<dyn Fn() -> S + Send + Sync>;

struct RmcpServer<S> {
    handler: Factory<S>,
}

impl<S: ServerHandler> ToolServer for RmcpServer<S> {
    fn connect(&self, outbox: Outbox) -> Box<dyn ServerConnection> {
        Box::new(RmcpConnection {
            handler: Arc::clone(&self.handler),
            outbox,
            running: Mutex::new(None),
        })
    }
}

struct RmcpConnection<S> {
    handler: Factory<S>,
    outbox: Outbox,
    running: Mutex<Option<Running>>,
}

/// A service under way; it ends when this is dropped.
struct Running {
    inbound: mpsc::Sender<Value>,
    waiting: Waiting,
    _stop: DropGuard,
}

/// Who waits for the answer to which request, by the id's JSON.
type Waiting = Arc<Mutex<HashMap<String, oneshot::Sender<Value>>>>;

impl<S: ServerHandler> ServerConnection for RmcpConnection<S> {
    fn handle(&self, message: Value) -> BoxFuture<'static, Option<Value>> {
        let mut running = lock(&self.running);
        if message["method"] == "initialize" {
            *running = self.start();
        }
        let Some(running) = &*running else {
            return ready(None).boxed();
        };
        if message["method"] == "notifications/cancelled" {
            running.answer_cancelled(&message["params"]["requestId"]);
        }
        if json_rpc::wants_answer(&message) {
            running.ask(message)
        } else {
            running.tell(message)
        }
    }
}

impl<S: ServerHandler> RmcpConnection<S> {
    /// Starts a service; `None` outside a runtime, where nothing can run it.
    fn start(&self) -> Option<Running> {
        let runtime = Handle::try_current().ok()?;
        let (inbound, receiver) = mpsc::channel(INBOUND_CAPACITY);
        let waiting = Waiting::default();
        let stop = CancellationToken::new();
        let transport = BridgeTransport {
            inbound: receiver,
            waiting: Arc::clone(&waiting),
            outbox: self.outbox.clone(),
        };
        let service = serve(
            (self.handler)(),
            transport,
            Arc::clone(&waiting),
            stop.clone(),
        );
        // Nobody waits for the service: dropping the connection cancels its token, which ends it.
        TaskTracker::new().spawn_on(service, &runtime);
        Some(Running {
            inbound,
            waiting,
            _stop: stop.drop_guard(),
        })
    }
}

async fn serve<S: ServerHandler>(
    handler: S,
    transport: BridgeTransport,
    waiting: Waiting,
    stop: CancellationToken,
) {
    match serve_server_with_ct(CatchPanics(handler), transport, stop).await {
        // Dropping the service would stop it, so it is held here until it ends by itself.
        Ok(service) => drop(service.waiting().await),
        Err(error) => tracing::warn!(%error, "an in-process MCP server did not start"),
    }
    // Dropping the senders tells those who still wait that no answer comes.
    lock(&waiting).clear();
}

impl Running {
    fn ask(&self, message: Value) -> BoxFuture<'static, Option<Value>> {
        let (sender, answer) = oneshot::channel();
        let id = message["id"].clone();
        lock(&self.waiting).insert(id.to_string(), sender);
        let withdraw = Withdraw {
            id,
            waiting: Arc::clone(&self.waiting),
            inbound: self.inbound.clone(),
        };
        let delivered = self.tell(message);
        Box::pin(async move {
            let withdraw = withdraw;
            delivered.await;
            if withdraw.inbound.is_closed() {
                // The service ended before or while it was asked; nothing clears the table after that.
                lock(&withdraw.waiting).remove(&withdraw.id.to_string());
            }
            answer.await.ok()
        })
    }

    fn tell(&self, message: Value) -> BoxFuture<'static, Option<Value>> {
        match self.inbound.try_send(message) {
            Ok(()) | Err(mpsc::error::TrySendError::Closed(_)) => ready(None).boxed(),
            Err(mpsc::error::TrySendError::Full(message)) => {
                let inbound = self.inbound.clone();
                async move { inbound.send(message).await.err().and(None) }.boxed()
            }
        }
    }

    /// `rmcp` does not answer a cancelled request, while the CLI's control request wants an answer.
    fn answer_cancelled(&self, id: &Value) {
        if let Some(sender) = lock(&self.waiting).remove(&id.to_string()) {
            let answer = json_rpc::error(id, json_rpc::REQUEST_CANCELLED, "the call was cancelled");
            // The one who asked may be gone.
            drop(sender.send(answer));
        }
    }
}

/// Tells the service when the one who asked stops waiting.
struct Withdraw {
    id: Value,
    waiting: Waiting,
    inbound: mpsc::Sender<Value>,
}

impl Drop for Withdraw {
    fn drop(&mut self) {
        if lock(&self.waiting).remove(&self.id.to_string()).is_some() {
            let params = json!({"requestId": self.id, "reason": "withdrawn"});
            let message =
                json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
            // A service too busy to hear of it finishes the call for nobody.
            drop(self.inbound.try_send(message));
        }
    }
}

/// The service's end of the channel.
struct BridgeTransport {
    inbound: mpsc::Receiver<Value>,
    waiting: Waiting,
    outbox: Outbox,
}

impl Transport<RoleServer> for BridgeTransport {
    type Error = Infallible;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Infallible>> + Send + 'static {
        let (waiting, outbox) = (Arc::clone(&self.waiting), self.outbox.clone());
        async move {
            match serde_json::to_value(item) {
                Ok(message) if message.get("method").is_some() => drop(outbox.send(message).await),
                Ok(message) => {
                    let sender = lock(&waiting).remove(&message["id"].to_string());
                    drop(sender.map(|sender| sender.send(message)));
                }
                Err(error) => tracing::error!(%error, "bug: an rmcp message has no JSON form"),
            }
            Ok(())
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let message = self.inbound.recv().await?;
            let id = message["id"].clone();
            match serde_json::from_value(message) {
                Ok(message) => return Some(message),
                Err(error) => {
                    if let Some(sender) = lock(&self.waiting).remove(&id.to_string()) {
                        let reason = error.to_string();
                        drop(sender.send(json_rpc::error(&id, json_rpc::INVALID_PARAMS, &reason)));
                    }
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

/// A handler whose panics are errors: `rmcp` would leave the request unanswered.
struct CatchPanics<S>(S);

impl<S: ServerHandler> Service<RoleServer> for CatchPanics<S> {
    async fn handle_request(
        &self,
        request: <RoleServer as ServiceRole>::PeerReq,
        context: RequestContext<RoleServer>,
    ) -> Result<<RoleServer as ServiceRole>::Resp, ErrorData> {
        let handled = async { Service::handle_request(&self.0, request, context).await };
        AssertUnwindSafe(handled)
            .catch_unwind()
            .await
            .unwrap_or_else(|_| {
                tracing::error!("an rmcp handler panicked");
                Err(ErrorData::internal_error("the handler panicked", None))
            })
    }

    async fn handle_notification(
        &self,
        notification: <RoleServer as ServiceRole>::PeerNot,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let handled = async { Service::handle_notification(&self.0, notification, context).await };
        AssertUnwindSafe(handled)
            .catch_unwind()
            .await
            .unwrap_or(Ok(()))
    }

    fn get_info(&self) -> ServerConfig {
        Service::get_info(&self.0)
    }

    fn supported_protocol_versions(&self) -> std::borrow::Cow<'static, [ProtocolVersion]> {
        Service::supported_protocol_versions(&self.0)
    }
}

/// Nothing panics while one of these locks is held, so a poisoned one is as good as any.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "rmcp_adapter_tests.rs"]
mod tests;
