//! Who decides whether a tool may run.
//!
//! Owns the mode and the way prompts are routed. The callback itself is in `callbacks`; rules that settle a
//! call without asking are in `tools`.

use super::Options;
use crate::wire::PermissionMode;

/// The permission part of [`Options`].
#[derive(Debug, Clone, Default)]
pub(crate) struct PermissionOptions {
    pub(crate) mode: Option<PermissionMode>,
    pub(crate) allow_dangerously_skip: bool,
    pub(crate) prompt_tool_name: Option<String>,
    pub(crate) prompts: Option<PermissionPrompts>,
}

/// Who answers permission prompts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PermissionPrompts {
    /// This program, through its callback or prompt tool.
    Host,
    /// Nobody: what would ask is refused at once.
    None,
}

impl PermissionPrompts {
    /// The word the CLI uses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::None => "none",
        }
    }
}

impl Options {
    /// Permission mode to start in. Default: what the settings say, else the CLI's own.
    /// `BypassPermissions` also needs [`Options::allow_dangerously_skip_permissions`].
    pub fn permission_mode(mut self, mode: PermissionMode) -> Self {
        self.permissions.mode = Some(mode);
        self
    }

    /// Confirms that running without any permission check is meant; makes the bypass mode available.
    pub fn allow_dangerously_skip_permissions(mut self, allow: bool) -> Self {
        self.permissions.allow_dangerously_skip = allow;
        self
    }

    /// MCP tool that answers permission prompts instead of a callback.
    pub fn permission_prompt_tool_name(mut self, name: impl Into<String>) -> Self {
        self.permissions.prompt_tool_name = Some(name.into());
        self
    }

    /// Who answers permission prompts. Needs a CLI that knows the option, see [`super::GATES`].
    pub fn permission_prompts(mut self, prompts: PermissionPrompts) -> Self {
        self.permissions.prompts = Some(prompts);
        self
    }
}
