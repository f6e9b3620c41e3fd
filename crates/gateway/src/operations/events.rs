//! What happens in a session, for those who ask instead of listening: the same messages as over the WebSocket.
//!
//! Only what is kept is told here, nothing provisional. How the session is and what waits for a person is read first, so
//! that it is never ahead of the messages beside it.

use estelle_proto::{Epoch, ErrorCode, Seq};
use hyper::StatusCode;
use serde::Serialize;

use super::Caller;
use crate::failure::Failure;
use crate::lens::Lens;
use crate::missed::{self, Frame, Missed, Page, Since, Stale, Unreadable};
use crate::query::Query;
use crate::respond::{Answer, json};
use crate::shape::{Permission, SessionState};

#[derive(Debug, Serialize)]
struct Told<'a> {
    events: Vec<Frame<'a>>,
    /// Where to go on.
    seq: Seq,
    epoch: Option<Epoch>,
    has_more: bool,
    status: SessionState,
    permissions: Vec<Permission>,
}

pub(super) async fn list(caller: &Caller, query: Option<&str>) -> Result<Answer, Failure> {
    let query = Query::parse(query, &["after_seq", "epoch"])?;
    let since = Since {
        after: query.parsed("after_seq")?,
        epoch: query.parsed("epoch")?,
    };
    let known = caller.session().await?;
    let id = known.conversation.conversation_id.clone();
    let host = caller.status(&id).await;
    let permissions = caller.permissions(&id, host.as_ref()).await;
    let ended = caller.life(&id).await.ended;
    let status = SessionState::of(&known.conversation.status, host.as_ref(), ended);
    let store = &caller.shell.parts.store;
    let mut lens = Lens::new(id.clone());
    let head = missed::recall(store, &id, &mut lens).await;
    let head = head.map_err(unreadable)?;
    let missed = Missed::since(store, id, since, head).await;
    let missed = missed.map_err(|Stale| {
        let code = ErrorCode::StaleCursor;
        Failure::new(
            StatusCode::CONFLICT,
            code.as_str(),
            "the history began anew",
        )
    })?;
    let (page, seq) = match missed {
        None => (Page::default(), head.seq),
        Some(mut missed) => {
            let page = missed.next(&mut lens).await.map_err(unreadable)?;
            (page, missed.place())
        }
    };
    let frames = page.told.iter();
    let told = Told {
        events: frames
            .map(|(down, seq)| Frame::new(down, Some(*seq), head.epoch))
            .collect(),
        seq,
        epoch: head.epoch,
        has_more: page.has_more,
        status,
        permissions,
    };
    Ok(json(StatusCode::OK, &told))
}

fn unreadable(_: Unreadable) -> Failure {
    let text = "the history of this session cannot be read now: try again";
    let code = ErrorCode::HostUnavailable;
    Failure::new(StatusCode::SERVICE_UNAVAILABLE, code.as_str(), text)
}
