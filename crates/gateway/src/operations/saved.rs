//! Sessions that the agent has saved for the folder of a workspace, whoever began them: listed, and gone on with from a copy.

use estelle_proto::saved::{SavedContinue, SavedList, SavedSession};
use estelle_proto::{ClaudeSessionId, IsoTime, PylonToApp, Reply as _};
use estelle_pylon::store::Life;
use hyper::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json as value};

use super::Caller;
use crate::body::ShortName;
use crate::failure::Failure;
use crate::query::Query;
use crate::respond::{Answer, json};
use crate::shape::Session;

/// The most of a page.
const MOST: u32 = 100;

fn shown(saved: &SavedSession) -> Value {
    value!({
        "resume_session_id": saved.claude_session_id,
        "title": saved.title,
        "first_prompt": saved.first_prompt,
        "branch": saved.branch,
        "created_at": saved.created_at.map(IsoTime::from),
        "updated_at": IsoTime::from(saved.updated_at),
        "bytes": saved.bytes,
        "session_id": saved.conversation_id,
    })
}

pub(super) async fn list(caller: &Caller, query: Option<&str>) -> Result<Answer, Failure> {
    let query = Query::parse(query, &["limit", "offset"])?;
    let limit = query.parsed::<u32>("limit")?;
    if limit.is_some_and(|limit| !(1..=MOST).contains(&limit)) {
        let text = format!("`limit` is a number from 1 to {MOST}");
        return Err(Failure::invalid(text));
    }
    let wish = SavedList {
        limit,
        offset: query.parsed("offset")?,
        ..SavedList::new(caller.workspace()?)
    };
    let PylonToApp::SavedListResult(list) = caller.ask(wish).await? else {
        return Err(Failure::mismatch());
    };
    list.outcome()?;
    let saved: Vec<Value> = list.sessions.iter().map(shown).collect();
    let body = value!({"saved": saved, "next_offset": list.next_offset});
    Ok(json(StatusCode::OK, &body))
}

/// Which saved session is gone on with.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub(super) struct Chosen {
    resume_session_id: String,
    name: Option<ShortName>,
}

pub(super) async fn go_on(caller: &Caller, chosen: Chosen) -> Result<Answer, Failure> {
    let Ok(id) = ClaudeSessionId::parse(&chosen.resume_session_id) else {
        let text = "`resume_session_id` is no id of a session";
        return Err(Failure::invalid(text));
    };
    let wish = SavedContinue {
        name: chosen.name.map(|name| name.0),
        ..SavedContinue::new(caller.workspace()?, id)
    };
    let PylonToApp::ConversationCreateResult(made) = caller.ask(wish).await? else {
        return Err(Failure::mismatch());
    };
    made.outcome()?;
    let made = made.conversation.ok_or_else(Failure::mismatch)?;
    let known = Caller {
        id: Some(made.conversation_id.to_string()),
        ..caller.clone()
    };
    let session = Session::new(known.session().await?, Life::default(), None);
    Ok(json(StatusCode::CREATED, &value!({ "session": session })))
}
