//! Requests: the upgrade to a WebSocket, the relay's own two pages, and those of whoever embeds it.
//!
//! Host and origin are checked before anything else. Nothing here has side effects, reads a body or looks at a query; what
//! is under `/api/` is handed on, for devices alone.

use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;
use estelle_proto::Token;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{
    AUTHORIZATION, CACHE_CONTROL, CONNECTION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderMap,
    HeaderName, HeaderValue, REFERRER_POLICY, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY,
    SEC_WEBSOCKET_VERSION, UPGRADE, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use hyper::{Method, Request, Response, StatusCode, Version};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tracing::debug;

use super::accept::{Pass, Visitor};
use super::connection::{self, Arrival};
use crate::config::{Api, Page};
use crate::ws;

type Answer = Response<Full<Bytes>>;

/// Pages may load what is theirs and speak to where they come from; nobody may frame them.
const POLICY: &str = "default-src 'self'; connect-src 'self'; img-src 'self' data:; \
    style-src 'self' 'unsafe-inline'; object-src 'none'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

/// Answers a request.
pub(super) async fn respond<S>(visitor: &Arc<Visitor>, request: Request<Incoming>) -> Answer
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let shell = &visitor.shell;
    let is_head = request.method() == Method::HEAD;
    let routed = match route::<S>(visitor, request) {
        Ok(Routed::Page(page)) => Ok(page),
        Ok(Routed::Api(api, request)) => through(visitor, &api, request).await,
        Err(status) => Err(status),
    };
    let mut page = match routed {
        Ok(page) => page,
        Err(status) => {
            shell.metrics.refused_requests_total.one();
            debug!(%status, "request refused");
            plain(status, status.canonical_reason().unwrap_or_default())
        }
    };
    harden(page.headers_mut());
    page.map(|body| Full::new(if is_head { Bytes::new() } else { body }))
}

/// Where a request leads.
enum Routed {
    Page(Page),
    /// To whoever embeds the relay.
    Api(Api, Request<Incoming>),
}

fn route<S>(visitor: &Arc<Visitor>, request: Request<Incoming>) -> Result<Routed, StatusCode>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let shell = &visitor.shell;
    let (headers, uri) = (request.headers(), request.uri());
    let host = shell.guard.host(headers, uri, visitor.local);
    let host = host.ok_or(StatusCode::FORBIDDEN)?;
    if !shell.guard.allows_origin(headers, &host) {
        return Err(StatusCode::FORBIDDEN);
    }
    if uri.path().starts_with("/api/")
        && !headers.contains_key(UPGRADE)
        && let Some(api) = &shell.api
    {
        return Ok(Routed::Api(api.clone(), request));
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return Err(StatusCode::METHOD_NOT_ALLOWED);
    }
    if headers.contains_key(UPGRADE) {
        return upgrade::<S>(visitor, request).map(Routed::Page);
    }
    let page = match uri.path() {
        "/healthz" => health(visitor),
        "/metrics" => metrics(visitor, headers)?,
        _ => {
            let request = request.map(drop);
            let page = shell.pages.as_ref().and_then(|pages| pages(&request));
            page.ok_or(StatusCode::NOT_FOUND)?
        }
    };
    Ok(Routed::Page(page))
}

/// Hands a request of a device on, with what the device may do. Each has a connection of its own: the time of one is counted
/// from its beginning, so that none is cut in the middle.
async fn through(
    visitor: &Visitor,
    api: &Api,
    request: Request<Incoming>,
) -> Result<Page, StatusCode> {
    let known = match bearer(request.headers()) {
        Some(token) => visitor.shell.hub.recognize(token).await,
        None => None,
    };
    let known = known.ok_or(StatusCode::UNAUTHORIZED)?;
    let mut page = api(known, request).await;
    let close = HeaderValue::from_static("close");
    page.headers_mut().insert(CONNECTION, close);
    Ok(page)
}

/// The token of the header, if there is exactly one that could be a secret.
fn bearer(headers: &HeaderMap) -> Option<Token> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let value = values.next()?.to_str().ok()?;
    if values.next().is_some() {
        return None;
    }
    let (scheme, token) = value.split_once(' ')?;
    let is_bearer = scheme.eq_ignore_ascii_case("bearer");
    is_bearer.then(|| Token::parse(token.trim()).ok()).flatten()
}

/// Whether devices are let in and what they change is kept. Everybody may ask, so it says no more than that.
fn health(visitor: &Visitor) -> Page {
    let shell = &visitor.shell;
    let trouble = if shell.stopping.is_cancelled() || shell.hub.is_gone() {
        "stopping\n"
    } else if shell.hub.is_full() {
        "overloaded: messages wait to be routed\n"
    } else if shell.metrics.unsaved.get() > 0 {
        "the registry could not be written: see the relay's log\n"
    } else {
        return plain(StatusCode::OK, "ok\n");
    };
    plain(StatusCode::SERVICE_UNAVAILABLE, trouble)
}

