//! A connection to the relay as an app: frames out, frames in, and requests with their answers.
//!
//! What comes while an answer is awaited is kept, in order, for whoever reads on. It does not come back by itself when it
//! breaks: whoever holds it knows what to ask again.

use std::collections::VecDeque;
use std::time::Duration;

use anyhow::Context as _;
use estelle_proto::auth::{Auth, GetDevices};
use estelle_proto::{
    ApiError, AppInbox, AppToPylon, ConnectedDevice, DeviceId, DeviceToRelay, DeviceType, Envelope,
    ErrorCode, ErrorReport, PylonToApp, RelayToDevice, Reply as _, RequestId, Retry, To, limits,
};
use estelle_pylon::link::relay::connector;
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};
use tokio_tungstenite::tungstenite::Message as Packet;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

use super::ask::Ask;
use super::failure::Failure;
use super::pace::Pace;
use super::way::Way;

/// How long connecting may take.
const OPEN_WITHIN: Duration = Duration::from_secs(10);
/// How long an answer may take.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);
/// The relay pings every half minute, so a connection that is silent for longer than two of them is dead.
const SILENT_FOR: Duration = Duration::from_secs(75);

/// Something that was said to us.
#[derive(Debug)]
pub(super) enum Heard {
    /// By the relay.
    Relay(Box<RelayToDevice>),
    /// By a machine.
    Pylon(DeviceId, Box<PylonToApp>),
}

/// A connection that was let in.
pub(super) struct Link {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    /// What came while something else was awaited.
    kept: VecDeque<Heard>,
    opened: Instant,
    pace: Pace,
    /// The build of the relay, if it says so.
    pub(super) relay_build: Option<String>,
    /// Our number among the devices, if the relay says so.
    pub(super) own_id: Option<DeviceId>,
    /// Who was connected when it was last asked.
    listed: Vec<ConnectedDevice>,
}

impl Link {
    /// Connects and says who we are.
    pub(super) async fn open(way: &Way) -> anyhow::Result<Self> {
        let opened = timeout(OPEN_WITHIN, Self::try_open(way)).await;
        opened.map_err(|_| Failure::away(format!("the relay at {} does not answer", way.url)))?
    }

    async fn try_open(way: &Way) -> anyhow::Result<Self> {
        let limit = limits::MAX_FRAME_BYTES + limits::MAX_UNAUTHENTICATED_FRAME_BYTES;
        let limits = WebSocketConfig::default()
            .max_message_size(Some(limit))
            .max_frame_size(Some(limit));
        let connector = connector(&way.authorities).context("a certificate cannot be used")?;
        let is_nodelay = true;
        let connected = tokio_tungstenite::connect_async_tls_with_config(
            &way.url,
            Some(limits),
            is_nodelay,
            Some(connector),
        );
        let (socket, _) = connected.await.map_err(|error| {
            Failure::away(format!(
                "the relay at {} cannot be reached: {error}",
                way.url
            ))
        })?;
        let mut link = Self {
            socket,
            kept: VecDeque::new(),
            opened: Instant::now(),
            pace: Pace::new(Duration::ZERO),
            relay_build: None,
            own_id: None,
            listed: Vec::new(),
        };
        link.authenticate(way).await?;
        Ok(link)
    }

    async fn authenticate(&mut self, way: &Way) -> anyhow::Result<()> {
        let auth = Auth {
            token: Some(way.token.clone()),
            protocol: Some(limits::RELAY_PROTOCOL),
            ..Auth::new(DeviceType::App)
        };
        self.tell_relay(auth).await?;
        loop {
            if let Heard::Relay(message) = self.receive().await?
                && let RelayToDevice::AuthResult(result) = *message
            {
                result.outcome().map_err(Failure::Refused)?;
                self.relay_build = result.relay_version;
                self.own_id = result.device.map(|device| device.device_id);
                return Ok(());
            }
        }
    }

    async fn tell_relay(&mut self, message: impl Into<DeviceToRelay>) -> anyhow::Result<()> {
        self.write(Envelope::<DeviceToRelay>::new(message).to_json()?)
            .await
    }

    async fn write(&mut self, text: String) -> anyhow::Result<()> {
        let wait = self.pace.wait(self.opened.elapsed(), text.len());
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
        let sent = timeout(ANSWER_WITHIN, self.socket.send(Packet::text(text))).await;
        match sent {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(broken(&error.to_string())),
            Err(_) => Err(broken("it takes nothing")),
        }
    }

    /// The next frame from the socket.
    async fn receive(&mut self) -> anyhow::Result<Heard> {
        loop {
            let Ok(packet) = timeout(SILENT_FOR, self.socket.next()).await else {
                return Err(broken("it fell silent"));
            };
            let text = match packet {
                Some(Ok(Packet::Text(text))) => text,
                Some(Ok(Packet::Close(_))) | None => return Err(broken("it was closed")),
                Some(Ok(
                    Packet::Binary(_) | Packet::Ping(_) | Packet::Pong(_) | Packet::Frame(_),
                )) => continue,
                Some(Err(error)) => return Err(broken(&error.to_string())),
            };
            match AppInbox::parse(&text) {
                Ok(AppInbox::Relay(message)) => return Ok(Heard::Relay(Box::new(message))),
                Ok(AppInbox::Pylon(envelope)) => {
                    let envelope = *envelope;
                    let from = envelope.from.map_or(DeviceId(0), |from| from.device_id);
                    return Ok(Heard::Pylon(from, Box::new(envelope.message)));
                }
                Ok(AppInbox::Stray(_)) => {}
                // A newer machine may say what this build cannot read; the rest can be.
                Err(error) => tracing::debug!(%error, "a message cannot be read"),
            }
        }
    }

