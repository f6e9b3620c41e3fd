//! The link to the host: a client of its IPC that outlives every connection.
//!
//! ```text
//!   desk ── request, follow, forget ─► HostLink ─► Actor ─► wire ─► host
//!   desk ◄────────── FromHost ─────────────────── Actor ◄─ wire ◄─ host
//! ```
//!
//! The actor owns the cursors and the open requests; a wire is one connection. When it breaks, the next one begins with
//! `pylon_reconnected` and a `subscribe` at each cursor, and requests that are safe to repeat are sent again. The inbox
//! is bounded: a desk that does not read makes the host wait, and in the end cut the link off, which loses nothing.
//!
//! **Invariant:** between two [`FromHost::Began`] with `fresh`, the numbered events of a conversation are dense and each
//! comes once.

mod actor;
mod requests;
mod wire;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use estelle_proto::ipc::{
    GetStatus, Hello, HostEvent, PermissionRequest, QuestionRequest, RequestResult, ServerShutdown,
    Snapshot, StatusResponse, Subscribed, ToolCall,
};
use estelle_proto::{
    ApiError, ConversationId, EncodeError, ErrorCode, ErrorReport, PylonToHost, Retry,
};
use estelle_state::link::{Cursor, Pace};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use requests::Reply;

/// Messages that wait for the desk. A burst of a replay fits; what is more waits in the socket.
const INBOX: usize = 256;
/// What waits for the actor, which is never busy for long.
const COMMANDS: usize = 64;

/// Where the host is and how long it is waited for.
#[derive(Debug, Clone)]
pub struct HostConfig {
    /// The socket of the host.
    pub socket: PathBuf,
    /// What the host is told about this build.
    pub build: String,
    /// When a lost connection is tried again.
    pub pace: Pace,
    /// How long the host may take to say hello.
    pub hello_within: Duration,
    /// How long a request may take, the time without a connection included.
    pub reply_within: Duration,
}

impl HostConfig {
    /// With the usual times.
    pub fn new(socket: PathBuf, build: String) -> Self {
        Self {
            socket,
            build,
            pace: Pace::default(),
            hello_within: Duration::from_secs(5),
            reply_within: Duration::from_secs(30),
        }
    }
}

/// What the link hands on, in the order in which it came.
#[derive(Debug, Clone, PartialEq)]
pub enum FromHost {
    /// A connection stands. All conversations, then all open decisions, are told again.
    Up(Hello),
    /// All conversations, after [`FromHost::Up`].
    Status(StatusResponse),
    /// A permission is open.
    Permission(PermissionRequest),
    /// Questions are open.
    Question(QuestionRequest),
    /// A followed conversation begins or goes on. With `fresh`, what was handed on before is void and everything comes from
    /// the start.
    Began(Subscribed),
    /// Something happened in a followed conversation. Numbered events come once and in order.
    Event(HostEvent),
    /// What is open in a followed conversation, after all that happened before.
    Snapshot(Snapshot),
    /// An agent calls a tool that a client of the host carries out.
    Call(ToolCall),
    /// The host goes down and takes its runs along.
    Shutdown(ServerShutdown),
    /// The host complains about a message that it could not take.
    Complaint(ErrorReport),
    /// The connection is gone; it is tried again.
    Down(LostHost),
}

/// Why there is no connection.
#[derive(Debug, Clone, thiserror::Error)]
pub enum LostHost {
    /// Nothing was tried yet.
    #[error("the host was not called yet")]
    Untried,
    /// Nobody listens.
    #[error("the host cannot be reached: {0}")]
    Unreachable(Arc<io::Error>),
    /// It took the call and said nothing, or something that is no hello.
    #[error("the host did not say hello")]
    NoHello,
    /// It did not want to talk.
    #[error("the host refused the link: {0}")]
    Refused(ApiError),
    /// It went away.
    #[error("the host closed the connection")]
    Closed,
    /// Reading or writing failed.
    #[error("the connection to the host broke: {0}")]
    Broken(Arc<io::Error>),
    /// The desk read too slowly.
    #[error("the host cut the link off, because it read too slowly")]
    CutOff,
}

impl PartialEq for LostHost {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

/// Whether the host is there.
#[derive(Debug, Clone, PartialEq)]
pub enum HostState {
    /// It said hello.
    Up(Hello),
    /// It is not, and why.
    Away(LostHost),
}

/// Why a request has no answer.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// The host refused the message itself.
    #[error("the host refused the message: {0}")]
    Refused(ApiError),
    /// It was not answered in time: there is no connection, or the host is slow. It may have been carried out.
    #[error("the host did not answer within {0:?}")]
    TimedOut(Duration),
    /// The connection broke while it was under way, and it is not safe to repeat. It may have been carried out.
    #[error("the connection to the host broke before its answer came")]
    Lost,
    /// Too many requests wait.
    #[error("too many requests wait for the host")]
    Busy,
    /// It is longer than a line may be.
    #[error("the message has {length} bytes, too many for the host")]
    TooLarge {
        /// How long.
        length: usize,
    },
    /// It could not be written down.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// The host answered with something else.
    #[error("the host gave no answer that fits the request")]
    Mismatch,
    /// The link was shut down.
    #[error("the link to the host is closed")]
    Closed,
}

