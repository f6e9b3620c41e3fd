//! One connection to the relay: opening, `auth`, and frames in both directions.
//!
//! A request that cannot be read is answered here with `error`, so that the desk sees only what has a shape. Anything
//! that comes counts as a sign of life; when nothing does, not even the answer to a ping, the connection is given up.

use std::sync::Arc;

use estelle_proto::auth::{Auth, AuthResult};
use estelle_proto::{
    ApiError, DecodeError, DeviceToRelay, DeviceType, EncodeError, Envelope, ErrorReport, Json,
    Message, PylonInbox, PylonToApp, RelayToDevice, Reply as _, RequestId, To, limits,
};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::value::RawValue;
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{self, Message as Packet};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

use super::outlet::Frame;
use super::{FromRelay, LostRelay, Outlet, RelayConfig, Unread, tls};

/// Frames that are sent between two looks at the clock.
const AT_ONCE: usize = 64;
/// Bytes after which nothing more is sent with them.
const BYTES_AT_ONCE: usize = 64 * 1024;

pub(super) type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// Calls the relay and says who we are.
pub(super) async fn open(config: &RelayConfig) -> Result<(AuthResult, Socket), LostRelay> {
    let mut socket = connect(config).await?;
    let mut auth = Auth::new(DeviceType::Pylon);
    auth.device_id = Some(config.device_id);
    auth.token.clone_from(&config.token);
    auth.name.clone_from(&config.name);
    auth.protocol = Some(limits::RELAY_PROTOCOL);
    let envelope = Envelope::<DeviceToRelay>::new(auth);
    if let Ok(text) = envelope.to_json() {
        socket.send(Packet::text(text)).await.map_err(broken)?;
    }
    loop {
        let packet = socket.next().await.ok_or(LostRelay::Closed)?;
        let Packet::Text(text) = packet.map_err(broken)? else {
            continue;
        };
        // Whatever else a relay may say before, its greeting for one, does not matter.
        let Ok(PylonInbox::Relay(RelayToDevice::AuthResult(result))) = PylonInbox::parse(&text)
        else {
            continue;
        };
        return match result.outcome() {
            Ok(()) => Ok((result, socket)),
            Err(error) => Err(LostRelay::Refused(error)),
        };
    }
}

async fn connect(config: &RelayConfig) -> Result<Socket, LostRelay> {
    // The relay enforces the limit of a frame; a little more is read here so that the error says what is wrong.
    let limit = limits::MAX_FRAME_BYTES + limits::MAX_UNAUTHENTICATED_FRAME_BYTES;
    let limits = WebSocketConfig::default()
        .max_message_size(Some(limit))
        .max_frame_size(Some(limit));
    let is_nodelay = true;
    let connector = tls::connector(&config.authorities).map_err(LostRelay::BadAuthority)?;
    let connected = tokio_tungstenite::connect_async_tls_with_config(
        &config.url,
        Some(limits),
        is_nodelay,
        Some(connector),
    );
    let (socket, _) = connected
        .await
        .map_err(|error| LostRelay::Unreachable(Arc::new(error)))?;
    Ok(socket)
}

fn broken(error: tungstenite::Error) -> LostRelay {
    use tungstenite::Error::{AlreadyClosed, ConnectionClosed};
    if matches!(error, ConnectionClosed | AlreadyClosed) {
        return LostRelay::Closed;
    }
    LostRelay::Broken(Arc::new(error))
}

/// Carries frames until the connection is over.
pub(super) async fn carry(
    config: &RelayConfig,
    socket: Socket,
    inbox: &mpsc::Sender<FromRelay>,
    outlet: &Outlet,
    mut queue: mpsc::Receiver<Frame>,
) -> Result<LostRelay, Unread> {
    let (mut sink, mut stream) = socket.split();
    tokio::select! {
        lost = read(config, &mut stream, inbox, outlet) => lost,
        lost = write(config, &mut sink, &mut queue) => Ok(lost),
        () = outlet.given_up() => Ok(LostRelay::Congested),
        () = inbox.closed() => Err(Unread),
    }
}