/// The counters, for whoever has their token. Without one there is no such page.
fn metrics(visitor: &Visitor, headers: &HeaderMap) -> Result<Page, StatusCode> {
    let wanted = visitor.shell.metrics_token.as_ref();
    let wanted = wanted.ok_or(StatusCode::NOT_FOUND)?;
    let given = headers
        .get(AUTHORIZATION)
        .and_then(|value| value.to_str().ok());
    let given = given.and_then(|value| value.strip_prefix("Bearer "));
    let hash = |text: &str| blake3::hash(text.as_bytes());
    if given.map(hash) != Some(hash(wanted.reveal())) {
        return Err(StatusCode::UNAUTHORIZED);
    }
    Ok(plain(StatusCode::OK, visitor.shell.metrics.render()))
}

fn upgrade<S>(visitor: &Arc<Visitor>, mut request: Request<Incoming>) -> Result<Page, StatusCode>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let headers = request.headers();
    if !matches!(request.uri().path(), "/ws" | "/") {
        return Err(StatusCode::NOT_FOUND);
    }
    let is_get = request.method() == Method::GET && request.version() == Version::HTTP_11;
    if !is_get || !names(headers, &UPGRADE, "websocket") || !names(headers, &CONNECTION, "upgrade")
    {
        return Err(StatusCode::BAD_REQUEST);
    }
    if headers
        .get(SEC_WEBSOCKET_VERSION)
        .map(HeaderValue::as_bytes)
        != Some(b"13")
    {
        return Err(StatusCode::UPGRADE_REQUIRED);
    }
    let key = headers.get(SEC_WEBSOCKET_KEY).map(HeaderValue::as_bytes);
    let accept = key
        .and_then(ws::accept_key)
        .ok_or(StatusCode::BAD_REQUEST)?;
    let accept = HeaderValue::from_str(&accept).map_err(|_| StatusCode::BAD_REQUEST)?;
    let address = visitor.shell.guard.client(headers, visitor.peer);
    let pass = pass(visitor, address).ok_or(StatusCode::SERVICE_UNAVAILABLE)?;
    let upgraded = hyper::upgrade::on(&mut request);
    let shell = visitor.shell.clone();
    visitor.shell.tasks.spawn(async move {
        let Ok(upgraded) = upgraded.await else {
            return;
        };
        // The connection was made of this very type.
        let Ok(parts) = upgraded.downcast::<TokioIo<S>>() else {
            return;
        };
        let arrival = Arrival {
            io: parts.io.into_inner(),
            early: parts.read_buf,
            address,
            pass,
        };
        // A task of its own: this one is larger than what a connection needs for the rest of its life.
        let tasks = shell.tasks.clone();
        tasks.spawn(connection::run(shell, arrival));
    });
    let mut page = plain(StatusCode::SWITCHING_PROTOCOLS, "");
    let headers = page.headers_mut();
    headers.clear();
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(SEC_WEBSOCKET_ACCEPT, accept);
    Ok(page)
}

/// The room that the visitor took up; behind a proxy its place is taken now.
fn pass(visitor: &Visitor, address: IpAddr) -> Option<Pass> {
    let mut pass = visitor.take_pass()?;
    if pass.seat.is_none() {
        pass.seat = Some(visitor.shell.lobby.enter(address)?);
    }
    Some(pass)
}

/// Whether a header lists a word.
fn names(headers: &HeaderMap, name: &HeaderName, word: &str) -> bool {
    let lines = headers.get_all(name).iter();
    let lines = lines.filter_map(|line| line.to_str().ok());
    let mut words = lines.flat_map(|line| line.split(','));
    words.any(|found| found.trim().eq_ignore_ascii_case(word))
}

fn plain(status: StatusCode, text: impl Into<Bytes>) -> Page {
    let mut page = Response::new(text.into());
    *page.status_mut() = status;
    let headers = page.headers_mut();
    headers.insert(
        CONTENT_TYPE,
        HeaderValue::from_static("text/plain; charset=utf-8"),
    );
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    page
}

/// What every page has, unless it brings its own.
fn harden(headers: &mut HeaderMap) {
    let rules = [
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
        (CONTENT_SECURITY_POLICY, POLICY),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
    ];
    for (name, value) in rules {
        headers
            .entry(name)
            .or_insert(HeaderValue::from_static(value));
    }
}
