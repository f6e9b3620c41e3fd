//! A client of the host: for terminal commands and tests, as small as it can be.
//!
//! One connection, one user: messages come in the order in which the host sent them. It does not reconnect and keeps no
//! cursors; whoever must outlive a host brings that along.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use estelle_proto::ipc::{
    GetStatus, Hello, RequestResult, SessionStatus, StatusResponse, parse_line, to_line,
};
use estelle_proto::{
    ApiError, ConversationId, DecodeError, EncodeError, ErrorCode, ErrorReport, HostToPylon,
    PylonToHost, Reply as _, RequestId, Retry, limits,
};
use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

use super::lines::{Line, Lines};

/// How long the host may take to say hello.
const HELLO: Duration = Duration::from_secs(5);
/// Messages that may arrive while one waits for a result. They are kept for [`Client::receive`].
const MAX_EARLY: usize = 100_000;

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// Nobody listens there.
    #[error("no host runs here: there is none at {}", socket.display())]
    NoHost {
        /// Where it was looked for.
        socket: PathBuf,
    },
    /// The socket cannot be used.
    #[error("failed to connect to {}", socket.display())]
    Io {
        /// Where.
        socket: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The host does not want us.
    #[error("the host refuses: {0}")]
    Refused(ApiError),
    /// Somebody listens and says nothing sensible.
    #[error("whoever listens at {} does not answer like a host", socket.display())]
    NoHello {
        /// Where.
        socket: PathBuf,
    },
}