async fn read(
    config: &RelayConfig,
    stream: &mut SplitStream<Socket>,
    inbox: &mpsc::Sender<FromRelay>,
    outlet: &Outlet,
) -> Result<LostRelay, Unread> {
    loop {
        // The time begins when we listen: a desk that kept us waiting is not the relay's silence.
        let Ok(packet) = tokio::time::timeout(config.dead_after, stream.next()).await else {
            return Ok(LostRelay::Silent);
        };
        let text = match packet {
            Some(Ok(Packet::Text(text))) => text,
            Some(Ok(Packet::Close(_))) | None => return Ok(LostRelay::Closed),
            Some(Ok(Packet::Binary(_) | Packet::Ping(_) | Packet::Pong(_) | Packet::Frame(_))) => {
                continue;
            }
            Some(Err(error)) => return Ok(broken(error)),
        };
        let message = match PylonInbox::parse(&text) {
            Ok(PylonInbox::Relay(message)) => FromRelay::Relay(Box::new(message)),
            Ok(PylonInbox::App(envelope)) => FromRelay::App(Box::new(envelope)),
            Ok(PylonInbox::Pylon(envelope)) => FromRelay::Pylon(Box::new(envelope)),
            Err(error) => {
                complain(&text, &error, outlet);
                continue;
            }
        };
        inbox.send(message).await.map_err(|_| Unread)?;
    }
}

async fn write(
    config: &RelayConfig,
    sink: &mut SplitSink<Socket, Packet>,
    queue: &mut mpsc::Receiver<Frame>,
) -> LostRelay {
    let start = Instant::now() + config.ping_every;
    let mut pings = tokio::time::interval_at(start, config.ping_every);
    pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let sent = tokio::select! {
            biased;
            _ = pings.tick() => sink.send(Packet::Ping(tungstenite::Bytes::new())).await,
            frame = queue.recv() => match frame {
                Some(frame) => send(sink, frame, queue).await,
                None => return LostRelay::Closed,
            },
        };
        if let Err(error) = sent {
            return broken(error);
        }
    }
}

/// Sends a frame, and with it those that wait behind it: a call for each would cost more than the frames do.
async fn send(
    sink: &mut SplitSink<Socket, Packet>,
    first: Frame,
    queue: &mut mpsc::Receiver<Frame>,
) -> Result<(), tungstenite::Error> {
    let mut bytes = first.text.len();
    sink.feed(Packet::text(first.text)).await?;
    for _ in 1..AT_ONCE {
        // A ping must not wait for long behind what is slow to leave.
        if bytes >= BYTES_AT_ONCE {
            break;
        }
        let Ok(next) = queue.try_recv() else {
            break;
        };
        bytes += next.text.len();
        sink.feed(Packet::text(next.text)).await?;
    }
    sink.flush().await
}

/// Tells the sender of a message that it could not be read.
fn complain(frame: &str, error: &DecodeError, outlet: &Outlet) {
    tracing::debug!(%error, "a message cannot be read");
    let Ok(envelope) = Envelope::<Opaque>::parse(frame) else {
        return;
    };
    let Some(from) = envelope.from else {
        tracing::warn!(%error, "the relay sent something that cannot be read");
        return;
    };
    let mut report = ErrorReport::from(ApiError::from(error));
    report.about = Some(envelope.message.kind);
    report.request_id = envelope.request_id.or(envelope.message.request_id);
    let answer = Envelope::<PylonToApp>::to(To::device(from.device_id), report);
    // Whoever sent it is gone with the connection.
    let _ = outlet.send(&answer);
}

/// A message of which only the name is of interest.
#[derive(Debug)]
struct Opaque {
    kind: String,
    request_id: Option<RequestId>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Named {
    request_id: Option<RequestId>,
}

impl Message for Opaque {
    const KINDS: &'static [&'static str] = &[];

    fn knows(_: &str) -> bool {
        false
    }

    fn kind(&self) -> &str {
        &self.kind
    }

    fn from_parts(kind: &str, payload: Option<&RawValue>) -> Result<Self, DecodeError> {
        let named = payload.and_then(|payload| serde_json::from_str::<Named>(payload.get()).ok());
        Ok(Self {
            kind: kind.to_owned(),
            request_id: named.and_then(|named| named.request_id),
        })
    }

    fn payload(&self) -> Result<Option<Json>, EncodeError> {
        Ok(None)
    }
}