impl From<&RequestError> for ApiError {
    fn from(error: &RequestError) -> Self {
        let (code, retry) = match error {
            RequestError::Refused(error) => return error.clone(),
            RequestError::TimedOut(_) | RequestError::Lost => {
                (ErrorCode::HostUnavailable, Retry::Now)
            }
            RequestError::Busy => (ErrorCode::RateLimited, Retry::Later),
            RequestError::TooLarge { .. } => (ErrorCode::TooLarge, Retry::Never),
            RequestError::Encode(_) | RequestError::Mismatch => (ErrorCode::Internal, Retry::Never),
            RequestError::Closed => (ErrorCode::HostUnavailable, Retry::Later),
        };
        Self::new(code, error.to_string(), retry)
    }
}

/// What the handle tells the actor.
#[derive(Debug)]
enum Msg {
    Request(
        Box<PylonToHost>,
        oneshot::Sender<Result<Reply, RequestError>>,
    ),
    Follow(ConversationId, Option<Cursor>),
    Forget(ConversationId),
}

/// The link, for whoever has something to say to the host.
#[derive(Debug, Clone)]
pub struct HostLink {
    actor: mpsc::Sender<Msg>,
    state: watch::Receiver<HostState>,
    reply_within: Duration,
}

impl HostLink {
    /// Starts the link. It ends when `stop` is cancelled or the inbox is dropped.
    pub fn spawn(
        config: HostConfig,
        tracker: &TaskTracker,
        stop: CancellationToken,
    ) -> (Self, mpsc::Receiver<FromHost>) {
        let (actor, commands) = mpsc::channel(COMMANDS);
        let (inbox, received) = mpsc::channel(INBOX);
        let (state, watched) = watch::channel(HostState::Away(LostHost::Untried));
        let link = Self {
            actor,
            state: watched,
            reply_within: config.reply_within,
        };
        let ends = actor::Ends {
            commands,
            inbox,
            state,
            stop,
        };
        tracker.spawn(actor::Actor::new(config, ends, tracker.clone()).run());
        (link, received)
    }

    /// Whether the host is there, and when that changes.
    pub fn state(&self) -> watch::Receiver<HostState> {
        self.state.clone()
    }

    /// Asks the host for something and waits for its answer, over reconnects if need be. Not to be awaited where the
    /// inbox is read: the answer comes behind what is in there.
    pub async fn request(
        &self,
        command: impl Into<PylonToHost>,
    ) -> Result<RequestResult, RequestError> {
        match self.ask(command.into()).await? {
            Reply::Result(result) => Ok(*result),
            Reply::Status(_) => Err(RequestError::Mismatch),
        }
    }

    /// Asks how one conversation is, or all.
    pub async fn status(
        &self,
        conversation: Option<ConversationId>,
    ) -> Result<StatusResponse, RequestError> {
        let command = GetStatus {
            session_id: conversation,
            ..GetStatus::default()
        };
        match self.ask(command.into()).await? {
            Reply::Status(status) => Ok(status),
            Reply::Result(result) => Err(match estelle_proto::Reply::outcome(&*result) {
                Err(refused) => RequestError::Refused(refused),
                Ok(()) => RequestError::Mismatch,
            }),
        }
    }

    /// Follows a conversation from a cursor; none means from its start. To go back to an earlier cursor, follow again.
    pub async fn follow(&self, conversation: ConversationId, cursor: Option<Cursor>) {
        // A link that was shut down follows nothing, and whoever asked is about to end as well.
        let _ = self.actor.send(Msg::Follow(conversation, cursor)).await;
    }

    /// Follows a conversation no longer.
    pub async fn forget(&self, conversation: ConversationId) {
        let _ = self.actor.send(Msg::Forget(conversation)).await;
    }

    async fn ask(&self, command: PylonToHost) -> Result<Reply, RequestError> {
        let (reply, answer) = oneshot::channel();
        let asked = async {
            let message = Msg::Request(Box::new(command), reply);
            let sent = self.actor.send(message).await;
            sent.map_err(|_| RequestError::Closed)?;
            answer.await.map_err(|_| RequestError::Closed)?
        };
        let within = self.reply_within;
        let answered = tokio::time::timeout(within, asked).await;
        answered.unwrap_or(Err(RequestError::TimedOut(within)))
    }
}
