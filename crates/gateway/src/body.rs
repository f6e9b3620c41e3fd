//! Reading what a client sends: JSON alone, of a bounded size, within a bounded time.
//!
//! A body that a page could send without asking (a form, plain text) is refused by its type.

use std::time::Duration;

use bytes::Bytes;
use estelle_proto::Name;
use http_body_util::{BodyExt as _, Limited};
use hyper::StatusCode;
use hyper::body::{Body as _, Incoming};
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

use crate::failure::Failure;

/// A message of the largest size fits, escaped in the usual way.
pub(crate) const MOST_BYTES: usize = 1024 * 1024;
/// A body comes at once or not at all.
const BODY_TIME: Duration = Duration::from_secs(10);

/// In characters, which is what a schema can say; that many fit the protocol however long they are in bytes.
const LONGEST_NAME: usize = 64;

/// A name that a person gives.
#[derive(Debug)]
pub(crate) struct ShortName(pub(crate) Name);

impl<'de> Deserialize<'de> for ShortName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = Name::deserialize(deserializer)?;
        if name.as_str().chars().count() > LONGEST_NAME {
            let text = format!("a name has at most {LONGEST_NAME} characters");
            return Err(serde::de::Error::custom(text));
        }
        Ok(Self(name))
    }
}

/// Reads a body as JSON of some type.
pub(crate) async fn json<T: DeserializeOwned>(
    headers: &HeaderMap,
    body: Incoming,
) -> Result<T, Failure> {
    check_type(headers)?;
    let bytes = read(body).await?;
    serde_json::from_slice(&bytes).map_err(|error| {
        // The words of the parser name fields and places, and values of wrong types; those came from the client itself.
        Failure::invalid(format!("the body is not as wanted: {error}"))
    })
}

/// For requests that take no body.
pub(crate) fn none(body: &Incoming) -> Result<(), Failure> {
    if body.is_end_stream() {
        return Ok(());
    }
    Err(Failure::invalid("this request takes no body"))
}

fn check_type(headers: &HeaderMap) -> Result<(), Failure> {
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    let given = types.next().map(HeaderValue::as_bytes).unwrap_or_default();
    let kind = given.split(|byte| *byte == b';').next().unwrap_or_default();
    let is_json = kind.trim_ascii().eq_ignore_ascii_case(b"application/json");
    if !is_json || types.next().is_some() || headers.contains_key(CONTENT_ENCODING) {
        let text = "the body has to be `application/json`";
        let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        return Err(Failure::new(status, "unsupported_media_type", text));
    }
    Ok(())
}

async fn read(body: Incoming) -> Result<Bytes, Failure> {
    if body.size_hint().lower() > MOST_BYTES as u64 {
        return Err(too_large());
    }
    let whole = Limited::new(body, MOST_BYTES).collect();
    match tokio::time::timeout(BODY_TIME, whole).await {
        Ok(Ok(whole)) => Ok(whole.to_bytes()),
        Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => Err(too_large()),
        Ok(Err(_)) => Err(Failure::invalid("the body ended early")),
        Err(_) => {
            let text = "the body took too long";
            Err(Failure::new(StatusCode::REQUEST_TIMEOUT, "timeout", text))
        }
    }
}

fn too_large() -> Failure {
    let text = format!("a body has at most {MOST_BYTES} bytes");
    Failure::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", text)
}
