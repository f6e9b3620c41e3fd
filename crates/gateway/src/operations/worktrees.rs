//! The git worktree of a session: merged into the branch it began from, and removed.

use estelle_proto::worktrees::{WorktreeMerge, WorktreeRemove};
use estelle_proto::{PylonToApp, Reply as _};
use hyper::StatusCode;
use serde_json::json as value;

use super::Caller;
use crate::failure::Failure;
use crate::query::Query;
use crate::respond::{Answer, json};

/// Names of files that are told; the rest is counted.
const NAMED: usize = 20;

pub(super) async fn merge(caller: &Caller, query: Option<&str>) -> Result<Answer, Failure> {
    Query::parse(query, &[])?;
    let known = caller.session().await?;
    let wish = WorktreeMerge::new(known.workspace_id, known.conversation.conversation_id);
    let PylonToApp::WorktreeMergeResult(merged) = caller.ask(wish).await? else {
        return Err(Failure::mismatch());
    };
    if let Err(mut error) = merged.outcome() {
        let files = merged.conflicts.as_deref().unwrap_or_default();
        if !files.is_empty() {
            let named = files.get(..NAMED).unwrap_or(files).join(", ");
            error.message = format!("{}: {named}", error.message);
        }
        return Err(error.into());
    }
    let body = value!({"head": merged.head, "commits": merged.commits.unwrap_or_default()});
    Ok(json(StatusCode::OK, &body))
}

pub(super) async fn remove(caller: &Caller, query: Option<&str>) -> Result<Answer, Failure> {
    let query = Query::parse(query, &["discard"])?;
    let discard = query.parsed::<bool>("discard")?;
    let known = caller.session().await?;
    let wish = WorktreeRemove {
        discard,
        ..WorktreeRemove::new(known.workspace_id, known.conversation.conversation_id)
    };
    let PylonToApp::WorktreeRemoveResult(removed) = caller.ask(wish).await? else {
        return Err(Failure::mismatch());
    };
    removed.outcome()?;
    let body = value!({"kept_branches": removed.kept_branches.unwrap_or_default()});
    Ok(json(StatusCode::OK, &body))
}
