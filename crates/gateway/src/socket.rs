//! The WebSocket of one session: what happens in it comes down, input and answers go up. That of a terminal begins in the
//! same way (`terminal`).
//!
//! ```text
//!   upgrade ─► who are you (header, or the first message within 5 s) ─► state ─► replay ─► caught up ─► live
//! ```
//!
//! The desk is watched first, then the store is read up to where the watch began, so nothing is missed or told twice.
//! What the client says is carried out by a task of its own, in order; the pump waits for
//! the host only to learn how a process is, and not for long.

mod pump;
mod standing;
mod terminal;
mod up;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use estelle_proto::terminals::TerminalSize;
use estelle_proto::{ErrorCode, Right};
use futures_util::{SinkExt as _, StreamExt as _};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{
    CONNECTION, HeaderMap, HeaderName, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY,
    SEC_WEBSOCKET_VERSION, UPGRADE,
};
use hyper::upgrade::Upgraded;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error as SocketError, Message};

use crate::body::MOST_BYTES;
use crate::config::Patience;
use crate::failure::Failure;
use crate::lobby::Seat;
use crate::missed::Since;
use crate::operations::Caller;
use crate::query::Query;
use crate::respond::{Answer, bearer};
use crate::server::Shell;

/// Somebody who opened a socket has to say who they are by then.
const AUTH_TIME: Duration = Duration::from_secs(5);

/// How long somebody may take to hear the last that happened, when the gateway goes.
const PARTING: Duration = Duration::from_secs(2);

pub(crate) type Socket = WebSocketStream<TokioIo<Upgraded>>;

/// What a WebSocket is opened to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Session,
    Terminal,
}

impl Place {
    /// The right that is needed to look.
    fn right(self) -> Right {
        match self {
            Self::Session => Right::View,
            Self::Terminal => Right::Terminal,
        }
    }
}

/// What a client wants of its WebSocket.
#[derive(Debug, Clone)]
enum Wish {
    Session(Since),
    Terminal(Option<TerminalSize>),
}

impl Wish {
    fn place(&self) -> Place {
        match self {
            Self::Session(_) => Place::Session,
            Self::Terminal(_) => Place::Terminal,
        }
    }

    fn read(place: Place, query: Option<&str>) -> Result<Self, Failure> {
        match place {
            Place::Session => {
                let query = Query::parse(query, &["after_seq", "epoch"])?;
                Ok(Self::Session(Since {
                    after: query.parsed("after_seq")?,
                    epoch: query.parsed("epoch")?,
                }))
            }
            Place::Terminal => {
                let query = Query::parse(query, &["cols", "rows"])?;
                let size = match (query.parsed("cols")?, query.parsed("rows")?) {
                    (Some(cols), Some(rows)) => Some(TerminalSize::new(cols, rows)),
                    (None, None) => None,
                    (Some(_), None) | (None, Some(_)) => {
                        return Err(Failure::invalid("a size has `cols` and `rows`"));
                    }
                };
                if size.as_ref().is_some_and(|size| !size.is_usable()) {
                    let text = "a terminal has 2 to 500 columns and 2 to 300 rows";
                    return Err(Failure::invalid(text));
                }
                Ok(Self::Terminal(size))
            }
        }
    }
}

/// Answers the request for a WebSocket.
pub(crate) fn upgrade(
    shell: &Arc<Shell>,
    mut request: Request<Incoming>,
    id: &str,
    place: Place,
) -> Result<Answer, Failure> {
    let headers = request.headers();
    let accept = handshake(request.method(), headers)?;
    let wish = Wish::read(place, request.uri().query())?;
    let rights = match bearer(headers) {
        None => None,
        Some(token) => Some(may_look(shell, token, place)?),
    };
    let seat = request.extensions_mut().remove::<Arc<Seat>>();
    let seat = seat.ok_or_else(Failure::mismatch)?;
    let is_stranger = rights.is_none();
    if !is_stranger {
        seat.is_known();
    }
    let upgraded = hyper::upgrade::on(&mut request);
    let caller = Caller {
        shell: shell.clone(),
        rights: rights.unwrap_or_default(),
        id: Some(id.to_owned()),
        task: None,
    };
    shell.tasks.spawn(async move {
        let Ok(upgraded) = upgraded.await else {
            return;
        };
        let limits = WebSocketConfig::default()
            .max_message_size(Some(MOST_BYTES))
            .max_frame_size(Some(MOST_BYTES));
        let io = TokioIo::new(upgraded);
        let socket = WebSocketStream::from_raw_socket(io, Role::Server, Some(limits)).await;
        let stranger = is_stranger.then_some(&*seat);
        run(caller, socket, stranger, wish).await;
    });
    Ok(switching(accept))
}

/// The rights of a token that may look there.
fn may_look(shell: &Shell, token: &str, place: Place) -> Result<Vec<Right>, Failure> {
    let rights = shell.config.rights(token);
    let rights = rights.ok_or_else(crate::respond::unauthorized)?;
    let right = place.right();
    if !rights.contains(&right) {
        let code = ErrorCode::Forbidden;
        let text = format!("this needs the right `{right}`");
        return Err(Failure::new(StatusCode::FORBIDDEN, code.as_str(), text));
    }
    Ok(rights)
}

