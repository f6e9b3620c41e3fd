//! What is visible of the account of Claude Code, without the network and without its secrets.
//!
//! Variables are looked at by name alone, the file of credentials only from outside; of settings it is read which keys
//! there are, never what they hold.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::Metadata;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::Check;

/// Variables by which an account may be given, with what they stand for.
const ACCOUNTS: [(&str, &str); 6] = [
    ("ANTHROPIC_API_KEY", "a key"),
    ("ANTHROPIC_AUTH_TOKEN", "a token"),
    ("CLAUDE_CODE_OAUTH_TOKEN", "a token"),
    ("CLAUDE_CODE_USE_BEDROCK", "Bedrock"),
    ("CLAUDE_CODE_USE_VERTEX", "Vertex"),
    ("CLAUDE_CODE_USE_FOUNDRY", "Foundry"),
];
/// Where `claude` keeps what /login gave it.
const CREDENTIALS: &str = ".credentials.json";
/// Settings of the whole machine.
const MANAGED: &str = "/etc/claude-code/managed-settings.json";

/// The keys of settings that can give an account; their values are passed over.
#[derive(Debug, Default, Deserialize)]
struct Settings {
    #[serde(rename = "apiKeyHelper")]
    helper: Option<IgnoredAny>,
    #[expect(
        clippy::zero_sized_map_values,
        reason = "a secret that is never read cannot be told"
    )]
    env: Option<BTreeMap<String, IgnoredAny>>,
}

/// What can be told from here.
pub(super) fn examine(variable: impl Fn(&str) -> Option<OsString>) -> Check {
    let is_set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
    let is_given = ACCOUNTS.iter().find(|(name, _)| is_set(name));
    if let Some((name, what)) = is_given {
        let found = format!("{what}, from the variable {name} (a unit has only its own variables)");
        return Check::good("login", found);
    }
    let absolute = |name: &str| {
        let path = variable(name).map(PathBuf::from);
        path.filter(|path| path.is_absolute())
    };
    let home = || absolute("HOME").map(|home| home.join(".claude"));
    let Some(folder) = absolute("CLAUDE_CONFIG_DIR").or_else(home) else {
        let advice = "set HOME, so that `claude` finds its own folder";
        return Check::bad("login", "HOME is not set", advice);
    };
    let settings = [folder.join("settings.json"), PathBuf::from(MANAGED)];
    if let Some(found) = settings.iter().find_map(|file| in_settings(file)) {
        return Check::good("login", found);
    }
    let file = folder.join(CREDENTIALS);
    match std::fs::metadata(&file) {
        Ok(metadata) => of_file(&file, &metadata),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Check::warning(
            "login",
            format!(
                "nothing shows an account: no variable, no {}, no apiKeyHelper",
                file.display()
            ),
            "run `claude` and type /login, or set ANTHROPIC_API_KEY where `estelle up` is started",
        ),
        Err(error) => Check::bad(
            "login",
            format!("{} cannot be looked at: {error}", file.display()),
            "give the folder back to the user that runs Estelle",
        ),
    }
}

/// An account that settings give, in words.
fn in_settings(file: &Path) -> Option<String> {
    let text = std::fs::read(file).ok()?;
    let settings: Settings = serde_json::from_slice(&text).ok()?;
    let shown = file.display();
    if settings.helper.is_some() {
        return Some(format!("apiKeyHelper, in {shown}"));
    }
    let given = settings.env.unwrap_or_default();
    let (name, what) = ACCOUNTS
        .iter()
        .find(|(name, _)| given.contains_key(*name))?;
    Some(format!("{what}, from {name} in {shown}"))
}

fn of_file(file: &Path, metadata: &Metadata) -> Check {
    let shown = file.display();
    let again = "run `claude` and type /login";
    if !metadata.is_file() || metadata.len() == 0 {
        return Check::bad("login", format!("{shown} holds nothing"), again);
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        let found = format!("{shown} belongs to another user");
        return Check::bad("login", found, again);
    }
    if metadata.permissions().mode() & 0o077 != 0 {
        let found = format!("{shown} is there, and other users can open it");
        return Check::warning("login", found, format!("chmod 600 {shown}"));
    }
    let found = format!("`claude` was logged in ({shown}); whether it still is, it says itself");
    Check::good("login", found)
}

#[cfg(test)]
mod tests {
    use super::super::Health;
    use super::*;

    /// A home, and what is found in it.
    struct Home(tempfile::TempDir);

    impl Home {
        fn new() -> Self {
            let home = tempfile::tempdir().unwrap();
            std::fs::create_dir(home.path().join(".claude")).unwrap();
            Self(home)
        }

        fn with(self, name: &str, text: &str, mode: u32) -> Self {
            let file = self.0.path().join(".claude").join(name);
            std::fs::write(&file, text).unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
            self
        }

        fn check(&self) -> Check {
            examine(|name| (name == "HOME").then(|| self.0.path().into()))
        }
    }

    #[test]
    fn a_variable_is_named_and_its_value_is_not() {
        let check = examine(|name| (name == "ANTHROPIC_API_KEY").then(|| "sk-hush".into()));
        assert!(check.found.contains("ANTHROPIC_API_KEY"));
        assert!(!check.to_string().contains("hush"));
    }

    #[test]
    fn without_an_account_it_is_said_how_to_get_one() {
        let check = Home::new().check();
        assert_eq!(check.health, Health::Warning);
        assert!(check.advice.unwrap().contains("/login"));
        let nowhere = examine(|_| None);
        assert_eq!(nowhere.health, Health::Bad);
        let elsewhere = Home::new().with("settings.json", r#"{"env":{"PATH":"x"}}"#, 0o600);
        assert_eq!(elsewhere.check().health, Health::Warning);
        let broken = Home::new().with("settings.json", "{", 0o600);
        assert_eq!(broken.check().health, Health::Warning);
    }

    #[test]
    fn the_file_of_credentials_is_looked_at_from_outside() {
        let hush = r#"{"claudeAiOauth":"hush"}"#;
        let there = Home::new().with(CREDENTIALS, hush, 0o600).check();
        assert_eq!(there.health, Health::Good, "{there}");
        assert!(!there.to_string().contains("hush"));
        let open = Home::new().with(CREDENTIALS, hush, 0o644).check();
        assert_eq!(open.health, Health::Warning, "{open}");
        assert!(open.advice.unwrap().contains("chmod 600"));
        let empty = Home::new().with(CREDENTIALS, "", 0o600).check();
        assert_eq!(empty.health, Health::Bad, "{empty}");
    }

    #[test]
    fn settings_are_asked_for_their_keys_alone() {
        let helper = r#"{"apiKeyHelper":"/opt/hush.sh"}"#;
        let given = r#"{"env":{"ANTHROPIC_AUTH_TOKEN":"hush"}}"#;
        for settings in [helper, given] {
            let check = Home::new().with("settings.json", settings, 0o600).check();
            assert_eq!(check.health, Health::Good, "{check}");
            assert!(!check.to_string().contains("hush"), "{check}");
        }
    }
}
