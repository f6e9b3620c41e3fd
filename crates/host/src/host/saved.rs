//! Sessions that the agent has saved for a folder, whoever began them: listed, shown as history, copied.
//!
//! **Invariant:** nothing is ever written to what was saved. Who wants to go on gets a copy
//! ([decision 14](../../../../docs/adr/0014-saved-sessions-are-copied.md)).

use std::io::{self, ErrorKind};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::SystemTime;

use estelle_claude::saved::{
    ForkError, ForkOptions, ListOptions, LoadError, MessageOptions, SavedMessage, SavedSessions,
    SessionId, SessionInfo,
};
use estelle_proto::history::{
    HistoryMessage, HistoryText, HistoryThinking, HistoryToolComplete, HistoryToolStart,
};
use estelle_proto::ipc::{ListSaved, PylonToHost, ReadSaved};
use estelle_proto::saved::SavedSession;
use estelle_proto::{
    ApiError, ClaudeSessionId, ErrorCode, Json, PathText, Retry, Role, Timestamp, ToolUseId, limits,
};
use futures_util::future::BoxFuture;
use serde_json::Value;

use super::{Host, gone};
use crate::ipc::{Done, Refusal, SavedFound};

/// Sessions of a page.
const MOST_SESSIONS: u32 = 100;
/// Messages of a page; each may be several entries.
const MOST_MESSAGES: u32 = 50;
/// Letters of a text that are shown.
const MOST_TEXT: usize = 20_000;
/// Letters of what a tool got or gave.
const MOST_OF_TOOL: usize = 2_000;
/// Letters of a title.
const MOST_TITLE: usize = 200;

impl Host {
    /// A command about saved sessions; anything else comes back.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "every other command is for others to carry out"
    )]
    pub(super) fn saved(
        &self,
        command: PylonToHost,
    ) -> ControlFlow<BoxFuture<'static, Result<Done, Refusal>>, PylonToHost> {
        let config = self.context.settings.config_folder();
        let work: Box<dyn FnOnce() -> Result<SavedFound, ApiError> + Send> = match command {
            PylonToHost::ListSaved(asked) => Box::new(move || list(config, &asked)),
            PylonToHost::ReadSaved(asked) => Box::new(move || read(config, &asked)),
            PylonToHost::CopySaved(asked) => {
                Box::new(move || copy(config, &asked.working_dir, &asked.claude_session_id))
            }
            other => return ControlFlow::Continue(other),
        };
        ControlFlow::Break(self.carried_out(|_| async move {
            let done = tokio::task::spawn_blocking(work).await;
            let found = done.map_err(|_| gone())??;
            Ok(Done {
                saved: Some(Box::new(found)),
                ..Done::default()
            })
        }))
    }
}

/// Where the sessions of a folder are.
fn sessions(config: Option<PathBuf>, folder: &PathText) -> Result<SavedSessions, ApiError> {
    let Some(config) = config else {
        let text =
            "it is not known where the agent keeps its sessions: set HOME or CLAUDE_CONFIG_DIR";
        let error = ApiError::new(ErrorCode::NotConfigured, text.to_owned(), Retry::Never);
        return Err(error);
    };
    Ok(SavedSessions::new(config).within_only(folder.as_str()))
}

fn list(config: Option<PathBuf>, asked: &ListSaved) -> Result<SavedFound, ApiError> {
    let limit = asked.limit.unwrap_or(MOST_SESSIONS).clamp(1, MOST_SESSIONS);
    let offset = asked.offset.unwrap_or(0);
    // One more says whether there are more.
    let options = ListOptions::new()
        .limit(count(limit) + 1)
        .offset(count(offset));
    let found = sessions(config, &asked.working_dir)?.load_sessions(&options);
    let mut found = found.map_err(|error| unreadable(&error))?;
    let has_more = found.len() > count(limit);
    found.truncate(count(limit));
    Ok(SavedFound {
        sessions: Some(found.iter().filter_map(told).collect()),
        next: has_more.then(|| offset.saturating_add(limit)),
        ..SavedFound::default()
    })
}

fn told(info: &SessionInfo) -> Option<SavedSession> {
    let short = |text: &str| limits::cut(text, MOST_TITLE).to_owned();
    Some(SavedSession {
        title: info.title().map(short),
        first_prompt: info.first_prompt.as_deref().map(short),
        created_at: info.created_at.map(moment),
        branch: info.git_branch.as_deref().map(short),
        programmatic: info.is_programmatic().then_some(true),
        ..SavedSession::new(
            ClaudeSessionId::parse(info.id.as_str()).ok()?,
            moment(info.last_modified),
            info.file_size,
        )
    })
}

fn read(config: Option<PathBuf>, asked: &ReadSaved) -> Result<SavedFound, ApiError> {
    let id = known_id(&asked.claude_session_id)?;
    let offset = asked.offset.unwrap_or(0);
    let options = MessageOptions::new()
        .limit(count(MOST_MESSAGES) + 1)
        .offset(count(offset));
    let found = sessions(config, &asked.working_dir)?.load_messages(&id, &options);
    let found = found.map_err(|error| unreadable(&error))?;
    let mut room = limits::MAX_CHANGES_PAGE_BYTES;
    let (mut entries, mut taken) = (Vec::new(), 0);
    for message in found.iter().take(count(MOST_MESSAGES)) {
        let (new, bytes) = shown(message);
        if bytes > room && taken > 0 {
            break;
        }
        room = room.saturating_sub(bytes);
        entries.extend(new);
        taken += 1;
    }
    Ok(SavedFound {
        messages: Some(entries),
        next: (found.len() > taken)
            .then(|| offset.saturating_add(u32::try_from(taken).unwrap_or(u32::MAX))),
        ..SavedFound::default()
    })
}

