//! The tool servers of a run: those that were given, or those of the folder.
//!
//! What is wrong with a configuration costs its servers, never the run. Those of the folder are taken from the bytes that
//! were looked at when the folder was judged, never from the folder itself.

use std::path::Path;

use estelle_claude::mcp::{
    DotMcpJson, DotMcpJsonError, McpServerConfig, McpServers, SkippedServer, mcp_config_argument,
    parse_dot_mcp_json,
};
use estelle_proto::Json;
use serde_json::Value;

use super::wish::{FolderTrust, LaunchWish};

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

/// The `.mcp.json` of a folder as it was when the folder was looked at.
#[derive(Clone, PartialEq, Eq)]
pub struct FolderServers(pub(crate) Vec<u8>);

impl std::fmt::Debug for FolderServers {
    /// Leaves out contents: servers may carry `env`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "FolderServers({} bytes)", self.0.len())
    }
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
pub(super) fn document(wish: &LaunchWish, start: StartIn) -> (Option<String>, Vec<ServerWarning>) {
    let folder = wish.working_dir.as_path();
    let of_folder = wish.servers.as_ref();
    let of_folder = of_folder.filter(|_| wish.trust == FolderTrust::Granted);
    let read = match (&wish.mcp_config, of_folder) {
        (Some(given), _) => given_servers(given, folder).map_err(ServerWarning::Given),
        (None, Some(servers)) => {
            parse_dot_mcp_json(&servers.0, folder).map_err(ServerWarning::File)
        }
        (None, None) => Ok(DotMcpJson::default()),
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
