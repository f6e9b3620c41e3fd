//! The link to a relay behind TLS, with a certificate that only this household trusts.

use std::sync::Arc;

use estelle_proto::auth::AuthResult;
use estelle_proto::{DeviceId, Envelope, RelayToDevice};
use estelle_pylon::link::relay::{FromRelay, LostRelay, RelayConfig, RelayLink, RelayState};
use futures_util::{SinkExt as _, StreamExt as _};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_tungstenite::tungstenite::Message as Packet;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::peers::PATIENCE;

async fn secured() -> (TcpListener, TlsAcceptor, CertificateDer<'static>) {
    let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let certificate = own.cert.der().clone();
    let key = PrivateKeyDer::try_from(own.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key)
        .unwrap();
    let listener = TcpListener::bind("localhost:0").await.unwrap();
    (listener, TlsAcceptor::from(Arc::new(config)), certificate)
}

#[tokio::test]
async fn a_relay_with_a_certificate_of_its_own_is_reached_if_it_is_trusted() {
    let (listener, acceptor, certificate) = secured().await;
    let url = format!("wss://localhost:{}/", listener.local_addr().unwrap().port());
    let stop = CancellationToken::new();
    let _stop = stop.clone().drop_guard();
    let mut config = RelayConfig::new(url, DeviceId(1), None);
    let (stranger, _inbox) = RelayLink::spawn(config.clone(), &TaskTracker::new(), stop.clone());
    let (stream, _) = listener.accept().await.unwrap();
    assert!(acceptor.accept(stream).await.is_err());
    let mut state = stranger.state();
    let is_away = |state: &RelayState| matches!(state, RelayState::Away(LostRelay::Unreachable(_)));
    let away = tokio::time::timeout(PATIENCE, state.wait_for(is_away)).await;
    away.expect("a relay that nobody vouches for is not talked to")
        .unwrap();
    stop.cancel();

    config.authorities.push(certificate);
    let stop = CancellationToken::new();
    let _stop = stop.clone().drop_guard();
    let (_link, mut inbox) = RelayLink::spawn(config, &TaskTracker::new(), stop);
    let relay = async {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            // The stranger may have called once more.
            let Ok(stream) = acceptor.accept(stream).await else {
                continue;
            };
            let mut socket = tokio_tungstenite::accept_async(stream).await.unwrap();
            socket.next().await.unwrap().unwrap();
            let result = Envelope::<RelayToDevice>::new(AuthResult::default());
            let text = result.to_json().unwrap();
            socket.send(Packet::text(text)).await.unwrap();
            return socket;
        }
    };
    let both = Box::pin(async { tokio::join!(relay, inbox.recv()) });
    let (_socket, up) = tokio::time::timeout(PATIENCE, both).await.unwrap();
    assert!(matches!(up, Some(FromRelay::Up { .. })), "{up:?}");
}