fn handshake(method: &Method, headers: &HeaderMap) -> Result<HeaderValue, Failure> {
    let is_upgrade = method == Method::GET
        && names(headers, &UPGRADE, "websocket")
        && names(headers, &CONNECTION, "upgrade");
    let version = headers.get(SEC_WEBSOCKET_VERSION);
    if !is_upgrade || version.map(HeaderValue::as_bytes) != Some(b"13") {
        let text = "this is a WebSocket (version 13)";
        let status = StatusCode::UPGRADE_REQUIRED;
        return Err(Failure::new(status, "upgrade_required", text));
    }
    let key = headers.get(SEC_WEBSOCKET_KEY).map(HeaderValue::as_bytes);
    let key = key.filter(|key| key.len() == 24);
    let accept = key.map(derive_accept_key);
    let accept = accept.and_then(|accept| HeaderValue::from_str(&accept).ok());
    accept.ok_or_else(|| Failure::invalid("the key of the WebSocket is missing"))
}

/// Whether a header lists a word.
fn names(headers: &HeaderMap, name: &HeaderName, word: &str) -> bool {
    let lines = headers.get_all(name).iter();
    let lines = lines.filter_map(|line| line.to_str().ok());
    let mut words = lines.flat_map(|line| line.split(','));
    words.any(|found| found.trim().eq_ignore_ascii_case(word))
}

fn switching(accept: HeaderValue) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::new()));
    *answer.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = answer.headers_mut();
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(SEC_WEBSOCKET_ACCEPT, accept);
    answer
}

/// Why a socket is closed, in the codes of RFC 6455 and our own above 4000.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// The client went, or does not answer.
    Gone,
    /// The gateway goes; the session does not.
    GoingAway,
    /// Too slow, or the history began anew: come again.
    Again,
    Unauthorized,
    UnknownSession,
    UnknownTerminal,
}

impl Ending {
    fn frame(self) -> CloseFrame {
        let (code, reason) = match self {
            Self::Gone => (CloseCode::Normal, ""),
            Self::GoingAway => (CloseCode::Away, "the gateway is being stopped"),
            Self::Again => (CloseCode::Again, "begin again from your cursor"),
            Self::Unauthorized => (CloseCode::Library(4401), "a token is needed"),
            Self::UnknownSession => (CloseCode::Library(4404), "there is no such session"),
            Self::UnknownTerminal => (CloseCode::Library(4404), "there is no such terminal"),
        };
        CloseFrame {
            code,
            reason: reason.into(),
        }
    }
}

async fn run(mut caller: Caller, mut socket: Socket, stranger: Option<&Seat>, wish: Wish) {
    let stop = caller.shell.stop.clone();
    let conversation = async {
        if let Some(seat) = stranger {
            let said = tokio::select! {
                said = authenticate(&caller, &mut socket, wish.place()) => said,
                () = stop.cancelled() => return Ending::GoingAway,
                () = seat.evicted() => return Ending::Again,
            };
            let Some(rights) = said else {
                return Ending::Unauthorized;
            };
            seat.is_known();
            caller.rights = rights;
        }
        match wish {
            Wish::Session(since) => pump::run(&caller, &mut socket, since).await,
            Wish::Terminal(size) => {
                let shown = terminal::run(&caller, &mut socket, size);
                let shown = stop.run_until_cancelled(shown).await;
                shown.unwrap_or(Ending::GoingAway)
            }
        }
    };
    let parting = async {
        stop.cancelled().await;
        tokio::time::sleep(PARTING).await;
    };
    let ending = tokio::select! {
        ending = conversation => ending,
        () = parting => Ending::GoingAway,
    };
    // The desk ends with the gateway, and may be seen to end first: to the client it is the gateway that goes.
    let ending = if stop.is_cancelled() {
        Ending::GoingAway
    } else {
        ending
    };
    tracing::debug!(?ending, "a WebSocket ends");
    // Whoever does not take it is gone all the same.
    let closing = socket.close(Some(ending.frame()));
    let _ = tokio::time::timeout(Duration::from_secs(1), closing).await;
}

/// Waits for the first message, which has to say who is there.
async fn authenticate(caller: &Caller, socket: &mut Socket, place: Place) -> Option<Vec<Right>> {
    let first = tokio::time::timeout(AUTH_TIME, async {
        loop {
            match socket.next().await?.ok()? {
                Message::Text(text) => return up::token(&text),
                Message::Ping(_) | Message::Pong(_) => {}
                Message::Binary(_) | Message::Close(_) | Message::Frame(_) => return None,
            }
        }
    });
    let token = first.await.ok().flatten()?;
    may_look(&caller.shell, token.reveal(), place).ok()
}

/// Sends a message to a client that has to take it in time.
async fn send(socket: &mut Socket, message: Message, patience: Patience) -> Result<(), Ending> {
    match tokio::time::timeout(patience.write, socket.send(message)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => {
            log(&error);
            Err(Ending::Gone)
        }
        Err(_) => Err(Ending::Again),
    }
}

fn log(error: &SocketError) {
    tracing::debug!(%error, "a WebSocket broke");
}
