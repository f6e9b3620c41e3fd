//! Fetches a small text by its address, over HTTP or HTTPS.
//!
//! The request is HTTP/1.0, so that the answer is one piece that ends with the connection. A few redirects are followed,
//! never from an encrypted address to one that is not. What is longer than a limit is refused.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::{InvalidDnsNameError, ServerName};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_tungstenite::Connector;

use crate::link::relay::connector;

/// The most bytes of an answer, with its head.
const MOST_BYTES: u64 = 256 * 1024;
/// The most addresses that are tried one after another.
const REDIRECTS: usize = 5;
/// How long all of it may take.
const PATIENCE: Duration = Duration::from_secs(15);

/// Why a text could not be fetched.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The address is none.
    #[error("`{0}` is no address of the form https://host/path")]
    Address(String),
    /// The name of the server is none.
    #[error("the address has no valid host: {0}")]
    Host(#[from] InvalidDnsNameError),
    /// The certificates of this program cannot be used.
    #[error("TLS cannot be set up: {0}")]
    Tls(#[from] rustls::Error),
    /// No connection, or it broke.
    #[error("the server cannot be reached: {0}")]
    Io(#[from] io::Error),
    /// It took too long.
    #[error("the server did not answer in time")]
    Slow,
    /// It is too long.
    #[error("the answer has more than {MOST_BYTES} bytes")]
    TooLong,
    /// The server says no, or nothing that can be read.
    #[error("the server answered `{0}`")]
    Status(String),
}

/// An address in its parts.
#[derive(Debug, PartialEq, Eq)]
struct Address<'a> {
    is_secure: bool,
    /// With the port, if one is named.
    authority: &'a str,
    host: &'a str,
    port: u16,
    path: &'a str,
}

impl<'a> Address<'a> {
    fn parse(url: &'a str) -> Option<Self> {
        let (is_secure, rest) = match url.split_once("://")? {
            ("https", rest) => (true, rest),
            ("http", rest) => (false, rest),
            _ => return None,
        };
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let path = path.split('#').next().unwrap_or_default();
        let is_clean = !url.contains(|c: char| c.is_whitespace() || c.is_control());
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()?),
            Some(_) | None => (authority, if is_secure { 443 } else { 80 }),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let is_one = is_clean && !host.is_empty() && !authority.contains('@');
        is_one.then_some(Self {
            is_secure,
            authority,
            host,
            port,
            path,
        })
    }
}

/// An answer in its parts.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    Text(String),
    Elsewhere(String),
}

/// Fetches a text.
pub(crate) async fn fetch(url: &str) -> Result<String, FetchError> {
    let fetching = async {
        let mut url = url.to_owned();
        for _ in 0..REDIRECTS {
            let address = Address::parse(&url).ok_or_else(|| FetchError::Address(url.clone()))?;
            match answer(&ask(&address).await?)? {
                Answer::Text(text) => return Ok(text),
                Answer::Elsewhere(next) => {
                    let next = joined(&address, &next);
                    if address.is_secure && !next.starts_with("https://") {
                        return Err(FetchError::Status("a redirect without encryption".into()));
                    }
                    url = next;
                }
            }
        }
        Err(FetchError::Status("too many redirects".to_owned()))
    };
    let fetched = tokio::time::timeout(PATIENCE, fetching).await;
    fetched.unwrap_or(Err(FetchError::Slow))
}

/// Where a redirect leads that may name a path alone.
fn joined(from: &Address<'_>, next: &str) -> String {
    let scheme = if from.is_secure { "https" } else { "http" };
    if next.starts_with('/') {
        format!("{scheme}://{}{next}", from.authority)
    } else {
        next.to_owned()
    }
}

async fn ask(address: &Address<'_>) -> Result<Vec<u8>, FetchError> {
    let stream = TcpStream::connect((address.host, address.port)).await?;
    if !address.is_secure {
        return exchange(stream, address).await;
    }
    let Connector::Rustls(config) = connector(&[])? else {
        return Err(FetchError::Status("no TLS".to_owned()));
    };
    let name = ServerName::try_from(address.host.to_owned())?;
    let stream = TlsConnector::from(Arc::clone(&config)).connect(name, stream);
    exchange(stream.await?, address).await
}

async fn exchange(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    address: &Address<'_>,
) -> Result<Vec<u8>, FetchError> {
    let slash = if address.path.starts_with('/') {
        ""
    } else {
        "/"
    };
    let request = format!(
        "GET {slash}{} HTTP/1.0\r\nHost: {}\r\nUser-Agent: estelle\r\nAccept: */*\r\nConnection: close\r\n\r\n",
        address.path, address.authority
    );
    stream.write_all(request.as_bytes()).await?;
    let mut bytes = Vec::new();
    let read = stream.take(MOST_BYTES + 1).read_to_end(&mut bytes).await;
    match read {
        // Many servers end a TLS connection without saying so.
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {}
        read => drop(read?),
    }
    if bytes.len() as u64 > MOST_BYTES {
        return Err(FetchError::TooLong);
    }
    Ok(bytes)
}

