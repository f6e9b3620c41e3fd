//! Whether there is a Claude Code, whether it is one we know, and what is visible of its account.

use estelle_claude::options::Options;

use super::{Check, Patient, login};

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
                login::examine(|name| std::env::var_os(name)),
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
