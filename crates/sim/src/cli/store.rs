//! The conversation on disk: one file per session, looked up by working directory, read again by `--resume`.
//!
//! The file holds the user and assistant messages as JSON lines with their uuids. 2.1.325 writes each at once; 2.1.197 holds
//! them back until the turn's result is printed, which is why a kill right after a result may lose the turn there.

use super::json::{Json, obj};
use super::state::{Env, Sim, State};

/// A conversation read from disk.
#[derive(Debug, Default)]
pub(crate) struct Stored {
    /// Its lines.
    pub(crate) entries: Vec<Json>,
}

/// The name that is made of a working directory.
fn flat_name(cwd: &str) -> String {
    cwd.chars()
        .map(|letter| {
            if letter.is_ascii_alphanumeric() {
                letter
            } else {
                '-'
            }
        })
        .collect()
}

/// The folder of all conversations of a working directory.
pub(crate) fn project_dir(env: &Env) -> String {
    format!("{}/.claude/projects/{}", env.home, flat_name(&env.cwd))
}

/// The file of a conversation.
pub(crate) fn transcript_path(env: &Env, session: &str) -> String {
    format!("{}/{session}.jsonl", project_dir(env))
}

/// Where the output of a background task would lie.
pub(crate) fn task_output_path(state: &State, task: &str) -> String {
    let env = &state.setup.env;
    let dir = flat_name(&env.cwd);
    format!(
        "/tmp/claude-{}/{dir}/{}/tasks/{task}.output",
        env.uid, state.chat.id
    )
}

/// Reads a conversation; nothing if there is none.
pub(crate) fn load(disk: &dyn super::state::Disk, env: &Env, session: &str) -> Option<Stored> {
    let text = disk.read(&transcript_path(env, session))?;
    let entries = text
        .lines()
        .filter_map(|line| Json::parse(line).ok())
        .collect();
    Some(Stored { entries })
}

/// The calls of a conversation that never got a result.
pub(crate) fn dangling_calls(entries: &[Json]) -> Vec<(String, String, Json)> {
    let blocks: Vec<&Json> = entries
        .iter()
        .filter_map(|entry| entry.at(&["message", "content"]))
        .flat_map(Json::items)
        .collect();
    let settled = |id: &str| {
        blocks
            .iter()
            .any(|block| block.text("tool_use_id") == Some(id))
    };
    blocks
        .iter()
        .filter(|block| block.text("type") == Some("tool_use"))
        .filter_map(|block| {
            let id = block.text("id").filter(|id| !settled(id))?;
            let input = block.get("input").cloned().unwrap_or_default();
            Some((id.to_owned(), block.text("name")?.to_owned(), input))
        })
        .collect()
}

/// The session of a working directory that changed last.
pub(crate) fn latest(disk: &dyn super::state::Disk, env: &Env) -> Option<String> {
    let names = disk.names_by_age(&project_dir(env));
    names
        .iter()
        .rev()
        .find_map(|name| name.strip_suffix(".jsonl"))
        .map(str::to_owned)
}

impl Sim {
    /// Keeps a message of the conversation.
    pub(crate) fn record(&self, kind: &str, uuid: &str, message: Json) {
        self.with(|state| {
            let entry = obj! {
                "parentUuid" => state.chat.last_uuid.clone(),
                "isSidechain" => false,
                "type" => kind,
                "message" => message,
                "uuid" => uuid,
                "timestamp" => state.timestamp(),
                "sessionId" => &state.chat.id,
                "cwd" => &state.setup.env.cwd,
                "version" => state.setup.version.number(),
            };
            state.chat.last_uuid = Some(uuid.to_owned());
            state.chat.messages += 1;
            if kind == "assistant" {
                state.chat.answers += 1;
                uuid.clone_into(&mut state.chat.last_answer);
            }
            state.chat.unsaved.push(entry);
        });
        if self.is_325() {
            self.flush_record();
        }
    }

    /// Keeps the uuid of a message that was merged into another.
    pub(crate) fn record_seen(&self, uuid: &str) {
        self.with(|state| {
            let entry = obj! { "type" => "merged", "uuid" => uuid, "sessionId" => &state.chat.id };
            state.chat.unsaved.push(entry);
        });
    }

    /// Writes what was held back.
    pub(crate) fn flush_record(&self) {
        self.with(|state| {
            let entries = std::mem::take(&mut state.chat.unsaved);
            let lines: String = entries
                .iter()
                .flat_map(|entry| [entry.to_string(), "\n".to_owned()])
                .collect();
            if state.setup.args.session.forget || lines.is_empty() {
                return;
            }
            let path = transcript_path(&state.setup.env, &state.chat.id);
            if let Err(error) = state.work.disk.append(&path, &lines) {
                let text = format!("cannot write the transcript: {error}\n");
                state.effects.push(super::state::Effect::Stderr(text));
            }
        });
    }
}