    /// The next thing that was said. Safe to cancel.
    pub(super) async fn next(&mut self) -> anyhow::Result<Heard> {
        match self.kept.pop_front() {
            Some(heard) => Ok(heard),
            None => self.receive().await,
        }
    }

    /// What came while answers were awaited.
    pub(super) fn kept(&mut self) -> VecDeque<Heard> {
        std::mem::take(&mut self.kept)
    }

    /// Asks a machine, and waits for the answer. One that says no is a failure.
    pub(super) async fn ask<R: Ask>(
        &mut self,
        pylon: DeviceId,
        request: R,
    ) -> anyhow::Result<R::Answer> {
        let id = self.post(pylon, request).await?;
        let awaited = timeout(ANSWER_WITHIN, self.answer::<R>(&id)).await;
        let silent = || Failure::away(format!("the machine {} does not answer", pylon.0));
        awaited.map_err(|_| silent())?
    }

    /// The same for what takes its time: whatever is heard meanwhile is shown, and the wait has no end but the answer or
    /// that of the connection.
    pub(super) async fn ask_patiently<R: Ask>(
        &mut self,
        pylon: DeviceId,
        request: R,
        mut show: impl FnMut(&Heard),
    ) -> anyhow::Result<R::Answer> {
        let id = self.post(pylon, request).await?;
        loop {
            let heard = self.receive().await?;
            if let Some(error) = complaint(&heard, &id) {
                return Err(Failure::Refused(error).into());
            }
            show(&heard);
            if let Heard::Pylon(_, message) = heard
                && R::is_answered_by(&message, &id)
            {
                let answer = R::answer(*message).context("the answer is of another kind")?;
                answer.outcome().map_err(Failure::Refused)?;
                return Ok(answer);
            }
        }
    }

    /// Sends a request, and gives the name it was given.
    async fn post<R: Ask>(&mut self, pylon: DeviceId, request: R) -> anyhow::Result<RequestId> {
        let id = RequestId::parse(&uuid::Uuid::now_v7().to_string())?;
        let message: AppToPylon = request.named(id.clone()).into();
        let envelope = Envelope::<AppToPylon> {
            request_id: Some(id.clone()),
            ..Envelope::to(To::device(pylon), message)
        };
        self.write(envelope.to_json()?).await?;
        Ok(id)
    }

    /// Says something that has no answer.
    pub(super) async fn tell(
        &mut self,
        pylon: DeviceId,
        message: impl Into<AppToPylon>,
    ) -> anyhow::Result<()> {
        let envelope = Envelope::<AppToPylon>::to(To::device(pylon), message);
        self.write(envelope.to_json()?).await
    }

    async fn answer<R: Ask>(&mut self, id: &RequestId) -> anyhow::Result<R::Answer> {
        loop {
            let heard = self.receive().await?;
            if let Some(error) = complaint(&heard, id) {
                return Err(Failure::Refused(error).into());
            }
            match heard {
                Heard::Pylon(_, message) if R::is_answered_by(&message, id) => {
                    let answer = R::answer(*message).context("the answer is of another kind")?;
                    answer.outcome().map_err(Failure::Refused)?;
                    return Ok(answer);
                }
                Heard::Pylon(..) | Heard::Relay(_) => self.kept.push_back(heard),
            }
        }
    }

    /// The machines that are connected now.
    pub(super) async fn machines(&mut self) -> anyhow::Result<Vec<ConnectedDevice>> {
        let devices = self.devices().await?;
        Ok(devices.into_iter().filter(is_machine).collect())
    }

    /// Everybody who is connected now.
    pub(super) async fn devices(&mut self) -> anyhow::Result<Vec<ConnectedDevice>> {
        self.tell_relay(GetDevices::default()).await?;
        let listing = async {
            loop {
                let heard = self.receive().await?;
                if let Heard::Relay(message) = &heard
                    && let RelayToDevice::DeviceList(list) = &**message
                {
                    return anyhow::Ok(list.devices.clone());
                }
                self.kept.push_back(heard);
            }
        };
        let devices = timeout(ANSWER_WITHIN, listing).await;
        let devices = devices.map_err(|_| Failure::away("the relay does not answer"))??;
        self.listed.clone_from(&devices);
        Ok(devices)
    }

    /// Whether a device is among these over the connection that it had when the devices were last asked for. One that
    /// connected anew knows nothing of what was asked of it before, whether or not anybody said that it was away.
    pub(super) fn is_still_there(&self, id: DeviceId, now: &[ConnectedDevice]) -> bool {
        let since = |devices: &[ConnectedDevice]| {
            let mut devices = devices.iter();
            let device = devices.find(|device| device.device_id == id);
            device.map(|device| device.connected_at.clone())
        };
        let connected = since(now);
        connected.is_some() && connected == since(&self.listed)
    }
}

/// Whether a device is a machine with conversations.
pub(super) fn is_machine(device: &ConnectedDevice) -> bool {
    device.device_type == DeviceType::Pylon
}

fn broken(why: &str) -> anyhow::Error {
    Failure::away(format!("the connection to the relay broke: {why}")).into()
}

/// What somebody on the way says against a request.
fn complaint(heard: &Heard, id: &RequestId) -> Option<ApiError> {
    let of = |report: &ErrorReport| {
        (report.request_id.as_ref() == Some(id)).then(|| {
            ApiError::new(
                report.error_code.clone().unwrap_or(ErrorCode::Internal),
                report.error.clone(),
                report.retry.clone().unwrap_or(Retry::Never),
            )
        })
    };
    if let Heard::Relay(message) = heard
        && let RelayToDevice::ErrorReport(report) = &**message
    {
        return of(report);
    }
    if let Heard::Pylon(_, message) = heard
        && let PylonToApp::ErrorReport(report) = &**message
    {
        return of(report);
    }
    None
}
