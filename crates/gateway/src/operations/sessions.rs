//! Sessions: the list, one of them, making, renaming and deleting them, and what was said in them.

use std::collections::BTreeMap;

use estelle_proto::conversations::{ConversationCreate, ConversationDelete, ConversationRename};
use estelle_proto::history::HistoryRequest;
use estelle_proto::ipc::SessionStatus;
use estelle_proto::limits::MAX_HISTORY_PAGE;
use estelle_proto::worktrees::WorktreeWish;
use estelle_proto::{
    ConversationId, Epoch, PermissionMode, PylonToApp, Reply as _, Seq, SkillType, WorkspaceId,
};
use estelle_pylon::store::{KnownConversation, Life, WorktreeRow};
use hyper::StatusCode;
use serde::{Deserialize, Serialize};

use super::{Caller, failed};
use crate::body::ShortName;
use crate::failure::Failure;
use crate::query::Query;
use crate::respond::{Answer, done, json};
use crate::shape::{Message, Permission, Session};

/// No model has a longer name.
const LONGEST_MODEL: usize = 128;
/// In bytes, which are letters here.
const LONGEST_BRANCH: usize = 100;

#[derive(Debug, Serialize)]
struct Sessions {
    sessions: Vec<Session>,
}

#[derive(Debug, Serialize)]
struct One {
    session: Session,
}

#[derive(Debug, Serialize)]
struct Whole {
    session: Session,
    permissions: Vec<Permission>,
}

/// A session with what the host says about it.
pub(super) async fn whole(caller: &Caller, known: KnownConversation) -> Session {
    let id = &known.conversation.conversation_id;
    let (status, life) = (caller.status(id).await, caller.life(id).await);
    Session::new(known, life, status.as_ref())
}

pub(super) async fn list(caller: &Caller, query: Option<&str>) -> Result<Answer, Failure> {
    let query = Query::parse(query, &["workspace_id"])?;
    let only = query.checked("workspace_id", WorkspaceId::parse)?;
    let parts = &caller.shell.parts;
    let listing = parts.store.workspaces(None).await;
    let listing = listing.map_err(|error| failed(&error))?;
    let default = parts.store.default_permission_mode().await;
    let default = default.map_err(|error| failed(&error))?;
    let hosted: BTreeMap<ConversationId, SessionStatus> = match parts.host.status(None).await {
        Ok(status) => {
            let sessions = status.sessions.into_iter();
            sessions.map(|one| (one.session_id.clone(), one)).collect()
        }
        Err(_) => BTreeMap::new(),
    };
    let lives = parts.store.lives().await;
    let lives = lives.map_err(|error| failed(&error))?;
    let trees = parts.store.worktrees().await;
    let trees = trees.map_err(|error| failed(&error))?.into_iter();
    let trees: BTreeMap<ConversationId, WorktreeRow> =
        trees.map(|row| (row.conversation.clone(), row)).collect();
    let wanted = listing.workspaces.into_iter();
    let wanted = wanted.filter(|workspace| {
        only.as_ref()
            .is_none_or(|only| workspace.workspace_id == *only)
    });
    let mut sessions = Vec::new();
    for workspace in wanted {
        for conversation in workspace.conversations {
            let host = hosted.get(&conversation.conversation_id);
            let life = lives.get(&conversation.conversation_id).copied();
            let own = conversation.permission_mode.clone();
            let tree = trees.get(&conversation.conversation_id);
            let folder = tree.map_or(&workspace.working_dir, |row| &row.folder);
            let known = KnownConversation {
                workspace_id: workspace.workspace_id.clone(),
                working_dir: folder.clone(),
                worktree: tree.cloned(),
                permission_mode: own.unwrap_or_else(|| default.clone()),
                model: conversation.model.clone(),
                conversation,
            };
            sessions.push(Session::new(known, life.unwrap_or_default(), host));
        }
    }
    Ok(json(StatusCode::OK, &Sessions { sessions }))
}

pub(super) async fn get(caller: &Caller) -> Result<Answer, Failure> {
    let known = caller.session().await?;
    let status = caller.status(&known.conversation.conversation_id).await;
    let life = caller.life(&known.conversation.conversation_id).await;
    let id = &known.conversation.conversation_id;
    let permissions = caller.permissions(id, status.as_ref()).await;
    let session = Session::new(known, life, status.as_ref());
    let whole = Whole {
        session,
        permissions,
    };
    Ok(json(StatusCode::OK, &whole))
}

/// What a new session is to be.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub(super) struct NewSession {
    workspace_id: WorkspaceId,
    name: ShortName,
    model: Option<String>,
    permission_mode: Option<Mode>,
    worktree: Option<Wish>,
}

/// A worktree of its own.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
struct Wish {
    branch: Option<String>,
    base: Option<String>,
}

