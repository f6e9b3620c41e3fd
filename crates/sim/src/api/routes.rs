//! HTTP: which path does what, and the shape of the API's errors.
//!
//! One handler reads the body within its limit, logs the request before it is answered, and routes by method and path.
//! What a message says is decided in [`super::reply`].

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header, request::Parts};
use axum::response::Response;
use serde_json::{Value, json};

use super::conversation::Conversation;
use super::log::Request;
use super::sse::{self, Emit, Names};
use super::{State, reply};
use crate::script::{Answer, HttpError, PLAIN_ANSWER};

/// Tokens that `count_tokens` finds in anything.
const COUNTED_TOKENS: u64 = 100;
const MODELS: [&str; 4] = [
    "claude-opus-5-5",
    "claude-opus-4-8",
    "claude-sonnet-5",
    "claude-haiku-4-5",
];
const SESSION_HEADER: &str = "x-claude-code-session-id";

/// The server's one handler.
pub(super) fn app(state: Arc<State>) -> Router {
    Router::new().fallback(move |request: axum::extract::Request| {
        let state = Arc::clone(&state);
        async move { handle(&state, request).await }
    })
}

async fn handle(state: &State, request: axum::extract::Request) -> Response {
    let (parts, body) = request.into_parts();
    let Ok(bytes) = to_bytes(body, state.max_body).await else {
        let text = format!(
            "request exceeds the maximum size of {} bytes",
            state.max_body
        );
        state.log.add(logged(&parts, 0, None));
        return error(state, 413, "request_too_large", &text);
    };
    let json = serde_json::from_slice::<Value>(&bytes).ok().map(Arc::new);
    let mut entry = logged(&parts, bytes.len(), json.clone());
    let path = parts.uri.path();
    if parts.method != Method::POST || path != "/v1/messages" {
        state.log.add(entry);
        return other(state, &parts.method, path);
    }
    let Some(json) = json.filter(|json| json.get("messages").is_some_and(Value::is_array)) else {
        state.log.add(entry);
        return error(
            state,
            400,
            "invalid_request_error",
            "the body is not JSON with messages",
        );
    };
    let conversation = Conversation::read(&json, entry.session.as_deref());
    entry.kind = Some(conversation.kind);
    let reply = reply::decide(&conversation, &state.retries);
    state.log.add(entry);
    respond(state, &json, &conversation, reply).await
}

fn logged(parts: &Parts, length: usize, body: Option<Arc<Value>>) -> Request {
    let session = parts
        .headers
        .get(SESSION_HEADER)
        .and_then(|value| value.to_str().ok());
    Request {
        number: 0,
        method: parts.method.to_string(),
        path: parts.uri.path().to_owned(),
        session: session.map(str::to_owned),
        kind: None,
        body,
        length,
    }
}

fn other(state: &State, method: &Method, path: &str) -> Response {
    match (method.as_str(), path) {
        ("HEAD" | "GET", "/") => response(state, 200, "text/plain", Body::empty()),
        ("POST", "/v1/messages/count_tokens") => {
            json_body(state, 200, &json!({"input_tokens": COUNTED_TOKENS}))
        }
        ("GET", "/v1/models") => json_body(state, 200, &models()),
        _ => error(
            state,
            404,
            "not_found_error",
            &format!("{method} {path} is not part of the stand-in"),
        ),
    }
}

fn models() -> Value {
    let model = |id| json!({"type": "model", "id": id, "display_name": id, "created_at": "2026-01-01T00:00:00Z"});
    json!({
        "data": MODELS.map(model),
        "has_more": false,
        "first_id": MODELS.first(),
        "last_id": MODELS.last(),
    })
}

async fn respond(
    state: &State,
    request: &Value,
    conversation: &Conversation,
    reply: reply::Reply,
) -> Response {
    let streams = request
        .get("stream")
        .and_then(Value::as_bool)
        .unwrap_or(false);
    let answer = match reply.body {
        reply::Body::Error(failure) => {
            hold(state, reply.gate.as_ref()).await;
            return scripted_error(state, &failure);
        }
        reply::Body::Malformed(raw) if streams => {
            hold(state, reply.gate.as_ref()).await;
            return stream(
                state,
                Box::new(std::iter::once(Emit::Raw(raw))),
                &Answer::default(),
            );
        }
        // The CLI falls back to a request that does not stream; a broken stream has nothing to say to that.
        reply::Body::Malformed(_) => Answer {
            say: Some(PLAIN_ANSWER.to_owned()),
            ..Answer::default()
        },
        reply::Body::Answer(answer) => answer,
    };
    let names = names(state, request, conversation, &answer);
    if streams {
        let plan = sse::events(&answer, &names, reply.gate.as_ref());
        return stream(state, plan, &answer);
    }
    hold(state, reply.gate.as_ref()).await;
    json_body(state, 200, &sse::message(&answer, &names))
}

fn names(state: &State, request: &Value, conversation: &Conversation, answer: &Answer) -> Names {
    let salt = conversation.messages as u64;
    let model = request
        .get("model")
        .and_then(Value::as_str)
        .unwrap_or("claude-unknown");
    Names {
        message: state.answer_id("msg", salt),
        model: model.to_owned(),
        calls: answer
            .calls
            .iter()
            .map(|_| state.answer_id("toolu", salt))
            .collect(),
    }
}

async fn hold(state: &State, gate: Option<&crate::script::Gate>) {
    let Some(gate) = gate else { return };
    tokio::select! {
        biased;
        () = state.stop.cancelled() => {}
        () = state.gates.wait(&gate.name) => {}
    }
}

fn stream(state: &State, plan: sse::Plan, answer: &Answer) -> Response {
    let body = sse::body(plan, answer, state.gates.clone(), state.stop.clone());
    response(state, 200, "text/event-stream; charset=utf-8", body)
}

fn scripted_error(state: &State, failure: &HttpError) -> Response {
    let mut response = error(state, failure.status, &failure.etype, &failure.msg);
    for (name, value) in &failure.headers {
        if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), HeaderValue::from_str(value)) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

fn error(state: &State, status: u16, kind: &str, message: &str) -> Response {
    json_body(
        state,
        status,
        &json!({"type": "error", "error": {"type": kind, "message": message}}),
    )
}

fn json_body(state: &State, status: u16, body: &Value) -> Response {
    response(
        state,
        status,
        "application/json",
        Body::from(body.to_string()),
    )
}

fn response(state: &State, status: u16, kind: &'static str, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() =
        StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    if let Ok(id) = HeaderValue::from_str(&state.response_id()) {
        response.headers_mut().insert("request-id", id);
    }
    response
}
