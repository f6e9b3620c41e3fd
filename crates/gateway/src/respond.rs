//! From a request to its answer: the checks in their order, the operation, and headers that every answer has.
//!
//! Host and origin come first, then the route, then the token, then the right. No body is read before that. Neither
//! paths nor tokens are logged.

use std::sync::Arc;

use bytes::Bytes;
use estelle_proto::{ErrorCode, Right};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{
    ALLOW, AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderMap,
    HeaderName, HeaderValue, REFERRER_POLICY, UPGRADE, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use hyper::{Method, Request, Response, StatusCode};
use serde::Serialize;

use crate::failure::Failure;
use crate::lobby::Seat;
use crate::operations::{self, Caller};
use crate::routes::{self, Access, Found, Named};
use crate::server::Shell;
use crate::socket;

pub(crate) type Answer = Response<Full<Bytes>>;

/// Nothing of an answer is run or framed; the page of the documentation brings its own style.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'none'";

/// Answers a request.
pub(crate) async fn respond(shell: Arc<Shell>, request: Request<Incoming>) -> Answer {
    let mut answer = match route(&shell, request).await {
        Ok(answer) => answer,
        Err(failure) => {
            tracing::debug!(status = %failure.status, code = %failure.body.code, "request refused");
            refused(&failure)
        }
    };
    harden(answer.headers_mut());
    answer
}

/// Answers a request of somebody who was recognized elsewhere, and may do this much.
pub(crate) async fn respond_to(
    shell: &Arc<Shell>,
    rights: Vec<Right>,
    request: Request<Incoming>,
) -> Answer {
    let dispatched = dispatch(shell, Who::Known(rights), request).await;
    let mut answer = dispatched.unwrap_or_else(|failure| refused(&failure));
    harden(answer.headers_mut());
    answer
}

/// Who asks.
enum Who {
    /// Whoever has the token in the header.
    Bearer,
    /// Somebody with these rights.
    Known(Vec<Right>),
}

async fn route(shell: &Arc<Shell>, request: Request<Incoming>) -> Result<Answer, Failure> {
    let (headers, uri) = (request.headers(), request.uri());
    if !shell.guard.allows(headers, uri) {
        let text = "this gateway is not reached under that name, or from that page";
        return Err(Failure::new(
            StatusCode::FORBIDDEN,
            "forbidden_origin",
            text,
        ));
    }
    if let Some(Named { id: Some(id), .. }) = routes::fits(routes::SOCKET, uri.path()) {
        let id = id.to_owned();
        return socket::upgrade(shell, request, &id, socket::Place::Session);
    }
    if let Some(Named { id: Some(id), .. }) = routes::fits(routes::TERMINAL_SOCKET, uri.path()) {
        let id = id.to_owned();
        return socket::upgrade(shell, request, &id, socket::Place::Terminal);
    }
    dispatch(shell, Who::Bearer, request).await
}

async fn dispatch(
    shell: &Arc<Shell>,
    who: Who,
    request: Request<Incoming>,
) -> Result<Answer, Failure> {
    let (headers, uri) = (request.headers(), request.uri());
    if headers.contains_key(UPGRADE) {
        return Err(Failure::invalid("there is no WebSocket here"));
    }
    let path = uri.path().to_owned();
    match routes::find(request.method(), &path) {
        Found::Nothing => {
            let text = "there is nothing here";
            Err(Failure::new(StatusCode::NOT_FOUND, "not_found", text))
        }
        Found::OtherMethod(methods) => Ok(other_method(&methods)),
        Found::Route(route, named) => {
            let rights = match &route.access {
                Access::Public => Vec::new(),
                Access::Right(right) => {
                    let rights = match who {
                        Who::Known(rights) => Some(rights),
                        Who::Bearer => bearer(headers).and_then(|token| shell.config.rights(token)),
                    };
                    let seat = request.extensions().get::<Arc<Seat>>();
                    if let Some(seat) = seat.filter(|_| rights.is_some()) {
                        seat.is_known();
                    }
                    authorized(rights, right)?
                }
            };
            let caller = Caller {
                shell: shell.clone(),
                rights,
                id: named.id.map(str::to_owned),
                task: named.task.map(str::to_owned),
            };
            operations::carry_out(route.operation, caller, request).await
        }
    }
}

/// The rights of whoever calls, if the one that is needed is among them.
fn authorized(rights: Option<Vec<Right>>, right: &Right) -> Result<Vec<Right>, Failure> {
    let rights = rights.ok_or_else(unauthorized)?;
    if !rights.contains(right) {
        let text = format!("this needs the right `{right}`");
        let code = ErrorCode::Forbidden;
        return Err(Failure::new(StatusCode::FORBIDDEN, code.as_str(), text));
    }
    Ok(rights)
}

/// The token of the header, if there is exactly one.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let value = values.next()?.to_str().ok()?;
    if values.next().is_some() {
        return None;
    }
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

pub(crate) fn unauthorized() -> Failure {
    let text = "a token is needed: `Authorization: Bearer <token>`";
    let code = ErrorCode::NotAuthenticated;
    Failure::new(StatusCode::UNAUTHORIZED, code.as_str(), text)
}

/// The answer to a request that took too long.
pub(crate) fn late() -> Answer {
    let text = "this took too long: ask again what became of it";
    let failure = Failure::new(StatusCode::GATEWAY_TIMEOUT, "timeout", text);
    let mut answer = refused(&failure);
    harden(answer.headers_mut());
    answer
}

fn refused(failure: &Failure) -> Answer {
    let mut answer = json(failure.status, &failure.body);
    if failure.status == StatusCode::UNAUTHORIZED {
        let headers = answer.headers_mut();
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    answer
}

fn other_method(methods: &[&Method]) -> Answer {
    let text = "this path does not take that method";
    let status = StatusCode::METHOD_NOT_ALLOWED;
    let mut answer = refused(&Failure::new(status, "method_not_allowed", text));
    let list: Vec<&str> = methods.iter().map(|method| method.as_str()).collect();
    if let Ok(list) = HeaderValue::from_str(&list.join(", ")) {
        answer.headers_mut().insert(ALLOW, list);
    }
    answer
}

/// An answer in JSON.
pub(crate) fn json<T: Serialize>(status: StatusCode, body: &T) -> Answer {
    match serde_json::to_vec(body) {
        Ok(text) => page(status, "application/json", text),
        Err(error) => {
            tracing::error!(%error, "bug: an answer cannot be written");
            page(StatusCode::INTERNAL_SERVER_ERROR, "application/json", "{}")
        }
    }
}

/// Done, and nothing to say about it.
pub(crate) fn done() -> Answer {
    let mut answer = Response::new(Full::new(Bytes::new()));
    *answer.status_mut() = StatusCode::NO_CONTENT;
    answer
}

/// An answer of some type.
pub(crate) fn page(status: StatusCode, kind: &'static str, text: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Full::new(text.into()));
    *answer.status_mut() = status;
    let kind = HeaderValue::from_static(kind);
    answer.headers_mut().insert(CONTENT_TYPE, kind);
    answer
}

fn harden(headers: &mut HeaderMap) {
    let rules = [
        (CACHE_CONTROL, "no-store"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
        (CONTENT_SECURITY_POLICY, POLICY),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
    ];
    for (name, value) in rules {
        headers.insert(name, HeaderValue::from_static(value));
    }
}
