//! One POST to somebody outside, within bounds: no redirect is followed, nothing of the answer is read but its head, and
//! what takes too long is given up.
//!
//! A push goes only where a browser's push service can be: https, and no address of a private network. The name is
//! resolved here and the connection made to the very address that was checked. A webhook comes from the configuration of
//! the machine's owner and may be anywhere.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::{HOST, RETRY_AFTER};
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// All of it, from the name to the head of the answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// An address that is longer is none of a push service.
pub(crate) const MOST_URL_BYTES: usize = 2048;

/// Where a POST may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// To public addresses over https.
    Public,
    /// To the loopback without encryption as well. For tests.
    PublicOrLoopback,
    /// Anywhere.
    Anywhere,
}

/// What became of a POST.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Sent {
    /// It was taken.
    Taken,
    /// Nobody is there any more, for good.
    Gone,
    /// It may be taken later.
    Later {
        why: String,
        after: Option<Duration>,
    },
    /// It will never be taken.
    Refused { why: String },
}

/// Why an address is not used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AddressError {
    #[error("the address is no URL of at most {MOST_URL_BYTES} bytes")]
    NoUrl,
    #[error("the address is not https")]
    NotSecure,
    #[error("the address is of a private network")]
    Private,
}

/// An address that may be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    uri: Uri,
    host: String,
    port: u16,
    is_secure: bool,
}

impl Address {
    /// Reads an address and refuses what may not be reached. Names are looked up when something is sent.
    pub(crate) fn parse(text: &str, reach: Reach) -> Result<Self, AddressError> {
        if text.len() > MOST_URL_BYTES {
            return Err(AddressError::NoUrl);
        }
        let uri: Uri = text.parse().map_err(|_| AddressError::NoUrl)?;
        let authority = uri.authority().ok_or(AddressError::NoUrl)?;
        // A name and password in front of the host would be sent to whoever is there.
        if authority.as_str().contains('@') || authority.host().is_empty() {
            return Err(AddressError::NoUrl);
        }
        let is_secure = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(AddressError::NotSecure),
        };
        let host = authority.host().trim_matches(['[', ']']).to_owned();
        let port = authority.port_u16();
        let port = port.unwrap_or(if is_secure { 443 } else { 80 });
        let literal: Option<IpAddr> = host.parse().ok();
        if let Some(ip) = literal.filter(|ip| !may_reach(*ip, reach)) {
            tracing::debug!(%ip, "a push to a private address was refused");
            return Err(AddressError::Private);
        }
        let is_loopback = literal.is_some_and(|ip| ip.is_loopback());
        let may_be_plain = match reach {
            Reach::Public => false,
            Reach::PublicOrLoopback => is_loopback,
            Reach::Anywhere => true,
        };
        if !is_secure && !may_be_plain {
            return Err(AddressError::NotSecure);
        }
        Ok(Self {
            uri,
            host,
            port,
            is_secure,
        })
    }

    /// The host, for people.
    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    /// Scheme, host and port, as a token names its audience.
    pub(crate) fn origin(&self) -> String {
        let scheme = if self.is_secure { "https" } else { "http" };
        let authority = self
            .uri
            .authority()
            .map_or("", |authority| authority.as_str());
        format!("{scheme}://{authority}")
    }
}

/// The way outside.
#[derive(Debug, Clone)]
pub(crate) struct Outbound {
    tls: Arc<ClientConfig>,
}