/// Why a connection is over.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// The host closed it.
    #[error("the host is gone")]
    Gone,
    /// The system says it is broken.
    #[error("the connection to the host is broken")]
    Io(#[from] io::Error),
    /// The host sent something that cannot be read.
    #[error("the host sent a line that cannot be read")]
    Decode(#[source] DecodeError),
    /// The host sent a line that is too long or no text.
    #[error("the host sent a line that is too long or no text")]
    BadLine,
    /// A command has no JSON form.
    #[error("a command cannot be written")]
    Encode(#[from] EncodeError),
    /// More came while waiting for a result than can be kept.
    #[error("too much came while waiting for a result")]
    TooMuch,
}

/// Why a request brought nothing.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// The host says why it did not do it.
    #[error("{0}")]
    Refused(ApiError),
    /// The outcome is unknown.
    #[error(transparent)]
    Wire(#[from] WireError),
}

/// A connection to the host.
#[derive(Debug)]
pub struct Client {
    lines: Lines<OwnedReadHalf>,
    to: OwnedWriteHalf,
    hello: Hello,
    requests: u64,
    early: VecDeque<HostToPylon>,
}

impl Client {
    /// Connects and says hello.
    pub async fn connect(socket: &Path) -> Result<Self, ConnectError> {
        let stream = match UnixStream::connect(socket).await {
            Ok(stream) => stream,
            Err(source) => return Err(unreachable(socket, source)),
        };
        let (from, mut to) = stream.into_split();
        let mut lines = Lines::new(from, limits::MAX_IPC_LINE_BYTES);
        let own = Hello::of_this_build(env!("CARGO_PKG_VERSION").to_owned(), Vec::new());
        let line = to_line(&PylonToHost::from(own.clone())).unwrap_or_default();
        // A host that refuses us may have closed already; what it said can still be read.
        let written = to.write_all(line.as_bytes()).await;
        let answer = tokio::time::timeout(HELLO, next(&mut lines)).await;
        let hello = match answer {
            Ok(Ok(HostToPylon::Hello(hello))) => hello,
            Ok(Ok(HostToPylon::Error(report))) => {
                return Err(ConnectError::Refused(refusal(report)));
            }
            Ok(Err(WireError::Io(source))) => {
                let source = written.err().unwrap_or(source);
                return Err(unreachable(socket, source));
            }
            Ok(Ok(_) | Err(_)) | Err(_) => return Err(no_hello(socket)),
        };
        if own.common(&hello).is_none() {
            return Err(ConnectError::Refused(mismatch(&hello)));
        }
        Ok(Self {
            lines,
            to,
            hello,
            requests: 0,
            early: VecDeque::new(),
        })
    }

    /// What the host said first.
    pub fn hello(&self) -> &Hello {
        &self.hello
    }

    /// Sends a command, as it is.
    pub async fn send(&mut self, command: impl Into<PylonToHost>) -> Result<(), WireError> {
        let line = to_line(&command.into())?;
        Ok(self.to.write_all(line.as_bytes()).await?)
    }

    /// Sends a command under a name of its own, which its `request_result` will repeat.
    pub async fn ask(&mut self, command: impl Into<PylonToHost>) -> Result<RequestId, WireError> {
        let mut command = command.into();
        self.requests += 1;
        let id = request_id(self.requests);
        command.set_request_id(id.clone());
        self.send(command).await?;
        Ok(id)
    }

    /// The next message. Loses nothing when it is dropped.
    pub async fn receive(&mut self) -> Result<HostToPylon, WireError> {
        match self.early.pop_front() {
            Some(message) => Ok(message),
            None => next(&mut self.lines).await,
        }
    }

    /// Sends a command and waits for its result; what comes before it is received later.
    pub async fn request(
        &mut self,
        command: impl Into<PylonToHost>,
    ) -> Result<RequestResult, RequestError> {
        let id = self.ask(command).await?;
        loop {
            let message = next(&mut self.lines).await?;
            match result_of(&message, &id) {
                Some(outcome) => return outcome.map_err(RequestError::Refused),
                None => self.keep(message)?,
            }
        }
    }

    /// How one conversation is, or all for which there is room in a line.
    pub async fn status(
        &mut self,
        which: Option<ConversationId>,
    ) -> Result<Vec<SessionStatus>, RequestError> {
        let response = self.status_response(which).await;
        response.map(|response| response.sessions)
    }

    /// How one conversation is, or all for which there is room in a line, and how many found none.
    pub async fn status_response(
        &mut self,
        which: Option<ConversationId>,
    ) -> Result<StatusResponse, RequestError> {
        let request = GetStatus {
            session_id: which,
            ..GetStatus::default()
        };
        let before = self.early.len();
        let done = self.request(request).await?;
        let is_answer = |message: &HostToPylon| matches!(message, HostToPylon::StatusResponse(status) if status.request_id == done.request_id);
        let at = (before..self.early.len()).find(|at| self.early.get(*at).is_some_and(is_answer));
        match at.and_then(|at| self.early.remove(at)) {
            Some(HostToPylon::StatusResponse(status)) => Ok(status),
            Some(_) | None => Ok(StatusResponse::new(Vec::new())),
        }
    }

    fn keep(&mut self, message: HostToPylon) -> Result<(), WireError> {
        if self.early.len() >= MAX_EARLY {
            return Err(WireError::TooMuch);
        }
        self.early.push_back(message);
        Ok(())
    }
}

async fn next(lines: &mut Lines<OwnedReadHalf>) -> Result<HostToPylon, WireError> {
    match lines.next().await? {
        Some(Line::Text(text)) => parse_line(&text).map_err(WireError::Decode),
        Some(Line::TooLong(_) | Line::NotText(_)) => Err(WireError::BadLine),
        None => Err(WireError::Gone),
    }
}

/// What became of a request, if the message says so.
fn result_of(message: &HostToPylon, id: &RequestId) -> Option<Result<RequestResult, ApiError>> {
    if let HostToPylon::RequestResult(result) = message
        && result.request_id.as_ref() == Some(id)
    {
        return Some(result.outcome().map(|()| result.clone()));
    }
    if let HostToPylon::Error(report) = message
        && report.request_id.as_ref() == Some(id)
    {
        return Some(Err(refusal(report.clone())));
    }
    None
}

#[expect(
    clippy::expect_used,
    reason = "a short word of letters and digits is a request id"
)]
fn request_id(number: u64) -> RequestId {
    RequestId::parse(&format!("cli-{number}")).expect("a valid id")
}

fn unreachable(socket: &Path, source: io::Error) -> ConnectError {
    let socket = socket.to_owned();
    let is_nobody = matches!(
        source.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused
    );
    if is_nobody {
        return ConnectError::NoHost { socket };
    }
    ConnectError::Io { socket, source }
}

fn no_hello(socket: &Path) -> ConnectError {
    ConnectError::NoHello {
        socket: socket.to_owned(),
    }
}

fn refusal(report: ErrorReport) -> ApiError {
    ApiError {
        code: report.error_code.unwrap_or(ErrorCode::Internal),
        message: report.error,
        retry: report.retry.unwrap_or(Retry::Never),
    }
}

fn mismatch(hello: &Hello) -> ApiError {
    let text = format!(
        "it speaks version {} of the protocol, which this build ({}) does not",
        hello.protocol,
        env!("CARGO_PKG_VERSION")
    );
    ApiError::new(ErrorCode::ProtocolMismatch, text, Retry::Never)
}