impl Wish {
    /// The names that this interface takes are fewer than those that git takes.
    fn checked(self) -> Result<WorktreeWish, Failure> {
        for (field, text, others) in [
            ("branch", &self.branch, "_-/"),
            ("base", &self.base, "_-/.~^"),
        ] {
            let Some(text) = text else { continue };
            let fits = |letter: char| letter.is_ascii_alphanumeric() || others.contains(letter);
            let parts = text.split('/');
            let mut parts = parts.map(|part| part.starts_with(|l: char| l.is_ascii_alphanumeric()));
            if text.len() > LONGEST_BRANCH || !text.chars().all(fits) || !parts.all(|part| part) {
                let text = format!(
                    "`{field}` has at most {LONGEST_BRANCH} letters, digits and `{others}`, \
                     and each part begins with a letter or digit"
                );
                return Err(Failure::invalid(text));
            }
        }
        Ok(WorktreeWish {
            branch: self.branch,
            base: self.base,
        })
    }
}

/// The modes that can be asked for.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Mode {
    Default,
    AcceptEdits,
    BypassPermissions,
    Plan,
}

impl From<Mode> for PermissionMode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Default => Self::Default,
            Mode::AcceptEdits => Self::AcceptEdits,
            Mode::BypassPermissions => Self::BypassPermissions,
            Mode::Plan => Self::Plan,
        }
    }
}

pub(super) async fn create(caller: &Caller, new: NewSession) -> Result<Answer, Failure> {
    let judging = new.permission_mode.map(PermissionMode::from);
    if judging.is_some() && !caller.rights.contains(&estelle_proto::Right::Admin) {
        let text = "a mode of its own needs the right `admin`";
        return Err(Failure::new(StatusCode::FORBIDDEN, "forbidden", text));
    }
    check_model(new.model.as_deref())?;
    let mut wish = ConversationCreate::new(new.workspace_id, new.name.0, SkillType::General);
    wish.model = new.model;
    wish.permission_mode = judging;
    wish.worktree = new.worktree.map(Wish::checked).transpose()?;
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
    Ok(json(StatusCode::CREATED, &One { session }))
}

/// Whether something could be the name of a model.
pub(super) fn check_model(model: Option<&str>) -> Result<(), Failure> {
    if model.is_some_and(|model| model.chars().count() > LONGEST_MODEL) {
        let text = format!("`model` has at most {LONGEST_MODEL} characters");
        return Err(Failure::invalid(text));
    }
    Ok(())
}

/// What can be changed about a session.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub(super) struct Renaming {
    name: ShortName,
}

pub(super) async fn rename(caller: &Caller, renaming: Renaming) -> Result<Answer, Failure> {
    let known = caller.session().await?;
    let id = known.conversation.conversation_id;
    let wish = ConversationRename::new(known.workspace_id, id, renaming.name.0);
    let PylonToApp::ConversationRenameResult(renamed) = caller.ask(wish).await? else {
        return Err(Failure::mismatch());
    };
    renamed.outcome()?;
    let session = whole(caller, caller.session().await?).await;
    Ok(json(StatusCode::OK, &One { session }))
}

pub(super) async fn delete(caller: &Caller) -> Result<Answer, Failure> {
    let known = caller.session().await?;
    let id = known.conversation.conversation_id;
    let wish = ConversationDelete::new(known.workspace_id, id);
    let PylonToApp::ConversationDeleteResult(deleted) = caller.ask(wish).await? else {
        return Err(Failure::mismatch());
    };
    deleted.outcome()?;
    Ok(done())
}

#[derive(Debug, Serialize)]
struct Page {
    messages: Vec<Message>,
    total_count: u64,
    has_more: bool,
    epoch: Option<Epoch>,
    head_seq: Seq,
}

pub(super) async fn messages(caller: &Caller, query: Option<&str>) -> Result<Answer, Failure> {
    let names = ["limit", "offset", "before_seq", "after_seq", "epoch"];
    let query = Query::parse(query, &names)?;
    let limit = query.parsed::<u32>("limit")?;
    if limit.is_some_and(|limit| !(1..=MAX_HISTORY_PAGE).contains(&limit)) {
        let text = format!("`limit` is a number from 1 to {MAX_HISTORY_PAGE}");
        return Err(Failure::invalid(text));
    }
    let known = caller.session().await?;
    let id = known.conversation.conversation_id;
    let request = HistoryRequest {
        limit,
        offset: query.parsed("offset")?,
        before_seq: query.parsed("before_seq")?.map(Seq),
        after_seq: query.parsed("after_seq")?.map(Seq),
        epoch: query.parsed("epoch")?.map(Epoch),
        ..HistoryRequest::new(known.workspace_id, id)
    };
    let PylonToApp::HistoryResult(page) = caller.ask(request).await? else {
        return Err(Failure::mismatch());
    };
    page.outcome()?;
    let entries = page.messages.into_iter();
    let page = Page {
        messages: entries.filter_map(Message::of).collect(),
        total_count: page.total_count,
        has_more: page.has_more,
        epoch: page.epoch,
        head_seq: page.head_seq.unwrap_or(Seq(0)),
    };
    Ok(json(StatusCode::OK, &page))
}
