//! The environment of a run: everything the host has, but what would mislead the CLI or is the host's own.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use estelle_claude::options::LaunchEnv;
use estelle_proto::{ConversationId, Generation};

/// Says which run a process belongs to; processes that it leaves behind are found by it.
pub(crate) const RUN_VARIABLE: &str = "ESTELLE_RUN";

/// Variables that must not be inherited: marks of a surrounding Claude Code, and one that re-runs a cut turn unasked.
const NESTED: [&str; 6] = [
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_AGENT_SDK_VERSION",
    "CLAUDE_CODE_SSE_PORT",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_RESUME_INTERRUPTED_TURN",
];

/// Our own variables may hold a token; only the simulator's are for the CLI.
const OWN: &str = "ESTELLE_";
const SIMULATOR: &str = "ESTELLE_SIM_";

/// The value of `ESTELLE_RUN` for a run: conversation, generation, and a hash of the run's folder.
///
/// Two hosts on one machine may have conversations of the same name; ending what one run left behind must never reach
/// a run of the other.
pub fn run_marker(conversation: &ConversationId, generation: Generation, folder: &Path) -> String {
    let hash = blake3::hash(folder.as_os_str().as_encoded_bytes()).to_hex();
    format!("{conversation}/{}/{}", generation.0, &hash[..16])
}

/// The whole environment: what is inherited, changed as the SDK wants it, with the mark of the run.
pub(super) fn environment(
    inherited: impl IntoIterator<Item = (OsString, OsString)>,
    changes: &LaunchEnv,
    marker: String,
) -> BTreeMap<String, String> {
    let mut env: BTreeMap<String, String> = inherited
        .into_iter()
        .filter(|(name, _)| !changes.clear && !changes.remove.contains(name))
        .filter_map(text)
        .filter(|(name, _)| is_inherited(name))
        .collect();
    env.extend(changes.set.clone().into_iter().filter_map(text));
    env.insert("DISABLE_AUTOUPDATER".to_owned(), "1".to_owned());
    env.insert(RUN_VARIABLE.to_owned(), marker);
    env
}

pub(crate) fn is_inherited(name: &str) -> bool {
    !NESTED.contains(&name) && (!name.starts_with(OWN) || name.starts_with(SIMULATOR))
}

/// A variable that is not UTF-8 cannot be written into the run's record and is left out.
fn text((name, value): (OsString, OsString)) -> Option<(String, String)> {
    Some((name.into_string().ok()?, value.into_string().ok()?))
}
