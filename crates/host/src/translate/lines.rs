//! The lines that we write to the CLI, in its words.
//!
//! An answer never carries the id of the call: with it, an old answer could run a tool in a later process.

use std::collections::BTreeMap;

use estelle_claude::wire::control::{
    CancelAsyncMessage, ElicitationAction, ElicitationResult, EndSession, GetUsage, Interrupt,
    McpMessageResult, SetModel, SetPermissionMode, StopTask, UserDialogCancelled,
    UserDialogCompleted, UserDialogResult,
};
use estelle_claude::wire::{
    ControlRequest, ControlResponse, Json as WireJson, PermissionMode as WireMode,
    PermissionResult, Request as WireRequest, UserMessage,
};
use estelle_proto::decisions::{DecisionKind, PermissionDecision};
use estelle_proto::{Answer, AnswerError, Choice, Json};
use estelle_state::conversation::{Control, Message, Request};
use serde_json::{Map, Value};

use super::form::{self, FormError};

/// Why an answer does not fit what was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerMismatch {
    /// A word that is no answer.
    #[error("`{0}` is no answer; use allow, allowAll or deny")]
    Word(String),
    /// Questions want answers, not a permission.
    #[error("this is a question: answer it, or deny it")]
    WantsAnswer,
    /// A permission wants a word.
    #[error("this is not a question: allow or deny it")]
    WantsPermission,
    /// A form has fields.
    #[error(
        "this is a form: answer with its fields by name, such as {{\"name\":\"value\"}}, or deny it"
    )]
    WantsFields,
    /// A form was filled in as it does not want it.
    #[error(transparent)]
    Form(#[from] FormError),
    /// The answers do not fit the questions.
    #[error(transparent)]
    Answer(#[from] AnswerError),
    /// It has no JSON form.
    #[error("the answer has no JSON form")]
    Json(#[from] serde_json::Error),
}

/// What an answer says to people who did not give it.
const DENIED: &str = "User denied";

/// What stopping says to a request that was open.
const STOPPED: &str = "Stopped";

/// Whether a line goes through the FIFO.
pub fn fits(line: &str) -> bool {
    line.len() < crate::run::fifo::LONGEST
}

/// The line of a user message.
pub fn message(message: &Message) -> Result<String, serde_json::Error> {
    let mut user = UserMessage::prompt(message.content.as_str());
    user.uuid = Some(message.id.0.clone());
    serde_json::to_string(&user)
}

/// The line of a control request; the greeting has more in it and is made with the launch.
pub fn control(request_id: &str, control: &Control) -> Result<Option<String>, serde_json::Error> {
    let request: WireRequest = match control {
        Control::Initialize => return Ok(None),
        Control::Interrupt => Interrupt::default().into(),
        Control::Cancel { message } => CancelAsyncMessage::new(message.0.clone()).into(),
        Control::Mode { mode } => SetPermissionMode::new(WireMode::from(mode.as_str())).into(),
        Control::Model { model } => SetModel {
            model: model.clone(),
            ..SetModel::default()
        }
        .into(),
        Control::StopTask { task } => StopTask::new(task.as_str()).into(),
        Control::End => EndSession::default().into(),
    };
    let request = ControlRequest::new(request_id, request);
    serde_json::to_string(&request).map(Some)
}

/// The line that asks what the session has cost.
pub fn cost(request_id: &str) -> Result<String, serde_json::Error> {
    let request = GetUsage {
        skip_behaviors: Some(true),
        ..GetUsage::default()
    };
    serde_json::to_string(&ControlRequest::new(request_id, request))
}

/// The line that allows a call exactly as it was shown.
pub fn allow(request: &Request) -> Result<String, serde_json::Error> {
    match &request.kind {
        DecisionKind::Elicitation => elicited(request, ElicitationAction::Accept, None),
        DecisionKind::Dialog => {
            let completed = UserDialogCompleted::new(WireJson::of("allow")?);
            respond(request, &UserDialogResult::Completed(completed))
        }
        DecisionKind::Permission
        | DecisionKind::Question
        | DecisionKind::Plan
        | DecisionKind::Trust
        | DecisionKind::Unknown(_) => {
            let input = WireJson::parse(request.input.get())?;
            respond(request, &PermissionResult::allow(input))
        }
    }
}

/// Whether a line of ours lets a call run.
pub fn is_allow(line: &str) -> bool {
    #[derive(serde::Deserialize)]
    struct Line {
        response: Outer,
    }
    #[derive(serde::Deserialize)]
    struct Outer {
        response: Inner,
    }
    #[derive(serde::Deserialize)]
    struct Inner {
        behavior: String,
    }
    serde_json::from_str(line).is_ok_and(|line: Line| line.response.response.behavior == "allow")
}

/// The line that refuses a call.
pub fn deny(request: &Request, message: &str) -> Result<String, serde_json::Error> {
    match &request.kind {
        DecisionKind::Elicitation => elicited(request, ElicitationAction::Decline, None),
        DecisionKind::Dialog => respond(
            request,
            &UserDialogResult::Cancelled(UserDialogCancelled::default()),
        ),
        DecisionKind::Permission
        | DecisionKind::Question
        | DecisionKind::Plan
        | DecisionKind::Trust
        | DecisionKind::Unknown(_) => respond(request, &PermissionResult::deny(message)),
    }
}

/// The line for a request that was open when everything was stopped: nobody has said no, nobody answers any more.
pub fn stopped(request: &Request) -> Result<String, serde_json::Error> {
    match &request.kind {
        DecisionKind::Elicitation => elicited(request, ElicitationAction::Cancel, None),
        DecisionKind::Dialog
        | DecisionKind::Permission
        | DecisionKind::Question
        | DecisionKind::Plan
        | DecisionKind::Trust
        | DecisionKind::Unknown(_) => deny(request, STOPPED),
    }
}

/// The line for a person's word.
pub fn permission(
    request: &Request,
    decision: &PermissionDecision,
    message: Option<&str>,
) -> Result<String, AnswerMismatch> {
    match decision {
        PermissionDecision::Deny => Ok(deny(request, message.unwrap_or(DENIED))?),
        PermissionDecision::Allow | PermissionDecision::AllowAll
            if request.kind == DecisionKind::Question =>
        {
            Err(AnswerMismatch::WantsAnswer)
        }
        PermissionDecision::Allow | PermissionDecision::AllowAll
            if request.kind == DecisionKind::Elicitation =>
        {
            // A form without required fields may be sent as it is.
            filled(request, &BTreeMap::new())?;
            Ok(allow(request)?)
        }
        PermissionDecision::Allow | PermissionDecision::AllowAll => Ok(allow(request)?),
        PermissionDecision::Unknown(word) => Err(AnswerMismatch::Word(word.clone())),
    }
}

/// The line for a person's answers.
pub fn answer(request: &Request, answer: &Answer) -> Result<String, AnswerMismatch> {
    match &request.kind {
        DecisionKind::Question => questions(request, answer),
        DecisionKind::Elicitation => {
            let Answer::Map(fields) = answer else {
                return Err(AnswerMismatch::WantsFields);
            };
            let content = filled(request, fields)?;
            Ok(elicited(request, ElicitationAction::Accept, Some(content))?)
        }
        DecisionKind::Dialog => {
            let completed = UserDialogCompleted::new(WireJson::of(answer)?);
            Ok(respond(request, &UserDialogResult::Completed(completed))?)
        }
        DecisionKind::Permission
        | DecisionKind::Plan
        | DecisionKind::Trust
        | DecisionKind::Unknown(_) => Err(AnswerMismatch::WantsPermission),
    }
}

/// The input as it came, with the answers by the text of their questions.
fn questions(request: &Request, answer: &Answer) -> Result<String, AnswerMismatch> {
    let fitted = answer.fit(&request.questions)?;
    let answers: Map<String, Value> = request
        .questions
        .iter()
        .zip(fitted)
        .filter_map(|(question, answer)| Some((question.question.clone(), answer?.into())))
        .collect();
    let mut input: Map<String, Value> = request.input.decode()?;
    input.insert("answers".to_owned(), answers.into());
    let input = WireJson::of(&input)?;
    Ok(respond(request, &PermissionResult::allow(input))?)
}

/// The values of a form as its server wants them.
fn filled(
    request: &Request,
    fields: &BTreeMap<String, Choice>,
) -> Result<BTreeMap<String, WireJson>, AnswerMismatch> {
    let asked: Value = request.input.decode()?;
    let mut content = BTreeMap::new();
    for (name, value) in form::fill(asked.get("requested_schema"), fields)? {
        content.insert(name, WireJson::of(&value)?);
    }
    Ok(content)
}

fn elicited(
    request: &Request,
    action: ElicitationAction,
    content: Option<BTreeMap<String, WireJson>>,
) -> Result<String, serde_json::Error> {
    let result = ElicitationResult {
        content,
        ..ElicitationResult::new(action)
    };
    respond(request, &result)
}

fn respond(request: &Request, result: &impl serde::Serialize) -> Result<String, serde_json::Error> {
    let response = ControlResponse::success(request.request_id.as_str(), WireJson::of(result)?);
    serde_json::to_string(&response)
}

/// The line with the answer of one of our own tools.
pub fn tool_result(request_id: &str, answer: &Json) -> Result<String, serde_json::Error> {
    let result = McpMessageResult::new(WireJson::parse(answer.get())?);
    let response = ControlResponse::success(request_id, WireJson::of(&result)?);
    serde_json::to_string(&response)
}

/// The line that refuses a request that nobody here knows.
pub fn refusal(request_id: &str, subtype: &str) -> Result<String, serde_json::Error> {
    let text = format!("this host does not answer {subtype} requests");
    serde_json::to_string(&ControlResponse::error(request_id, text))
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
