//! The control side of the CLI's output: what it asks of us, takes back, and answers.

use std::collections::BTreeMap;

use estelle_claude::wire::control::{
    CanUseTool, ControlRequest, ControlResponse, Elicitation, McpMessage, Request as Asked,
    RequestUserDialog, Response, UsageResult,
};
use estelle_claude::wire::event::CommandState;
use estelle_claude::wire::question::AskUserQuestion;
use estelle_claude::wire::usage::SessionUsage;
use estelle_claude::wire::{Json as WireJson, UserMessage};
use estelle_proto::decisions::{DecisionKind, Question, QuestionOption};
use estelle_proto::{Json, ToolUseId};
use estelle_state::conversation::{MessageId, Request, Seen};

use super::COST_REQUEST;
use super::digest::{digest, hash_of};

/// What a request of the CLI means to us. `agents` are the calls that began the sub-agents.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "whatever else the CLI asks for is refused by name"
)]
pub(super) fn asked(
    control: &ControlRequest,
    line: &str,
    agents: &BTreeMap<String, ToolUseId>,
) -> Seen {
    let id = control.request_id.as_str();
    let request = match &control.request {
        Asked::CanUseTool(request) => permission(id, request, agents),
        Asked::Elicitation(request) => elicitation(id, request),
        Asked::RequestUserDialog(request) => dialog(id, request),
        Asked::McpMessage(message) => return called(id, message, line),
        _ => None,
    };
    match request {
        Some(request) => Seen::Asked(Box::new(request)),
        None => unknown(id, line),
    }
}

fn called(id: &str, message: &McpMessage, line: &str) -> Seen {
    match Json::parse(message.message.as_str()) {
        Ok(call) => Seen::Called {
            request_id: id.to_owned(),
            server: message.server_name.clone(),
            message: call,
        },
        Err(_) => unknown(id, line),
    }
}

/// A request that nobody here can answer; its name is only for the refusal's text.
fn unknown(request_id: &str, line: &str) -> Seen {
    let line: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
    let subtype = line
        .pointer("/request/subtype")
        .and_then(|name| name.as_str());
    Seen::Unknown {
        request_id: request_id.to_owned(),
        subtype: subtype.unwrap_or("unnamed").to_owned(),
    }
}

fn permission(
    request_id: &str,
    request: &CanUseTool,
    agents: &BTreeMap<String, ToolUseId>,
) -> Option<Request> {
    let kind = match request.tool_name.as_str() {
        "AskUserQuestion" => DecisionKind::Question,
        "ExitPlanMode" => DecisionKind::Plan,
        _ => DecisionKind::Permission,
    };
    let prefix = if kind == DecisionKind::Question {
        "q_"
    } else {
        "perm_"
    };
    let asking = request.agent_id.as_ref();
    let questions = if kind == DecisionKind::Question {
        questions(&request.input)
    } else {
        Vec::new()
    };
    Some(Request {
        request_id: request_id.to_owned(),
        tool_use_id: call_id(&request.tool_use_id, prefix, request_id)?,
        kind,
        tool_name: request.tool_name.clone(),
        input: Json::parse(request.input.as_str()).ok()?,
        input_hash: hash_of(&request.input),
        questions,
        parent_tool_use_id: asking.and_then(|agent| agents.get(agent)).cloned(),
    })
}

fn elicitation(request_id: &str, request: &Elicitation) -> Option<Request> {
    let input = WireJson::of(request).unwrap_or_else(|_| WireJson::empty_object());
    Some(Request {
        request_id: request_id.to_owned(),
        tool_use_id: call_id("", "q_", request_id)?,
        kind: DecisionKind::Elicitation,
        tool_name: request.mcp_server_name.clone(),
        input_hash: hash_of(&input),
        input: Json::parse(input.as_str()).ok()?,
        questions: Vec::new(),
        parent_tool_use_id: None,
    })
}

