//! The sandbox for commands, and how it joins the inline settings.
//!
//! The CLI has no argument for the sandbox: it is a block of the settings. [`merged_settings`] puts the option
//! into the settings the caller gives, by the rules of the TypeScript SDK: the option wins, restrictions of both
//! sides add up, and nothing in the settings may switch off a restriction the option sets.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

/// Lists that restrict: entries of both sides count.
const RESTRICTIONS: [&str; 5] = [
    "filesystem.denyRead",
    "filesystem.denyWrite",
    "network.deniedDomains",
    "credentials.files",
    "credentials.envVars",
];

/// Objects that make sense only as a whole: the option replaces them.
const WHOLE: [&str; 2] = ["ripgrep", "network.tlsTerminate"];

/// Commands run with limited access to files and network.
///
/// A value left `None` is not sent. With `enabled`, a machine that cannot sandbox ends the query with an error
/// unless `fail_if_unavailable` is `Some(false)`.
///
/// ```
/// use estelle_claude::options::{Options, SandboxNetwork, SandboxSettings};
///
/// let options = Options::new().sandbox(SandboxSettings {
///     enabled: Some(true),
///     network: Some(SandboxNetwork { allow_local_binding: Some(true), ..Default::default() }),
///     ..Default::default()
/// });
/// # let _ = options;
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SandboxSettings {
    /// Whether commands are sandboxed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Whether a missing sandbox is an error. Default with `enabled`: it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail_if_unavailable: Option<bool>,
    /// Whether a sandboxed Bash call needs no permission.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_allow_bash_if_sandboxed: Option<bool>,
    /// Commands that always run outside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excluded_commands: Option<Vec<String>>,
    /// Whether the model may ask to run a command outside; such a call goes to `can_use_tool`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_unsandboxed_commands: Option<bool>,
    /// Network access.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<SandboxNetwork>,
    /// File access.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filesystem: Option<SandboxFilesystem>,
    /// Violations that are not reported: by command pattern, or `file` and `network`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignore_violations: Option<BTreeMap<String, Vec<String>>>,
    /// Whether a weaker sandbox is accepted inside a container.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enable_weaker_nested_sandbox: Option<bool>,
    /// Any field without a name here, by the CLI's name (`credentials`, `ripgrep`, …).
    #[serde(skip)]
    pub other: Map<String, Value>,
}

/// Network access of sandboxed commands.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SandboxNetwork {
    /// Domains that may be reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed_domains: Option<Vec<String>>,
    /// Domains that may not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub denied_domains: Option<Vec<String>>,
    /// Whether everything not allowed is refused without asking.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strict_allowlist: Option<bool>,
    /// Whether commands may listen on local ports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_local_binding: Option<bool>,
    /// Unix sockets that may be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_unix_sockets: Option<Vec<String>>,
    /// Whether all Unix sockets may be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_all_unix_sockets: Option<bool>,
    /// Port of the caller's own HTTP proxy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_proxy_port: Option<u16>,
    /// Port of the caller's own SOCKS proxy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub socks_proxy_port: Option<u16>,
}

/// File access of sandboxed commands.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SandboxFilesystem {
    /// Paths that may be written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_write: Option<Vec<String>>,
    /// Paths that may not be written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deny_write: Option<Vec<String>>,
    /// Paths that may not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deny_read: Option<Vec<String>>,
    /// Paths that may be read inside a denied one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_read: Option<Vec<String>>,
}

impl SandboxSettings {
    /// The block as it stands in a settings file.
    pub(crate) fn to_json(&self) -> Map<String, Value> {
        let mut block = match serde_json::to_value(self) {
            Ok(Value::Object(block)) => block,
            // Options, lists and strings always serialise to an object.
            Ok(_) | Err(_) => Map::new(),
        };
        block.extend(self.other.clone());
        block
    }
}

/// The settings object with the sandbox option merged into its `sandbox` block.
pub(crate) fn merged_settings(settings: &Value, sandbox: &SandboxSettings) -> Value {
    let mut settings = settings.as_object().cloned().unwrap_or_default();
    let option = sandbox.to_json();
    let mut block = match settings.remove("sandbox") {
        Some(Value::Object(block)) => block,
        Some(_) | None => Map::new(),
    };
    drop_what_would_undo(&mut block, &option);
    merge(&mut block, &option, "");
    if option.get("enabled") == Some(&Value::Bool(true)) && !block.contains_key("failIfUnavailable")
    {
        block.insert("failIfUnavailable".to_owned(), Value::Bool(true));
    }
    settings.insert("sandbox".to_owned(), Value::Object(block));
    Value::Object(settings)
}