impl Outbound {
    pub(crate) fn new() -> Result<Self, rustls::Error> {
        let roots = RootCertStore {
            roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
        };
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self {
            tls: Arc::new(config),
        })
    }

    /// Posts a body with these headers.
    pub(crate) async fn post(
        &self,
        to: &Address,
        reach: Reach,
        headers: &[(&str, String)],
        body: Vec<u8>,
    ) -> Sent {
        let posting = self.try_post(to, reach, headers, body);
        match tokio::time::timeout(PATIENCE, posting).await {
            Ok(Ok(sent)) => sent,
            Ok(Err(why)) => Sent::Later { why, after: None },
            Err(_) => Sent::Later {
                why: format!("no answer within {} s", PATIENCE.as_secs()),
                after: None,
            },
        }
    }

    async fn try_post(
        &self,
        to: &Address,
        reach: Reach,
        headers: &[(&str, String)],
        body: Vec<u8>,
    ) -> Result<Sent, String> {
        let path = to.uri.path_and_query().map_or("/", |path| path.as_str());
        let authority = to
            .uri
            .authority()
            .map_or("", |authority| authority.as_str());
        let mut request = Request::builder().method(Method::POST).uri(path);
        request = request.header(HOST, authority);
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        let request = request
            .body(Full::new(Bytes::from(body)))
            .map_err(|error| error.to_string())?;
        let looked_up = tokio::net::lookup_host((to.host.as_str(), to.port)).await;
        let found: Vec<SocketAddr> = looked_up.map_err(|error| error.to_string())?.collect();
        let Some(address) = found.iter().find(|address| may_reach(address.ip(), reach)) else {
            let why = AddressError::Private.to_string();
            return Ok(if found.is_empty() {
                return Err("the name has no address".to_owned());
            } else {
                Sent::Refused { why }
            });
        };
        let stream = TcpStream::connect(address).await;
        let stream = stream.map_err(|error| error.to_string())?;
        let response = if to.is_secure {
            let name = ServerName::try_from(to.host.clone()).map_err(|error| error.to_string())?;
            let secured = TlsConnector::from(Arc::clone(&self.tls)).connect(name, stream);
            exchange(secured.await.map_err(|error| error.to_string())?, request).await
        } else {
            exchange(stream, request).await
        };
        Ok(judge(&response?))
    }
}

/// Sends the request and reads the head of the answer; the connection ends with it.
async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    request: Request<Full<Bytes>>,
) -> Result<Response<hyper::body::Incoming>, String> {
    let opened = http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = opened.map_err(|error| error.to_string())?;
    let mut connection = pin!(connection);
    let mut response = pin!(sender.send_request(request));
    tokio::select! {
        response = &mut response => response.map_err(|error| error.to_string()),
        ended = &mut connection => {
            // The answer may have come with the end.
            match ended {
                Ok(()) => response.await.map_err(|error| error.to_string()),
                Err(error) => Err(error.to_string()),
            }
        }
    }
}

/// What the head of an answer says.
fn judge<B>(response: &Response<B>) -> Sent {
    let status = response.status();
    let why = format!("answered with {}", status.as_u16());
    match status {
        status if status.is_success() => Sent::Taken,
        StatusCode::NOT_FOUND | StatusCode::GONE => Sent::Gone,
        StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT => Sent::Later {
            why,
            after: retry_after(response),
        },
        status if status.is_server_error() => Sent::Later {
            why,
            after: retry_after(response),
        },
        // A redirect is not followed: it could lead anywhere.
        _ => Sent::Refused { why },
    }
}

fn retry_after<B>(response: &Response<B>) -> Option<Duration> {
    let value = response.headers().get(RETRY_AFTER)?.to_str().ok()?;
    value.trim().parse().ok().map(Duration::from_secs)
}

fn may_reach(ip: IpAddr, reach: Reach) -> bool {
    match reach {
        Reach::Anywhere => true,
        Reach::PublicOrLoopback => ip.is_loopback() || is_public(ip),
        Reach::Public => is_public(ip),
    }
}

/// Whether an address is one of the public network.
fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => match ip.to_ipv4() {
            // Mapped and compatible addresses lead to those of the older kind.
            Some(ip) => is_public_v4(ip),
            None => is_public_v6(ip),
        },
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [first, second, third, _] = ip.octets();
    let is_shared = first == 100 && (64..128).contains(&second);
    let is_for_protocols = first == 192 && second == 0 && third == 0;
    let is_for_benchmarks = first == 198 && (second == 18 || second == 19);
    !(first == 0
        || first >= 224
        || ip.is_private()
        || ip.is_loopback()
        || ip.is_link_local()
        || ip.is_documentation()
        || is_shared
        || is_for_protocols
        || is_for_benchmarks)
}

