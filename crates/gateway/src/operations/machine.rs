//! What is not about one session: search, workspaces, usage, devices, settings, and whether we are there at all.

use estelle_proto::claude::ClaudeSetPermissionMode;
use estelle_proto::devices::PairedDevice;
use estelle_proto::limits::MAX_SEARCH_HITS;
use estelle_proto::lookup::HistorySearch;
use estelle_proto::usage::{UsageGroup, UsageRequest};
use estelle_proto::workspaces::{WorkspaceCreate, WorkspaceDelete};
use estelle_proto::{
    ConversationId, IsoTime, Name, PathText, PermissionMode, PylonToApp, QueryText, Reply as _,
    Right, Seq, Workspace, WorkspaceId,
};
use estelle_pylon::link::host::HostState;
use hyper::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::json as value;

use super::sessions::Mode;
use super::{Caller, failed};
use crate::body::ShortName;
use crate::config::Settings;
use crate::failure::Failure;
use crate::query::Query;
use crate::respond::{Answer, done, json};

/// In characters, however long these are in bytes.
const LONGEST_QUERY: usize = 256;

/// Says that somebody is there, and nothing else.
pub(super) fn health() -> Answer {
    json(StatusCode::OK, &value!({ "status": "ok" }))
}

pub(super) fn version(caller: &Caller) -> Answer {
    let state = caller.shell.parts.host.state();
    let host = match &*state.borrow() {
        HostState::Up(hello) => Some(hello.build.clone()),
        HostState::Away(_) => None,
    };
    let version = &caller.shell.config.build;
    let body = value!({ "version": version, "host_version": host });
    json(StatusCode::OK, &body)
}

#[derive(Debug, Serialize)]
struct Hit {
    session_id: ConversationId,
    workspace_id: WorkspaceId,
    seq: Seq,
    snippet: String,
    timestamp: IsoTime,
}

pub(super) async fn search(caller: &Caller, query: Option<&str>) -> Result<Answer, Failure> {
    let names = ["q", "workspace_id", "session_id", "limit", "cursor"];
    let query = Query::parse(query, &names)?;
    let words = query.checked("q", QueryText::parse)?;
    let words = words.ok_or_else(|| Failure::invalid("`q` has to say what to search for"))?;
    if words.as_str().chars().count() > LONGEST_QUERY {
        let text = format!("`q` has at most {LONGEST_QUERY} characters");
        return Err(Failure::invalid(text));
    }
    let limit = query.parsed::<u32>("limit")?;
    if limit.is_some_and(|limit| !(1..=MAX_SEARCH_HITS).contains(&limit)) {
        let text = format!("`limit` is a number from 1 to {MAX_SEARCH_HITS}");
        return Err(Failure::invalid(text));
    }
    let search = HistorySearch {
        workspace_id: query.checked("workspace_id", WorkspaceId::parse)?,
        conversation_id: query.checked("session_id", ConversationId::parse)?,
        limit,
        cursor: query.text("cursor").map(str::to_owned),
        ..HistorySearch::new(words)
    };
    let PylonToApp::HistorySearchResult(found) = caller.ask(search).await? else {
        return Err(Failure::mismatch());
    };
    found.outcome()?;
    let hits = found.hits.into_iter().map(|hit| Hit {
        session_id: hit.conversation_id,
        workspace_id: hit.workspace_id,
        seq: hit.seq,
        snippet: hit.snippet,
        timestamp: IsoTime::from(hit.timestamp),
    });
    let hits: Vec<Hit> = hits.collect();
    let body = value!({ "hits": hits, "next_cursor": found.next_cursor });
    Ok(json(StatusCode::OK, &body))
}

#[derive(Debug, Serialize)]
struct Folder {
    id: WorkspaceId,
    name: Name,
    path: PathText,
    session_ids: Vec<ConversationId>,
    created_at: Option<IsoTime>,
    last_used_at: Option<IsoTime>,
}

impl From<Workspace> for Folder {
    fn from(workspace: Workspace) -> Self {
        let conversations = workspace.conversations.into_iter();
        Self {
            id: workspace.workspace_id,
            name: workspace.name,
            path: workspace.working_dir,
            session_ids: conversations.map(|one| one.conversation_id).collect(),
            created_at: workspace.created_at.map(IsoTime::from),
            last_used_at: workspace.last_used.map(IsoTime::from),
        }
    }
}

pub(super) async fn workspaces(caller: &Caller) -> Result<Answer, Failure> {
    let listing = caller.shell.parts.store.workspaces(None).await;
    let listing = listing.map_err(|error| failed(&error))?;
    let folders: Vec<Folder> = listing.workspaces.into_iter().map(Folder::from).collect();
    Ok(json(StatusCode::OK, &value!({ "workspaces": folders })))
}

/// What a new workspace is to be.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub(super) struct NewWorkspace {
    name: ShortName,
    path: PathText,
}

pub(super) async fn create_workspace(
    caller: &Caller,
    new: NewWorkspace,
) -> Result<Answer, Failure> {
    let wish = WorkspaceCreate::new(new.name.0, new.path);
    let PylonToApp::WorkspaceCreateResult(made) = caller.ask(wish).await? else {
        return Err(Failure::mismatch());
    };
    made.outcome()?;
    let workspace = made.workspace.ok_or_else(Failure::mismatch)?;
    let mut folder = Folder::from(*workspace);
    if let Some(first) = made.conversation
        && !folder.session_ids.contains(&first.conversation_id)
    {
        folder.session_ids.push(first.conversation_id);
    }
    Ok(json(StatusCode::CREATED, &value!({ "workspace": folder })))
}

