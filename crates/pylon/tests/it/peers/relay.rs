//! A relay for one pylon: takes its calls, lets it in, and delivers what apps would send.

use std::time::Duration;

use estelle_proto::auth::AuthResult;
use estelle_proto::{
    AppToPylon, DeviceId, DeviceKey, DeviceToRelay, DeviceType, Envelope, Message, PylonToApp,
    RelayToDevice, RequestId, Right, Sender, Token,
};
use estelle_pylon::link::relay::RelayConfig;
use estelle_state::link::Pace;
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message as Packet;

use super::PATIENCE;

/// All rights.
pub(crate) const RIGHTS: [Right; 5] = [
    Right::View,
    Right::Prompt,
    Right::Approve,
    Right::Terminal,
    Right::Admin,
];

/// A relay that does what the test says.
pub(crate) struct FakeRelay {
    listener: TcpListener,
}

/// One connection of it.
pub(crate) struct Call {
    pub(crate) socket: WebSocketStream<TcpStream>,
}

impl FakeRelay {
    pub(crate) async fn start() -> (Self, RelayConfig) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("ws://{}/", listener.local_addr().unwrap());
        let token = Token::parse("secret").unwrap();
        let mut config = RelayConfig::new(url, DeviceId(1), Some(token));
        config.pace = Pace {
            first: Duration::from_millis(2),
            cap: Duration::from_millis(8),
            steady: Duration::from_secs(1),
        };
        (Self { listener }, config)
    }

    pub(crate) async fn accept(&self) -> Call {
        let accepted = tokio::time::timeout(PATIENCE, self.listener.accept()).await;
        let (stream, _) = accepted.expect("the link calls").unwrap();
        let socket = tokio_tungstenite::accept_async(stream).await.unwrap();
        Call { socket }
    }

    /// Takes a call and lets the pylon in.
    pub(crate) async fn let_in(&self) -> Call {
        let mut call = self.accept().await;
        let auth = call.receive::<DeviceToRelay>().await;
        let DeviceToRelay::Auth(auth) = auth.message else {
            panic!("the first message is {auth:?}");
        };
        assert_eq!(auth.device_type, DeviceType::Pylon);
        assert_eq!(auth.device_id, Some(DeviceId(1)));
        assert_eq!(auth.token.unwrap().reveal(), "secret");
        call.say(AuthResult::default()).await;
        call
    }
}

impl Call {
    pub(crate) async fn text(&mut self) -> String {
        let text = async {
            loop {
                let packet = self.socket.next().await.expect("the pylon is there");
                if let Packet::Text(text) = packet.unwrap()
                    // Who belongs to the realm is told by the tests that are about it.
                    && !text.starts_with(r#"{"type":"paired_list""#)
                {
                    return text.to_string();
                }
            }
        };
        let text = tokio::time::timeout(PATIENCE, text).await;
        text.expect("the pylon says something")
    }

    pub(crate) async fn receive<M: Message>(&mut self) -> Envelope<M> {
        Envelope::parse(&self.text().await).unwrap()
    }

    pub(crate) async fn say(&mut self, message: impl Into<RelayToDevice>) {
        let text = Envelope::<RelayToDevice>::new(message).to_json().unwrap();
        self.socket.send(Packet::text(text)).await.unwrap();
    }

    /// Which request the pylon answers next.
    pub(crate) async fn answered(&mut self) -> u64 {
        let answer = self.receive::<PylonToApp>().await;
        let PylonToApp::ClaudeSendResult(answer) = answer.message else {
            panic!("nobody asked for {answer:?}");
        };
        number(answer.request_id.as_ref())
    }

    /// As the relay delivers what app 100 sent, which may do everything.
    pub(crate) async fn deliver(&mut self, message: impl Into<AppToPylon>) {
        self.deliver_from(100, &RIGHTS, message).await;
    }

    /// The same from another app, with its rights.
    pub(crate) async fn deliver_from(
        &mut self,
        app: u32,
        rights: &[Right],
        message: impl Into<AppToPylon>,
    ) {
        let mut from = Sender::new(DeviceId(app), DeviceType::App, format!("Client {app}"));
        from.rights = Some(rights.to_vec());
        self.deliver_as(from, message).await;
    }

    /// The same from a device that was paired.
    pub(crate) async fn deliver_paired(
        &mut self,
        app: u32,
        key: &str,
        message: impl Into<AppToPylon>,
    ) {
        let mut from = Sender::new(DeviceId(app), DeviceType::App, format!("Client {app}"));
        from.rights = Some(RIGHTS.to_vec());
        from.device_key = Some(DeviceKey::parse(key).unwrap());
        self.deliver_as(from, message).await;
    }

    async fn deliver_as(&mut self, from: Sender, message: impl Into<AppToPylon>) {
        let mut envelope = Envelope::<AppToPylon>::new(message);
        envelope.from = Some(from);
        let text = envelope.to_json().unwrap();
        self.socket.send(Packet::text(text)).await.unwrap();
    }
}

/// The number of a request or of its answer.
pub(crate) fn number(id: Option<&RequestId>) -> u64 {
    id.unwrap().as_str().parse().unwrap()
}
