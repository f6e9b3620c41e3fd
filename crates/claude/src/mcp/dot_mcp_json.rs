//! Reads the MCP servers of a workspace from its `.mcp.json`.
//!
//! A relative `cwd` is resolved against the folder of the file, as its author means it. `${VAR}` stays: the CLI
//! replaces it in what `--mcp-config` gives it. A file that cannot be read is a typed error for the caller to warn
//! about and go on without; one bad entry costs only itself. Whether a workspace's servers may run at all is the
//! caller's to decide: a server given with `--mcp-config` starts without the CLI asking.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::config::{McpServerConfig, McpServers};
use super::config_json::InvalidServerConfig;

/// The largest file that is read. Real ones have a few kilobytes.
pub const MAX_DOT_MCP_JSON_BYTES: u64 = 1024 * 1024;

/// The name of the file in a workspace.
const FILE_NAME: &str = ".mcp.json";

/// What a `.mcp.json` holds.
#[derive(Debug, Clone, Default)]
pub struct DotMcpJson {
    /// The servers that can be used.
    pub servers: McpServers,
    /// The entries that cannot, to warn about.
    pub skipped: Vec<SkippedServer>,
}

/// An entry of `mcpServers` that does not describe a server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the MCP server `{name}` is left out: {reason}")]
pub struct SkippedServer {
    /// The entry's name.
    pub name: String,
    /// What is wrong with it.
    #[source]
    pub reason: InvalidServerConfig,
}

/// Why a `.mcp.json` gives no servers.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DotMcpJsonError {
    /// It is there and cannot be read.
    #[error("failed to read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// It is larger than [`MAX_DOT_MCP_JSON_BYTES`].
    #[error("{} is larger than {MAX_DOT_MCP_JSON_BYTES} bytes", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// It is not JSON, or not an object with an `mcpServers` object.
    #[error("{}:{line}:{column}: not a list of MCP servers", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Where, from 1.
        line: usize,
        /// Where in the line, from 1.
        column: usize,
        /// What is wrong.
        #[source]
        source: serde_json::Error,
    },
}

/// Reads `.mcp.json` in `folder`; `None` if there is none.
///
/// ```no_run
/// use std::path::Path;
/// use estelle_claude::mcp::load_dot_mcp_json;
///
/// let servers = match load_dot_mcp_json(Path::new("/home/me/project")) {
///     Ok(file) => file.unwrap_or_default().servers,
///     Err(error) => {
///         eprintln!("going on without its MCP servers: {error}");
///         Default::default()
///     }
/// };
/// # let _ = servers;
/// ```
pub fn load_dot_mcp_json(folder: &Path) -> Result<Option<DotMcpJson>, DotMcpJsonError> {
    let path = folder.join(FILE_NAME);
    let bytes = match read_bounded(&path) {
        Ok(bytes) => bytes,
        Err(source) if source.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) if source.kind() == io::ErrorKind::FileTooLarge => {
            return Err(DotMcpJsonError::TooLarge { path });
        }
        Err(source) => return Err(DotMcpJsonError::Read { path, source }),
    };
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    parse_dot_mcp_json(&bytes, &folder).map(Some)
}

/// Reads the contents of a `.mcp.json` that lies in `folder`.
pub fn parse_dot_mcp_json(bytes: &[u8], folder: &Path) -> Result<DotMcpJson, DotMcpJsonError> {
    /// Only the part that concerns servers; other fields are other programs' business.
    #[derive(Deserialize)]
    struct Document {
        #[serde(default, rename = "mcpServers")]
        mcp_servers: Option<Map<String, Value>>,
    }

    // Editors on some systems put a byte order mark in front, which is no JSON.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let document: Document =
        serde_json::from_slice(bytes).map_err(|source| DotMcpJsonError::Malformed {
            path: folder.join(FILE_NAME),
            line: source.line(),
            column: source.column(),
            source,
        })?;
    let mut found = DotMcpJson::default();
    for (name, value) in document.mcp_servers.unwrap_or_default() {
        match McpServerConfig::from_value(value) {
            Ok(config) => drop(
                found
                    .servers
                    .insert(name, with_resolved_cwd(config, folder)),
            ),
            Err(reason) => found.skipped.push(SkippedServer { name, reason }),
        }
    }
    Ok(found)
}

fn with_resolved_cwd(mut config: McpServerConfig, folder: &Path) -> McpServerConfig {
    if let McpServerConfig::Stdio(server) = &mut config {
        server.cwd = server.cwd.take().map(|cwd| resolve(&cwd, folder));
    }
    config
}

/// `cwd` as an absolute path, without the `.` in it. A `..` stays, since the folder before it may be a link; so does a
/// path that begins with a variable, which is absolute or not only once the CLI has replaced it.
fn resolve(cwd: &Path, folder: &Path) -> PathBuf {
    if cwd.to_string_lossy().starts_with("${") {
        return cwd.to_owned();
    }
    // Taking the path apart and together again drops each `.`.
    folder.join(cwd).components().collect()
}

/// Reads a regular file up to the limit. Anything else (a pipe, a device) could block or never end.
fn read_bounded(path: &Path) -> io::Result<Vec<u8>> {
    let metadata = std::fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "not a regular file",
        ));
    }
    let mut bytes = Vec::new();
    File::open(path)?
        .take(MAX_DOT_MCP_JSON_BYTES + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_DOT_MCP_JSON_BYTES {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(bytes)
}

#[cfg(test)]
#[path = "dot_mcp_json_tests.rs"]
mod tests;
