//! The sub-agents of a saved conversation, each with a file of its own.
//!
//! They lie under `<session id>/subagents`, some in folders further down, as `agent-<id>.jsonl` with a
//! `agent-<id>.meta.json` that says who started it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::chain::Owner;
use super::id::{AgentId, SessionId};
use super::lines::Transcript;
use super::messages::{self, MessageOptions, SavedMessage};
use super::store::{LoadError, SavedSessions, is_real_dir};

/// How far below `subagents` files are looked for.
const DEPTH: usize = 4;

/// Longest description of a sub-agent that is read.
const META_LIMIT: usize = 1024 * 1024;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Meta {
    tool_use_id: Option<String>,
    parent_agent_id: Option<String>,
}

impl SavedSessions {
    /// The sub-agents of a conversation, by id; empty if it had none.
    pub fn load_subagents(&self, id: &SessionId) -> Result<Vec<AgentId>, LoadError> {
        let mut ids: Vec<_> = self
            .agent_files(id)?
            .into_iter()
            .map(|(id, _)| id)
            .collect();
        ids.sort();
        ids.dedup();
        Ok(ids)
    }

    /// The messages of a sub-agent; empty if the conversation had no such sub-agent.
    pub fn load_subagent_messages(
        &self,
        id: &SessionId,
        agent: &AgentId,
        options: &MessageOptions,
    ) -> Result<Vec<SavedMessage>, LoadError> {
        let files = self.agent_files(id)?;
        let Some((_, file)) = files.into_iter().find(|(id, _)| id == agent) else {
            return Ok(Vec::new());
        };
        let mut messages =
            messages::load(&file, Owner::Subagent, options).map_err(LoadError::read(&file))?;
        let meta = load_meta(&file.with_extension("meta.json")).unwrap_or_default();
        for message in &mut messages {
            message.parent_tool_use_id.clone_from(&meta.tool_use_id);
            message.parent_agent_id.clone_from(&meta.parent_agent_id);
        }
        Ok(messages)
    }

    fn agent_files(&self, id: &SessionId) -> Result<Vec<(AgentId, PathBuf)>, LoadError> {
        let side = self.locate(id)?.side_dir();
        let mut files = Vec::new();
        if is_real_dir(&side) {
            collect(&side.join("subagents"), DEPTH, &mut files);
        }
        Ok(files)
    }
}

fn collect(dir: &Path, depth: usize, files: &mut Vec<(AgentId, PathBuf)>) {
    if depth == 0 || !is_real_dir(dir) {
        return;
    }
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        // The type is that of the entry itself, so links are neither.
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        if kind.is_dir() {
            collect(&entry.path(), depth - 1, files);
        }
        let name = entry.file_name();
        let id = name
            .to_str()
            .and_then(|name| name.strip_prefix("agent-")?.strip_suffix(".jsonl"));
        if let (true, Some(Ok(id))) = (kind.is_file(), id.map(str::parse)) {
            files.push((id, entry.path()));
        }
    }
}

fn load_meta(path: &Path) -> io::Result<Meta> {
    let text = Transcript::open(path)?.head(META_LIMIT)?;
    Ok(serde_json::from_slice(&text)?)
}
