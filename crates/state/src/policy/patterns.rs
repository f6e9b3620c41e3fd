//! The configurable lists of what must not be touched or run, with their defaults.
//!
//! Three kinds of files are told apart. `protected` may not be written in any mode that asks the lists at all;
//! `secrets` may in addition not be read, and `control` files (which decide what runs next) not be written, once the
//! lists come first (`deny_first`). `exempt` names the look-alikes that are harmless.

use serde::{Deserialize, Serialize};

use super::{
    glob::{self, can_meet, covers},
    paths::fold,
};

/// What the deny step looks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct DenyPatterns {
    /// Files that may not be written: patterns on the last components of a path, such as `*.env` or `.aws/**`.
    pub protected: Vec<String>,
    /// Further secrets, guarded with `deny_first`, against reading as well.
    pub secrets: Vec<String>,
    /// Files that decide what runs later: guarded against writing with `deny_first`.
    pub control: Vec<String>,
    /// Harmless names that the patterns above would catch.
    pub exempt: Vec<String>,
    /// Commands refused by name, in the notation of Bash rules: `shutdown:*`, `mkfs*`.
    pub commands: Vec<String>,
    /// Whether commands are also judged by what they do: removing a system folder, writing to a disk, fork bombs.
    pub judge_effects: bool,
}

const PROTECTED: [&str; 24] = [
    "*.env",
    "*.env0*",
    "*.env1*",
    "*.env2*",
    "*.env3*",
    "*.env4*",
    "*.env5*",
    "*.env6*",
    "*.env7*",
    "*.env8*",
    "*.env9*",
    "*.environment",
    "*.env.*",
    "*.env-*",
    "*.env_*",
    "*.env~",
    "*.envrc",
    "*.secret",
    "*.secrets",
    "*.secret.*",
    "*.secrets.*",
    "*.credentials*",
    "*.password",
    "*.password*",
];
const SECRETS: [&str; 34] = [
    "secrets.*",
    "credentials",
    "credentials.json",
    ".git-credentials",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "*.pem",
    "*.p12",
    "*.pfx",
    "*.keystore",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".htpasswd",
    ".aws/**",
    ".gnupg/**",
    ".kube/config",
    ".docker/config.json",
    ".ssh/**",
    // The folders themselves, for whoever takes them whole.
    ".aws",
    ".gnupg",
    ".ssh",
    ".azure/**",
    ".config/gcloud/**",
    ".config/gh/**",
    ".cargo/credentials*",
    ".password-store/**",
    ".vault-token",
    ".terraformrc",
    "/proc/*/environ",
    "/etc/shadow",
];
const CONTROL: [&str; 19] = [
    ".claude/settings*.json",
    ".claude/hooks/**",
    ".claude.json",
    ".mcp.json",
    ".git/hooks/**",
    ".git/config",
    ".gitconfig",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".config/fish/**",
    ".ssh/**",
    "/etc/**",
    ".husky/**",
];
const EXEMPT: [&str; 8] = [
    "*.example",
    "*.sample",
    "*.template",
    "*.dist",
    "*.env.d.ts",
    "*.example.*",
    "*.pub",
    "known_hosts",
];
const COMMANDS: [&str; 19] = [
    "kexec:*",
    "shutdown:*",
    "reboot:*",
    "halt:*",
    "poweroff:*",
    "mkfs:*",
    "mkfs.*",
    "mke2fs:*",
    "format:*",
    "format.com:*",
    "wipefs:*",
    "blkdiscard:*",
    "init 0",
    "init 6",
    "telinit 0",
    "telinit 6",
    "del /f /s:*",
    "del /s /f:*",
    "rd /s:*",
];

impl Default for DenyPatterns {
    fn default() -> Self {
        let owned = |list: &[&str]| list.iter().map(|&entry| entry.to_owned()).collect();
        Self {
            protected: owned(&PROTECTED),
            secrets: owned(&SECRETS),
            control: owned(&CONTROL),
            exempt: owned(&EXEMPT),
            commands: owned(&COMMANDS),
            judge_effects: true,
        }
    }
}

/// How sure a comparison with an open text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hit {
    Certain,
    Possible,
}

/// A list of patterns, brought to the form in which paths are compared.
#[derive(Debug)]
pub(super) struct PathList<'a>(Vec<PathPattern<'a>>);

#[derive(Debug)]
struct PathPattern<'a> {
    text: &'a str,
    /// With marks; begins with one that takes any folder unless the pattern is a name or rooted.
    symbols: String,
    is_name: bool,
    /// The longest plain part, which a wholly known path must contain.
    telling: String,
}

impl<'a> PathList<'a> {
    pub(super) fn new(patterns: &'a [String]) -> Self {
        Self(patterns.iter().map(|text| PathPattern::new(text)).collect())
    }

    /// The first pattern that describes the folded path, and how surely.
    pub(super) fn find(&self, path: &str) -> Option<(&'a str, Hit)> {
        self.0
            .iter()
            .find_map(|pattern| pattern.describes(path).map(|hit| (pattern.text, hit)))
    }

    /// Whether the folded path is certainly described.
    pub(super) fn has(&self, path: &str) -> bool {
        self.0
            .iter()
            .any(|pattern| pattern.describes(path) == Some(Hit::Certain))
    }
}

impl<'a> PathPattern<'a> {
    fn new(text: &'a str) -> Self {
        let symbols = glob::path_pattern(&fold(text));
        let is_name = !symbols.contains('/');
        let chunks = symbols.split([glob::ANY, glob::STAR]);
        let telling = chunks
            .max_by_key(|chunk| chunk.len())
            .unwrap_or_default()
            .to_owned();
        let symbols = if is_name || symbols.starts_with('/') {
            symbols
        } else {
            format!("{}/{symbols}", glob::ANY)
        };
        Self {
            text,
            symbols,
            is_name,
            telling,
        }
    }

    /// A name is compared with the last component, everything else with the whole path.
    fn describes(&self, path: &str) -> Option<Hit> {
        let is_open = glob::is_open(path);
        if !is_open && !path.contains(&self.telling) {
            return None;
        }
        let last = path.rsplit('/').next().unwrap_or(path);
        if covers(&self.symbols, if self.is_name { last } else { path }) {
            return Some(Hit::Certain);
        }
        let can_be = is_open
            && if self.is_name {
                self.can_be_name(last)
            } else {
                !path.contains(glob::ANY) && can_meet(&self.symbols, path)
            };
        can_be.then_some(Hit::Possible)
    }

    /// Whether an open name can be meant as the pattern's plainest case (`.env` for `*.env`). Saying so about every
    /// name that merely begins with a wildcard would help nobody.
    fn can_be_name(&self, name: &str) -> bool {
        let plainest = self.symbols.replace([glob::ANY, glob::STAR], "");
        if name.starts_with([glob::ANY, glob::STAR]) {
            let tail = name
                .rsplit([glob::ANY, glob::STAR])
                .next()
                .unwrap_or_default();
            return tail.contains(&plainest);
        }
        can_meet(&plainest, name)
    }
}
