//! Asking the CLI: from a request to the typed payload of its answer.

use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::engine::{Connection, ControlError};
use crate::wire::control::{
    ControlRequest, Initialize, InitializeResult, Response, SuccessResponse,
};
use crate::wire::{Body, Json, Message, Wire};

/// What the CLI said when we introduced ourselves.
#[derive(Debug, Clone, PartialEq)]
pub struct Introduced {
    /// What it offers.
    pub result: InitializeResult,
    /// Permission requests that nobody has answered yet.
    pub pending_permission_requests: Vec<ControlRequest>,
    /// Dialogs that nobody has answered yet.
    pub pending_user_dialog_requests: Vec<ControlRequest>,
    /// Questions of MCP servers that nobody has answered yet; an older CLI does not list them.
    pub pending_elicitation_requests: Vec<ControlRequest>,
}

/// Introduces us.
pub(super) async fn initialize(
    connection: &Connection,
    request: &Initialize,
    limit: Duration,
) -> Result<Introduced, ControlError> {
    let subtype = "initialize";
    let answer = ask(connection, subtype, request, limit).await?;
    Ok(Introduced {
        result: payload(subtype, &answer)?,
        pending_permission_requests: answer.pending_permission_requests.unwrap_or_default(),
        pending_user_dialog_requests: answer.pending_user_dialog_requests.unwrap_or_default(),
        pending_elicitation_requests: answer.pending_elicitation_requests.unwrap_or_default(),
    })
}

/// Asks a request given by name and fields.
pub(super) async fn ask_fields(
    connection: &Connection,
    subtype: &str,
    fields: &Map<String, Value>,
    limit: Duration,
) -> Result<SuccessResponse, ControlError> {
    let mut request = fields.clone();
    request.insert("subtype".to_owned(), Value::from(subtype));
    ask(connection, subtype, &request, limit).await
}

/// Asks a request and tells a refusal from an answer.
pub(super) async fn ask(
    connection: &Connection,
    subtype: &str,
    request: &impl Serialize,
    limit: Duration,
) -> Result<SuccessResponse, ControlError> {
    let line = connection.ask(subtype, request, limit).await?;
    let unreadable = || ControlError::Answer {
        subtype: subtype.to_owned(),
        reason: "it is no control response".to_owned(),
    };
    let Body::ControlResponse(response) = Message::parse(line).body else {
        return Err(unreadable());
    };
    match response.response {
        Response::Success(success) => Ok(*success),
        Response::Error(error) => Err(ControlError::Refused {
            subtype: subtype.to_owned(),
            message: error.error,
            code: error.error_code,
        }),
        Response::Unknown(_) => Err(unreadable()),
    }
}

/// The typed payload of an answer; an answer without one is read as an empty object.
pub(super) fn payload<T: Wire>(subtype: &str, answer: &SuccessResponse) -> Result<T, ControlError> {
    let empty = Json::empty_object();
    let payload = answer.response.as_ref().unwrap_or(&empty);
    let read = payload.wire().map_err(|diagnostic| ControlError::Answer {
        subtype: subtype.to_owned(),
        reason: diagnostic.to_string(),
    })?;
    Ok(read.0)
}
