//! Terminals: which there are, a new one, an end. What is typed and shown goes over `/ws/terminals/{id}`.

use estelle_proto::terminals::{
    Terminal, TerminalClose, TerminalCreate, TerminalKind, TerminalList, TerminalSize,
    TerminalState,
};
use estelle_proto::{
    ConversationId, IsoTime, PathText, Prompt, PylonToApp, Reply as _, TerminalId, WorkspaceId,
};
use hyper::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::json as value;

use super::Caller;
use super::sessions::check_model;
use crate::failure::Failure;
use crate::respond::{Answer, done, json};

/// A terminal, in the names of this interface.
#[derive(Debug, Serialize)]
pub(crate) struct Shown {
    id: TerminalId,
    kind: TerminalKind,
    path: PathText,
    state: TerminalState,
    session_id: Option<ConversationId>,
    exit_code: Option<i32>,
    signal: Option<i32>,
    created_at: IsoTime,
}

impl From<Terminal> for Shown {
    fn from(terminal: Terminal) -> Self {
        Self {
            id: terminal.terminal_id,
            kind: terminal.kind,
            path: terminal.working_dir,
            state: terminal.state,
            session_id: terminal.conversation_id,
            exit_code: terminal.exit_code,
            signal: terminal.signal,
            created_at: IsoTime::from(terminal.created_at),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Shell,
    Agent,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub(super) struct NewTerminal {
    kind: Kind,
    #[serde(deserialize_with = "whole")]
    cols: u16,
    #[serde(deserialize_with = "whole")]
    rows: u16,
    session_id: Option<ConversationId>,
    workspace_id: Option<WorkspaceId>,
    path: Option<PathText>,
    prompt: Option<Prompt>,
    model: Option<String>,
}

/// A whole number, also as `80.0`: JSON knows no other difference.
fn whole<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u16, D::Error> {
    let number = f64::deserialize(deserializer)?;
    let wrong = |_| serde::de::Error::custom("the size of a screen is a whole number up to 65535");
    // A float without a fraction is written without one.
    number.to_string().parse().map_err(wrong)
}

pub(super) async fn list(caller: &Caller) -> Result<Answer, Failure> {
    let PylonToApp::TerminalListResult(list) = caller.ask(TerminalList::default()).await? else {
        return Err(Failure::mismatch());
    };
    list.outcome()?;
    let all: Vec<Shown> = list.terminals.into_iter().map(Shown::from).collect();
    Ok(json(StatusCode::OK, &value!({ "terminals": all })))
}

pub(super) async fn create(caller: &Caller, new: NewTerminal) -> Result<Answer, Failure> {
    check_model(new.model.as_deref())?;
    let kind = match new.kind {
        Kind::Shell => TerminalKind::Shell,
        Kind::Agent => TerminalKind::Agent,
    };
    let wish = TerminalCreate {
        conversation_id: new.session_id,
        workspace_id: new.workspace_id,
        path: new.path,
        prompt: new.prompt,
        model: new.model,
        ..TerminalCreate::new(kind, TerminalSize::new(new.cols, new.rows))
    };
    let PylonToApp::TerminalCreateResult(made) = caller.ask(wish).await? else {
        return Err(Failure::mismatch());
    };
    made.outcome()?;
    let made = made.terminal.ok_or_else(Failure::mismatch)?;
    let body = value!({ "terminal": Shown::from(made) });
    Ok(json(StatusCode::CREATED, &body))
}

pub(super) async fn close(caller: &Caller) -> Result<Answer, Failure> {
    let id = caller.terminal()?;
    let PylonToApp::TerminalCloseResult(closed) = caller.ask(TerminalClose::new(id)).await? else {
        return Err(Failure::mismatch());
    };
    closed.outcome()?;
    Ok(done())
}

impl Caller {
    /// The terminal of the path.
    pub(crate) fn terminal(&self) -> Result<TerminalId, Failure> {
        let id = self.id.as_deref().map(TerminalId::parse);
        let Some(Ok(id)) = id else {
            let text = "there is no such terminal";
            let status = StatusCode::NOT_FOUND;
            return Err(Failure::new(status, "unknown_terminal", text));
        };
        Ok(id)
    }
}