fn is_public_v6(ip: Ipv6Addr) -> bool {
    let [first, second, ..] = ip.segments();
    // Only 2000::/3 is given out; of it, tunnels and examples lead elsewhere.
    let is_given_out = first & 0xe000 == 0x2000;
    let is_tunnel = first == 0x2002 || (first == 0x2001 && second < 0x0200);
    let is_example = first == 0x2001 && second == 0x0db8;
    is_given_out && !is_tunnel && !is_example
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_push_goes_to_public_addresses_over_https_only() {
        let good = [
            "https://push.example.org/a?b=c",
            "https://8.8.8.8/x",
            "https://[2606:4700::1]:8443/",
        ];
        for text in good {
            assert!(Address::parse(text, Reach::Public).is_ok(), "{text}");
        }
        let plain = [
            "http://push.example.org/",
            "http://8.8.8.8/",
            "ftp://a.example/",
            "http://localhost/",
        ];
        for text in plain {
            assert_eq!(
                Address::parse(text, Reach::Public).unwrap_err(),
                AddressError::NotSecure,
                "{text}"
            );
        }
        let private = [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "0.1.2.3",
            "224.0.0.1",
            "255.255.255.255",
            "198.18.0.1",
            "192.0.0.8",
            "[::1]",
            "[::]",
            "[fc00::1]",
            "[fe80::1]",
            "[::ffff:127.0.0.1]",
            "[::ffff:10.0.0.1]",
            "[64:ff9b::7f00:1]",
            "[2002:7f00:1::]",
            "[2001:db8::1]",
            "[ff02::1]",
        ];
        for host in private {
            let text = format!("https://{host}/x");
            assert_eq!(
                Address::parse(&text, Reach::Public).unwrap_err(),
                AddressError::Private,
                "{host}"
            );
        }
        let long = format!("https://push.example.org/{}", "a".repeat(MOST_URL_BYTES));
        for text in [
            "",
            "wibble",
            "https://",
            "https://user@push.example.org/",
            "/path",
            long.as_str(),
        ] {
            assert!(Address::parse(text, Reach::Public).is_err(), "{text}");
        }
    }

    /// What a name leads to is judged when it is looked up, not when it is written down.
    #[tokio::test]
    async fn l17_nothing_is_posted_to_a_name_that_leads_to_this_machine() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        let text = format!("https://localhost:{port}/x");
        let address = Address::parse(&text, Reach::Public).unwrap();
        let outbound = Outbound::new().unwrap();
        let sent = outbound
            .post(&address, Reach::Public, &[], b"x".to_vec())
            .await;
        let why = AddressError::Private.to_string();
        assert_eq!(sent, Sent::Refused { why });
        let knocked = listener.accept().map(|_| ());
        assert_eq!(
            knocked.unwrap_err().kind(),
            std::io::ErrorKind::WouldBlock,
            "somebody connected"
        );
    }

    #[test]
    fn only_a_test_may_push_to_the_loopback_without_encryption() {
        let own = "http://127.0.0.1:9/x";
        assert!(Address::parse(own, Reach::PublicOrLoopback).is_ok());
        assert!(Address::parse(own, Reach::Public).is_err());
        assert!(Address::parse("http://10.0.0.1/", Reach::PublicOrLoopback).is_err());
        assert!(Address::parse("http://push.example.org/", Reach::PublicOrLoopback).is_err());
        assert!(Address::parse("http://10.0.0.1/", Reach::Anywhere).is_ok());
        let address = Address::parse("https://push.example.org:444/x", Reach::Public).unwrap();
        assert_eq!(address.origin(), "https://push.example.org:444");
        assert_eq!(address.host(), "push.example.org");
    }

    #[test]
    fn answers_are_told_apart() {
        let answer = |status: u16, after: Option<&str>| {
            let mut response = Response::builder().status(status);
            if let Some(after) = after {
                response = response.header(RETRY_AFTER, after);
            }
            judge(&response.body(()).unwrap())
        };
        assert_eq!(answer(201, None), Sent::Taken);
        assert_eq!(
            (answer(404, None), answer(410, None)),
            (Sent::Gone, Sent::Gone)
        );
        let later = |status: u16, after: Option<u64>| Sent::Later {
            why: format!("answered with {status}"),
            after: after.map(Duration::from_secs),
        };
        assert_eq!(answer(429, Some("7")), later(429, Some(7)));
        assert_eq!(
            answer(503, Some("Wed, 21 Oct 2026 07:28:00 GMT")),
            later(503, None)
        );
        for status in [301, 307, 400, 401, 403, 413] {
            assert!(
                matches!(answer(status, None), Sent::Refused { .. }),
                "{status}"
            );
        }
    }
}