pub(super) async fn delete_workspace(caller: &Caller) -> Result<Answer, Failure> {
    let id = caller.workspace()?;
    let PylonToApp::WorkspaceDeleteResult(deleted) = caller.ask(WorkspaceDelete::new(id)).await?
    else {
        return Err(Failure::mismatch());
    };
    deleted.outcome()?;
    Ok(done())
}

pub(super) async fn usage(caller: &Caller, query: Option<&str>) -> Result<Answer, Failure> {
    let query = Query::parse(query, &["group_by", "from", "until", "cursor"])?;
    let group = match query.text("group_by") {
        None | Some("day") => UsageGroup::Day,
        Some("session") => UsageGroup::Conversation,
        Some("model") => UsageGroup::Model,
        Some(_) => {
            let text = "`group_by` is one of `day`, `session` and `model`";
            return Err(Failure::invalid(text));
        }
    };
    let day = |name| {
        query.checked(name, |text| {
            let is_day = is_day(text);
            is_day.then(|| text.to_owned()).ok_or(())
        })
    };
    let request = UsageRequest {
        from: day("from")?,
        until: day("until")?,
        cursor: query.text("cursor").map(str::to_owned),
        ..UsageRequest::new(group)
    };
    let PylonToApp::UsageResult(used) = caller.ask(request).await? else {
        return Err(Failure::mismatch());
    };
    used.outcome()?;
    let totals = caller.shell.parts.store.usage_totals().await;
    let totals = totals.map_err(|error| failed(&error))?;
    let rows = used.rows.iter().map(|row| {
        value!({
            "key": row.key,
            "cost_usd": row.cost_usd,
            "input_tokens": row.input_tokens,
            "output_tokens": row.output_tokens,
            "cache_read_tokens": row.cache_read_tokens,
            "cache_creation_tokens": row.cache_creation_tokens,
        })
    });
    let rows: Vec<_> = rows.collect();
    let body = value!({
        "total": {
            "cost_usd": totals.total_cost_usd,
            "input_tokens": totals.total_input_tokens,
            "output_tokens": totals.total_output_tokens,
            "cache_read_tokens": totals.total_cache_read_tokens,
            "cache_creation_tokens": totals.total_cache_creation_tokens,
            "session_count": totals.session_count,
        },
        "rows": rows,
        "next_cursor": used.next_cursor,
    });
    Ok(json(StatusCode::OK, &body))
}

/// Whether a text is a day as `2026-01-31`.
fn is_day(text: &str) -> bool {
    let mut fields = text.split('-');
    let mut number = |digits: usize| {
        let field = fields.next()?;
        let is_number = field.len() == digits && field.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| field.parse::<u32>().ok()).flatten()
    };
    let (year, month, day) = (number(4), number(2), number(2));
    let is_leap = year.is_some_and(|year| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0));
    let longest = match month {
        Some(4 | 6 | 9 | 11) => 30,
        Some(2) if is_leap => 29,
        Some(2) => 28,
        Some(1 | 3 | 5 | 7 | 8 | 10 | 12) => 31,
        Some(_) | None => 0,
    };
    fields.next().is_none() && day.is_some_and(|day| (1..=longest).contains(&day))
}

#[derive(Debug, Serialize)]
struct Device {
    key: String,
    name: String,
    rights: Vec<Right>,
    is_connected: bool,
    created_at: IsoTime,
    last_seen_at: Option<IsoTime>,
}

impl From<PairedDevice> for Device {
    fn from(device: PairedDevice) -> Self {
        Self {
            key: device.device_key.to_string(),
            name: device.name.to_string(),
            rights: device.rights,
            is_connected: !device.connected.is_empty(),
            created_at: IsoTime::from(device.created_at),
            last_seen_at: device.last_seen_at.map(IsoTime::from),
        }
    }
}

pub(super) async fn devices(caller: &Caller) -> Result<Answer, Failure> {
    let devices = (caller.shell.parts.devices)().await?;
    let devices: Vec<Device> = devices.into_iter().map(Device::from).collect();
    Ok(json(StatusCode::OK, &value!({ "devices": devices })))
}

#[derive(Debug, Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    fixed: &'a Settings,
    permission_mode: PermissionMode,
}

pub(super) async fn settings(caller: &Caller) -> Result<Answer, Failure> {
    let mode = caller.shell.parts.store.default_permission_mode().await;
    let shown = Shown {
        fixed: &caller.shell.config.settings,
        permission_mode: mode.map_err(|error| failed(&error))?,
    };
    Ok(json(StatusCode::OK, &value!({ "settings": shown })))
}

/// What can be changed here; the rest is in the configuration of the machine.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub(super) struct NewSettings {
    permission_mode: Mode,
}

pub(super) async fn change_settings(caller: &Caller, new: NewSettings) -> Result<Answer, Failure> {
    let wish = ClaudeSetPermissionMode::new(new.permission_mode.into());
    let PylonToApp::ClaudeSetPermissionModeResult(set) = caller.ask(wish).await? else {
        return Err(Failure::mismatch());
    };
    set.outcome()?;
    settings(caller).await
}

#[cfg(test)]
mod tests {
    use super::is_day;

    #[test]
    fn days_are_days() {
        for good in ["2026-01-31", "2024-02-29", "2000-02-29"] {
            assert!(is_day(good), "{good}");
        }
        for bad in [
            "2026-02-29",
            "1900-02-29",
            "2026-13-01",
            "2026-1-1",
            "today",
            "2026-01-01-",
            "",
        ] {
            assert!(!is_day(bad), "{bad}");
        }
    }
}