fn answer(bytes: &[u8]) -> Result<Answer, FetchError> {
    let text = String::from_utf8_lossy(bytes);
    let unreadable = || FetchError::Status("nothing that can be read".to_owned());
    let (head, body) = text.split_once("\r\n\r\n").ok_or_else(unreadable)?;
    let mut lines = head.lines();
    let status = lines.next().unwrap_or_default();
    let code = status.split(' ').nth(1).unwrap_or_default();
    let header = |wanted: &str| {
        let named = head.lines().filter_map(|line| line.split_once(':'));
        let mut named = named.filter(|(name, _)| name.eq_ignore_ascii_case(wanted));
        named.next().map(|(_, value)| value.trim().to_owned())
    };
    let length = header("content-length").and_then(|length| length.parse::<usize>().ok());
    if length.is_some_and(|length| length > body.len()) {
        return Err(FetchError::Status("less than it announced".to_owned()));
    }
    match (code, header("location")) {
        ("200", _) => Ok(Answer::Text(body.to_owned())),
        ("301" | "302" | "303" | "307" | "308", Some(next)) => Ok(Answer::Elsewhere(next)),
        _ => {
            let shown: String = status
                .chars()
                .filter(|c| !c.is_control())
                .take(80)
                .collect();
            Err(FetchError::Status(shown))
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;
    use tokio::task::JoinSet;

    use super::*;

    #[test]
    fn an_address_is_taken_apart() {
        let parsed = Address::parse("https://example.org/a/b.json?x=1#y").unwrap();
        assert_eq!((parsed.host, parsed.port), ("example.org", 443));
        assert_eq!(parsed.path, "/a/b.json?x=1");
        let local = Address::parse("http://[::1]:8080").unwrap();
        assert_eq!((local.host, local.port, local.path), ("::1", 8080, ""));
        assert_eq!(Address::parse("http://[::1]").unwrap().port, 80);
        for bad in [
            "",
            "ftp://a/b",
            "https://",
            "https://u:p@a/",
            "http://a:x/",
            "http://a b/",
        ] {
            assert_eq!(Address::parse(bad), None, "{bad}");
        }
    }

    /// A server that gives these answers, one per connection.
    async fn server(answers: Vec<String>) -> (String, JoinSet<Vec<String>>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let mut tasks = JoinSet::new();
        let own = address.clone();
        tasks.spawn(async move {
            let mut asked = Vec::new();
            for answer in answers {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut request = Vec::new();
                while !request.ends_with(b"\r\n\r\n") {
                    request.push(stream.read_u8().await.unwrap());
                }
                asked.push(String::from_utf8(request).unwrap());
                let answer = answer.replace("SELF", &own);
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
            asked
        });
        (address, tasks)
    }

    #[tokio::test]
    async fn redirects_are_followed_and_the_text_is_given() {
        let (address, mut tasks) = server(vec![
            "HTTP/1.1 302 Found\r\nLocation: /second\r\n\r\n".to_owned(),
            "HTTP/1.1 301 Moved\r\nlocation: http://SELF/third?a=b\r\n\r\n".to_owned(),
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}".to_owned(),
        ])
        .await;
        let text = fetch(&format!("http://{address}/first")).await.unwrap();
        assert_eq!(text, "{}");
        let asked = tasks.join_next().await.unwrap().unwrap();
        let lines: Vec<_> = asked.iter().filter_map(|one| one.lines().next()).collect();
        assert_eq!(
            lines,
            [
                "GET /first HTTP/1.0",
                "GET /second HTTP/1.0",
                "GET /third?a=b HTTP/1.0"
            ]
        );
    }

    #[tokio::test]
    async fn what_is_no_good_answer_is_a_failure() {
        for (answer, wanted) in [
            ("HTTP/1.1 404 Not Found\r\n\r\n".to_owned(), "404 Not Found"),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}".to_owned(),
                "less than",
            ),
            ("garbage".to_owned(), "nothing that can be read"),
            (
                format!("HTTP/1.1 200 OK\r\n\r\n{}", " ".repeat(300_000)),
                "more than",
            ),
        ] {
            let (address, _tasks) = server(vec![answer]).await;
            let error = fetch(&format!("http://{address}/x")).await.unwrap_err();
            assert!(error.to_string().contains(wanted), "{error}");
        }
        let (address, _tasks) =
            server(vec!["HTTP/1.1 302 F\r\nLocation: /x\r\n\r\n".into(); 6]).await;
        let error = fetch(&format!("http://{address}/x")).await.unwrap_err();
        assert!(error.to_string().contains("redirects"), "{error}");
    }
}
