//! The tool servers of a run: those that were given, or those of the folder.
//!
//! What is wrong with a configuration costs its servers, never the run.

use std::path::Path;

use estelle_claude::mcp::{
    DotMcpJson, DotMcpJsonError, McpServerConfig, McpServers, SkippedServer, load_dot_mcp_json,
    mcp_config_argument, parse_dot_mcp_json,
};
use estelle_proto::Json;
use serde_json::Value;

use super::wish::FolderTrust;

/// Why tool servers are left out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerWarning {
    /// `.mcp.json` cannot be used.
    #[error("going on without the tool servers of the folder: {0}")]
    File(#[source] DotMcpJsonError),
    /// The configuration that was given cannot be used.
    #[error("going on without the given tool servers: {0}")]
    Given(#[source] DotMcpJsonError),
    /// One entry cannot be used.
    #[error(transparent)]
    Entry(#[from] SkippedServer),
}

/// Where programs start that say nothing about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StartIn {
    /// Where the CLI starts them: in its own working folder.
    Default,
    /// In the working folder, said in so many words: with `--project-config-root` the CLI would start them there.
    Folder,
}

/// The `--mcp-config` document of a run, and what was left out.
pub(super) fn document(
    given: Option<&Json>,
    folder: &Path,
    trust: FolderTrust,
    start: StartIn,
) -> (Option<String>, Vec<ServerWarning>) {
    let read = match (given, trust) {
        (Some(given), _) => given_servers(given, folder).map_err(ServerWarning::Given),
        (None, FolderTrust::Granted) => load_dot_mcp_json(folder)
            .map(Option::unwrap_or_default)
            .map_err(ServerWarning::File),
        (None, FolderTrust::Withheld) => Ok(DotMcpJson::default()),
    };
    match read {
        Ok(mut found) => {
            if start == StartIn::Folder {
                start_in(folder, &mut found.servers);
            }
            let skipped = found.skipped.into_iter().map(ServerWarning::Entry);
            (mcp_config_argument(&found.servers), skipped.collect())
        }
        Err(warning) => (None, vec![warning]),
    }
}

fn start_in(folder: &Path, servers: &mut McpServers) {
    for server in servers.values_mut() {
        if let McpServerConfig::Stdio(server) = server {
            server.cwd.get_or_insert_with(|| folder.to_owned());
        }
    }
}

/// Takes both forms: the document with `mcpServers`, and the servers alone.
fn given_servers(given: &Json, folder: &Path) -> Result<DotMcpJson, DotMcpJsonError> {
    let is_document = given
        .decode::<Value>()
        .is_ok_and(|value| value.get("mcpServers").is_some());
    if is_document {
        return parse_dot_mcp_json(given.get().as_bytes(), folder);
    }
    let document = format!("{{\"mcpServers\":{}}}", given.get());
    parse_dot_mcp_json(document.as_bytes(), folder)
}