fn copy(
    config: Option<PathBuf>,
    folder: &PathText,
    id: &ClaudeSessionId,
) -> Result<SavedFound, ApiError> {
    let session = known_id(id)?;
    let saved = sessions(config, folder)?;
    let info = saved.load_info(&session);
    let info = info.map_err(|error| unreadable(&error))?;
    let copied = saved.fork(&session, &ForkOptions::new());
    let copied = copied.map_err(|error| match error {
        ForkError::Load(error) => unreadable(&error),
        ForkError::NoMessages(_) | ForkError::NoSuchMessage(_) => unknown(id),
        ForkError::Write { source, .. } => unwritable(&source),
    })?;
    let copy = ClaudeSessionId::parse(copied.as_str()).map_err(|_| unknown(id))?;
    Ok(SavedFound {
        copy: Some(copy),
        sessions: info.as_ref().and_then(told).map(|source| vec![source]),
        ..SavedFound::default()
    })
}

fn known_id(id: &ClaudeSessionId) -> Result<SessionId, ApiError> {
    id.as_str().parse().map_err(|_| unknown(id))
}

fn unknown(id: &ClaudeSessionId) -> ApiError {
    let text = format!("the agent has saved no session {id} for this folder");
    ApiError::new(ErrorCode::UnknownSession, text, Retry::Never)
}

fn unreadable(error: &LoadError) -> ApiError {
    match error {
        LoadError::NotFound(id) => {
            let text = format!("the agent has saved no session {id} for this folder");
            ApiError::new(ErrorCode::UnknownSession, text, Retry::Never)
        }
        LoadError::Read { source, .. } => {
            let text = format!("what the agent has saved cannot be read: {source}");
            ApiError::new(ErrorCode::Internal, text, Retry::Later)
        }
    }
}

fn unwritable(source: &io::Error) -> ApiError {
    let full = [ErrorKind::StorageFull, ErrorKind::QuotaExceeded];
    let code = if full.contains(&source.kind()) {
        ErrorCode::DiskFull
    } else {
        ErrorCode::Internal
    };
    let text = format!("the session cannot be copied: {source}");
    ApiError::new(code, text, Retry::Later)
}

fn count(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn moment(at: SystemTime) -> Timestamp {
    let since = at.duration_since(SystemTime::UNIX_EPOCH);
    let millis = since.unwrap_or_default().as_millis();
    Timestamp(i64::try_from(millis).unwrap_or(i64::MAX))
}

/// A saved message as entries of history, and roughly what they take.
fn shown(message: &SavedMessage) -> (Vec<HistoryMessage>, usize) {
    let Ok(line) = serde_json::from_str::<Value>(message.message.raw()) else {
        return (Vec::new(), 0);
    };
    let at = message.written_at().map_or(Timestamp(0), moment);
    let is_user = line["type"] == "user";
    let content = &line["message"]["content"];
    let mut entries = Vec::new();
    if let Some(said) = content.as_str() {
        entries.extend(text(said, is_user, at));
    }
    for block in content.as_array().into_iter().flatten() {
        entries.extend(entry(block, is_user, at));
    }
    let bytes = entries.iter().map(|(_, bytes)| bytes + 200).sum();
    let entries = entries.into_iter().map(|(entry, _)| entry);
    (entries.collect(), bytes)
}

fn text(said: &str, is_user: bool, at: Timestamp) -> Option<(HistoryMessage, usize)> {
    let role = if is_user { Role::User } else { Role::Assistant };
    let said = limits::cut(said, MOST_TEXT).to_owned();
    let bytes = 2 * said.len();
    (!said.is_empty()).then(|| (HistoryText::new(role, said, at).into(), bytes))
}

fn entry(block: &Value, is_user: bool, at: Timestamp) -> Option<(HistoryMessage, usize)> {
    let field = |name: &str| block[name].as_str().unwrap_or_default();
    let call = |name: &str| ToolUseId::parse(field(name)).ok();
    match field("type") {
        "text" => text(field("text"), is_user, at),
        "thinking" => {
            let thought = limits::cut(field("thinking"), MOST_TEXT).to_owned();
            let bytes = 2 * thought.len();
            let is_empty = thought.is_empty();
            (!is_empty).then(|| (HistoryThinking::new(thought, at).into(), bytes))
        }
        "tool_use" => {
            let input = shortened(&block["input"])?;
            let bytes = input.get().len();
            let start = HistoryToolStart {
                tool_use_id: call("id"),
                ..HistoryToolStart::new(field("name").to_owned(), input, at)
            };
            Some((start.into(), bytes))
        }
        "tool_result" => {
            let output = limits::cut(&output(&block["content"]), MOST_OF_TOOL).to_owned();
            let bytes = 2 * output.len();
            let success = block["is_error"] != true;
            let done = HistoryToolComplete {
                tool_use_id: call("tool_use_id"),
                ..HistoryToolComplete::new(String::new(), success, output, at)
            };
            Some((done.into(), bytes))
        }
        _ => None,
    }
}

/// What a tool was called with; one that is too long is only named.
fn shortened(input: &Value) -> Option<Json> {
    let whole = Json::of(input).ok();
    let fits = whole.filter(|whole| whole.get().len() <= MOST_OF_TOOL);
    fits.or_else(|| {
        let cut = limits::cut(&input.to_string(), MOST_OF_TOOL).to_owned();
        Json::of(&serde_json::json!({ "cut": cut })).ok()
    })
}

/// The texts of what a tool gave.
fn output(content: &Value) -> String {
    if let Some(text) = content.as_str() {
        return text.to_owned();
    }
    let blocks = content.as_array().into_iter().flatten();
    let texts = blocks.filter_map(|block| block["text"].as_str());
    texts.collect::<Vec<_>>().join("\n")
}
