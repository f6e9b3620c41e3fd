//! Whether there is a Claude Code, whether it is one we know, and what is visible of its account.
//!
//! Only the names of variables are looked at, never their values, and no file of the CLI is opened.

use std::ffi::OsString;

use estelle_claude::options::Options;

use super::{Check, Patient};

/// Variables by which an account may be given, with what they stand for.
const ACCOUNTS: [(&str, &str); 5] = [
    ("ANTHROPIC_API_KEY", "a key"),
    ("ANTHROPIC_AUTH_TOKEN", "a token"),
    ("CLAUDE_CODE_OAUTH_TOKEN", "a token"),
    ("CLAUDE_CODE_USE_BEDROCK", "Bedrock"),
    ("CLAUDE_CODE_USE_VERTEX", "Vertex"),
];

pub(super) async fn examine(patient: &Patient) -> Vec<Check> {
    let mut options = Options::new();
    if let Some(path) = &patient.config.host.claude {
        options = options.path_to_claude_code_executable(path);
    }
    match options.find_cli().await {
        Ok(cli) => {
            let found = format!("{} {}", cli.path().display(), cli.version());
            vec![
                Check::good("claude", found),
                login(|name| std::env::var_os(name)),
            ]
        }
        Err(error) => {
            let said = error.to_string().replace(
                "the option `path_to_claude_code_executable`",
                "the key `host.claude`",
            );
            let advice = "until then a simulated agent answers (`estelle up --demo`)";
            vec![Check::bad("claude", said, advice)]
        }
    }
}

fn login(variable: impl Fn(&str) -> Option<OsString>) -> Check {
    let is_set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
    let found = ACCOUNTS.iter().find(|(name, _)| is_set(name));
    match found {
        Some((name, what)) => Check::good("login", format!("{what}, from the variable {name}")),
        None => Check::good(
            "login",
            "as `claude` itself is logged in; if turns fail, run `claude` once and type /login",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_named_and_its_value_is_not() {
        let check = login(|name| (name == "ANTHROPIC_API_KEY").then(|| "sk-hush".into()));
        assert!(check.found.contains("ANTHROPIC_API_KEY"));
        assert!(!check.to_string().contains("hush"));
        assert!(login(|_| None).found.contains("/login"));
    }
}