fn dialog(request_id: &str, request: &RequestUserDialog) -> Option<Request> {
    let named = request.tool_use_id.as_deref().unwrap_or_default();
    Some(Request {
        request_id: request_id.to_owned(),
        // The call of a dialog may have a permission of its own under the same id.
        tool_use_id: call_id("", "q_", request_id)?,
        kind: DecisionKind::Dialog,
        tool_name: request.dialog_kind.clone(),
        input_hash: hash_of(&request.payload),
        input: Json::parse(request.payload.as_str()).ok()?,
        questions: Vec::new(),
        parent_tool_use_id: ToolUseId::parse(named).ok(),
    })
}

/// The CLI's id of the call; one of ours if it gave none that can be used.
fn call_id(id: &str, prefix: &str, request_id: &str) -> Option<ToolUseId> {
    let given = ToolUseId::parse(id).ok();
    given.or_else(|| ToolUseId::parse(&format!("{prefix}{request_id}")).ok())
}

fn questions(input: &WireJson) -> Vec<Question> {
    let asked = AskUserQuestion::from_input(input);
    let questions = asked.map(|asked| asked.questions).unwrap_or_default();
    questions
        .into_iter()
        .map(|question| {
            let options = question.options.into_iter().map(|option| {
                QuestionOption::new(option.label, option.description.unwrap_or_default())
            });
            Question::new(
                question.question,
                question.header.unwrap_or_default(),
                options.collect(),
                question.multi_select.unwrap_or_default(),
            )
        })
        .collect()
}

/// A response in the journal, whoever gave it.
#[expect(clippy::wildcard_enum_match_arm, reason = "the vendor's list is open")]
pub(super) fn responded(response: &ControlResponse) -> Option<Seen> {
    let request_id = response.request_id()?.to_owned();
    let (answer, error) = match &response.response {
        Response::Success(success) => (success.response.as_ref(), None),
        Response::Error(error) => (None, Some(error.error.clone())),
        _ => return None,
    };
    Some(Seen::Response {
        request_id,
        digest: answer.map(digest).unwrap_or_default(),
        error,
        cancelled: answer.is_some_and(says_cancelled),
    })
}

/// The answer to a question for the cost, with the id of that.
pub(super) fn usage(response: &ControlResponse) -> Option<(String, Option<SessionUsage>)> {
    let id = response.request_id()?;
    if !id.starts_with(COST_REQUEST) {
        return None;
    }
    let answer = if let Response::Success(success) = &response.response {
        success.response.as_ref()
    } else {
        None
    };
    let usage = answer.and_then(|answer| answer.wire::<UsageResult>().ok());
    let session = usage.and_then(|(usage, _)| usage.session);
    Some((id.to_owned(), session))
}

/// Whether an answer says that a message was taken out of the CLI's queue; what it answers is for the conversation to know.
fn says_cancelled(answer: &WireJson) -> bool {
    #[derive(serde::Deserialize)]
    struct Cancelled {
        cancelled: bool,
    }
    serde_json::from_str(answer.as_str()).is_ok_and(|answer: Cancelled| answer.cancelled)
}

/// What became of a user message, as 2.1.325 tells it.
#[expect(clippy::wildcard_enum_match_arm, reason = "the vendor's list is open")]
pub(super) fn lifecycle(uuid: &str, state: &CommandState, is_given: bool) -> Option<Seen> {
    let message = MessageId(uuid.to_owned());
    match state {
        // `Started` comes before the turn it starts, and the echo follows within: only that says that it was taken. A
        // message that is seen outside of a turn counts as done.
        CommandState::Completed => Some(Seen::Taken { message }),
        CommandState::Cancelled => Some(Seen::Dropped { message }),
        // Not of one that nobody gave it: that is never echoed if it calls itself the agent's own, and must be known now.
        _ => (!is_given).then_some(Seen::Taken { message }),
    }
}

/// The echo of a user message. What the CLI writes there itself (the output of its own commands) is in tags or marked;
/// what was `given` to it is not, whatever it begins with.
pub(super) fn echoed(user: &UserMessage, given: impl Fn(&str) -> bool) -> Option<Seen> {
    let message = MessageId(user.uuid.clone()?);
    if given(&message.0) {
        return Some(Seen::Taken { message });
    }
    let is_own = user.is_synthetic.unwrap_or_default()
        || user.origin.is_some()
        || user.message.content.text().trim_start().starts_with('<');
    (!is_own).then_some(Seen::Taken { message })
}
