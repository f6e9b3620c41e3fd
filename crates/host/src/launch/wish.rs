//! What a conversation asks of its next run.

use std::path::PathBuf;

use estelle_proto::{ClaudeSessionId, ConversationId, Generation, Json, PermissionMode};

use super::frozen::FrozenProject;
use super::gate::Hooks;
use super::servers::FolderServers;

/// The settings of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct LaunchWish {
    /// Whose run it is.
    pub conversation: ConversationId,
    /// Which run it is.
    pub generation: Generation,
    /// The folder of the run, which need not exist yet; the files of [`super::Prepared`] go there.
    pub run_folder: PathBuf,
    /// Where the agent works: an absolute path.
    pub working_dir: PathBuf,
    /// The session to take up.
    pub resume: Option<ClaudeSessionId>,
    /// How permissions are judged. The CLI learns of `plan` alone, everything else is the policy's.
    pub mode: PermissionMode,
    /// Which model; absent or `auto` means the CLI's default.
    pub model: Option<String>,
    /// What to add to the system prompt.
    pub append_system_prompt: Option<String>,
    /// Tool servers; absent means those of the folder, if it is trusted.
    pub mcp_config: Option<Json>,
    /// The tool servers of the folder.
    pub servers: Option<FolderServers>,
    /// The server of our own tools, if the conversation has one.
    pub tool_server: Option<String>,
    /// Whether what the folder brings is loaded.
    pub trust: FolderTrust,
    /// Whether hooks run, see [`Hooks::decide`].
    pub hooks: Hooks,
    /// What a trusted folder brings, so that changes in mid-session are not taken in.
    pub frozen: Option<FrozenProject>,
}

/// Whether what a folder brings is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FolderTrust {
    /// A person has allowed it, or there is nothing in it that could run.
    Granted,
    /// Nobody has said so: no project settings, no instructions, no tool servers of the folder.
    Withheld,
}