/// Removes from the settings' block what would make a restriction of the option void.
fn drop_what_would_undo(block: &mut Map<String, Value>, option: &Map<String, Value>) {
    let network = option.get("network").and_then(Value::as_object);
    let limits_domains = network.is_some_and(|network| {
        network.contains_key("allowedDomains")
            || network
                .get("deniedDomains")
                .and_then(Value::as_array)
                .is_some_and(|list| !list.is_empty())
            || network.get("strictAllowlist") == Some(&Value::Bool(true))
    });
    // Traffic through the caller's own proxy is not checked against the domain lists.
    if let (true, Some(Value::Object(kept))) = (limits_domains, block.get_mut("network")) {
        kept.remove("httpProxyPort");
        kept.remove("socksProxyPort");
    }
    let denies_files = option.contains_key("filesystem")
        || option
            .get("credentials")
            .and_then(|credentials| credentials.get("files"))
            .and_then(Value::as_array)
            .is_some_and(|files| files.iter().any(is_deny));
    if let (true, Some(Value::Object(kept))) = (denies_files, block.get_mut("filesystem"))
        && kept.get("disabled") == Some(&Value::Bool(true))
    {
        kept.remove("disabled");
    }
}

/// Merges `from` into `into`; `path` is where both stand within the sandbox block.
fn merge(into: &mut Map<String, Value>, from: &Map<String, Value>, path: &str) {
    for (key, value) in from {
        let here = if path.is_empty() {
            key.clone()
        } else {
            format!("{path}.{key}")
        };
        match (into.get_mut(key), value) {
            (Some(Value::Object(old)), Value::Object(new)) if !WHOLE.contains(&here.as_str()) => {
                merge(old, new, &here);
            }
            (Some(Value::Array(old)), Value::Array(new))
                if RESTRICTIONS.contains(&here.as_str()) =>
            {
                *old = combined(old, new);
            }
            _ => {
                into.insert(key.clone(), value.clone());
            }
        }
    }
}

/// Both lists without repetitions; of two entries for the same credential the one that denies stays, else the
/// new one.
fn combined(old: &[Value], new: &[Value]) -> Vec<Value> {
    let mut all: Vec<Value> = Vec::new();
    for entry in old.iter().chain(new) {
        match all
            .iter_mut()
            .find(|known| identity(known) == identity(entry))
        {
            Some(known) if is_deny(known) && !is_deny(entry) => {}
            Some(known) => *known = entry.clone(),
            None => all.push(entry.clone()),
        }
    }
    all
}

/// What makes a list entry the same as another: the path or name of a credential, else the entry itself.
fn identity(entry: &Value) -> &Value {
    entry
        .get("path")
        .or_else(|| entry.get("name"))
        .unwrap_or(entry)
}

fn is_deny(entry: &Value) -> bool {
    entry.get("mode").and_then(Value::as_str) == Some("deny")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_option_wins_and_what_it_leaves_open_is_kept() {
        let settings = json!({ "model": "x", "sandbox": { "enabled": false, "excludedCommands": ["docker"] } });
        let option = SandboxSettings {
            enabled: Some(true),
            ..Default::default()
        };
        assert_eq!(
            merged_settings(&settings, &option),
            json!({ "model": "x", "sandbox": {
                "enabled": true, "failIfUnavailable": true, "excludedCommands": ["docker"] } })
        );
    }

    #[test]
    fn restrictions_of_both_sides_add_up() {
        let settings = json!({ "sandbox": {
            "filesystem": { "denyRead": ["/a"], "allowWrite": ["/old"], "disabled": true },
            "network": { "httpProxyPort": 8080, "allowLocalBinding": true },
            "credentials": { "files": [{ "path": "/k", "mode": "deny" }] } } });
        let mut option = SandboxSettings {
            filesystem: Some(SandboxFilesystem {
                deny_read: Some(vec!["/a".into(), "/b".into()]),
                allow_write: Some(vec!["/new".into()]),
                ..Default::default()
            }),
            network: Some(SandboxNetwork {
                allowed_domains: Some(vec!["d".into()]),
                ..Default::default()
            }),
            ..Default::default()
        };
        option.other.insert(
            "credentials".into(),
            json!({ "files": [{ "path": "/k", "mode": "mask" }] }),
        );
        assert_eq!(
            merged_settings(&settings, &option),
            json!({ "sandbox": {
                "filesystem": { "denyRead": ["/a", "/b"], "allowWrite": ["/new"] },
                "network": { "allowedDomains": ["d"], "allowLocalBinding": true },
                "credentials": { "files": [{ "path": "/k", "mode": "deny" }] } } })
        );
    }
}
