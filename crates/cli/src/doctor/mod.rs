//! `estelle doctor`: looks at everything that must be right on this machine, and says what to do about what is not.
//!
//! Nothing is changed, and no secret is read: whether an account still works is for `claude` itself to say. Each check is
//! one line; what is bad makes the exit code 1.

mod agent;
mod folder;
mod login;
mod parts;
mod system;

use std::fmt;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;
use serde_json::json;

use crate::chat::clean;
use crate::config::{Config, ConfigArgs};
use crate::data::DataArgs;
use crate::machine;

/// Check this machine, and say what to do about what is wrong.
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    config: ConfigArgs,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Health {
    Good,
    /// It works, and somebody should look at it.
    Warning,
    Bad,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Check {
    name: &'static str,
    health: Health,
    /// What was found.
    found: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<String>,
}

impl Check {
    fn good(name: &'static str, found: impl Into<String>) -> Self {
        Self {
            name,
            health: Health::Good,
            found: found.into(),
            advice: None,
        }
    }

    fn warning(name: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            name,
            health: Health::Warning,
            found: found.into(),
            advice: Some(advice.into()),
        }
    }

    fn bad(name: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            health: Health::Bad,
            ..Self::warning(name, found, advice)
        }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = match self.health {
            Health::Good => "✓",
            Health::Warning => "!",
            Health::Bad => "✗",
        };
        let (name, found) = (self.name, clean::line(&self.found));
        write!(f, "{mark} {name:<9} {found}")?;
        match &self.advice {
            Some(advice) => write!(f, "\n            → {}", clean::line(advice)),
            None => Ok(()),
        }
    }
}

/// Where the doctor looks.
struct Patient {
    config: Config,
    data: PathBuf,
    /// Whether `estelle up` runs on the folder.
    is_up: bool,
}

/// Runs the subcommand.
pub(crate) fn run(args: &DoctorArgs) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let checks = runtime.block_on(examine(args))?;
    let is_bad = checks.iter().any(|check| check.health == Health::Bad);
    if args.json {
        anstream::println!("{}", json!({ "healthy": !is_bad, "checks": checks }));
    } else {
        for check in &checks {
            anstream::println!("{check}");
        }
    }
    Ok(if is_bad {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

async fn examine(args: &DoctorArgs) -> anyhow::Result<Vec<Check>> {
    let mut checks = vec![Check::good("estelle", env!("CARGO_PKG_VERSION"))];
    let config = match args.config.load() {
        Ok(config) => {
            checks.push(Check::good("config", "every key is valid"));
            config
        }
        Err(error) => {
            let advice = "correct it; `estelle config` lists the keys";
            checks.push(Check::bad("config", format!("{error:#}"), advice));
            Config::default()
        }
    };
    let mut data = args.data.folder()?;
    let mut is_up = false;
    for folder in args.data.folders()? {
        if machine::is_open(&folder).await {
            (data, is_up) = (folder, true);
            break;
        }
    }
    let patient = Patient {
        config,
        data,
        is_up,
    };
    checks.extend(agent::examine(&patient).await);
    checks.extend(folder::examine(&patient));
    checks.extend(parts::examine(&patient).await);
    checks.extend(system::examine(&patient).await);
    Ok(checks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_stands_with_what_to_do() {
        let bad = Check::bad("disk", "full\u{1b}[2J", "make room");
        assert_eq!(
            bad.to_string(),
            "✗ disk      full␛[2J\n            → make room"
        );
        assert_eq!(Check::good("clock", "fine").to_string(), "✓ clock     fine");
    }
}
