//! The text of the unit.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

/// What the unit runs.
#[derive(Debug)]
pub(super) struct Unit {
    pub(super) program: PathBuf,
    pub(super) data: Option<PathBuf>,
    pub(super) config: Option<PathBuf>,
    /// Where programs are looked for: a unit does not know the PATH of a shell, and `claude` may be there.
    pub(super) path: Option<String>,
}

impl Unit {
    /// The file as systemd reads it.
    pub(super) fn text(&self) -> anyhow::Result<String> {
        let mut command = argument(&path_text(&self.program)?)?;
        command.push_str(" up --json");
        for (option, path) in [("--data", &self.data), ("--config", &self.config)] {
            if let Some(path) = path {
                write!(command, " {option} {}", argument(&path_text(path)?)?)?;
            }
        }
        let path = self
            .path
            .as_deref()
            .map(|path| word(&format!("PATH={path}")));
        let path = path.transpose()?;
        let environment = path.map_or_else(String::new, |path| format!("Environment={path}\n"));
        Ok(format!(
            "[Unit]\n\
             Description=Estelle: relay and Pylon of this machine\n\
             Documentation=man:estelle(1)\n\
             StartLimitIntervalSec=0\n\
             \n\
             [Service]\n\
             Type=exec\n\
             ExecStart={command}\n\
             {environment}\
             Restart=always\n\
             RestartSec=2\n\
             # The host and its runs are in this group as well, and outlive every restart.\n\
             KillMode=process\n\
             # A run that needs too much memory goes alone.\n\
             OOMPolicy=continue\n\
             # The host makes a control group for each run below this unit, and systemd leaves those alone.\n\
             Delegate=yes\n\
             # Nothing that the agent starts is counted against a limit of this unit.\n\
             TasksMax=infinity\n\
             LimitNOFILE=524288\n\
             UMask=0077\n\
             TimeoutStopSec=30\n\
             \n\
             [Install]\n\
             WantedBy=default.target\n"
        ))
    }
}

fn path_text(path: &Path) -> anyhow::Result<String> {
    let text = path.to_str().map(str::to_owned);
    text.with_context(|| format!("{} is no text, and systemd wants one", path.display()))
}

/// A word of a command: there `$` would begin a variable.
fn argument(text: &str) -> anyhow::Result<String> {
    word(&text.replace('$', "$$"))
}

/// A word as systemd takes it: in quotes, with a `%` that means itself.
fn word(text: &str) -> anyhow::Result<String> {
    if text.chars().any(char::is_control) {
        bail!("`{}` holds a control character", text.escape_debug());
    }
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '%' => quoted.extend([c, c]),
            _ => quoted.push(c),
        }
    }
    quoted.push('"');
    Ok(quoted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit() -> Unit {
        Unit {
            program: "/opt/estelle/bin/estelle".into(),
            data: None,
            config: None,
            path: None,
        }
    }

    fn line<'a>(text: &'a str, key: &str) -> Option<&'a str> {
        let mut lines = text.lines();
        lines.find_map(|line| line.strip_prefix(key)?.strip_prefix('='))
    }

    #[test]
    fn a_restart_spares_the_host_and_its_runs() {
        let text = unit().text().unwrap();
        assert_eq!(line(&text, "KillMode"), Some("process"));
        assert_eq!(line(&text, "OOMPolicy"), Some("continue"));
        assert_eq!(
            line(&text, "Delegate"),
            Some("yes"),
            "runs have control groups of their own"
        );
        assert_eq!(line(&text, "Restart"), Some("always"));
        assert_eq!(line(&text, "StartLimitIntervalSec"), Some("0"));
        // It would end what outlives the unit when the user has logged out.
        assert!(!text.contains("RemoveIPC") && !text.contains("PrivateTmp"));
    }

    #[test]
    fn what_is_named_is_taken_as_it_stands() {
        let unit = Unit {
            program: "/opt/my programs/estelle".into(),
            data: Some("/data/100% \"mine\" $HOME".into()),
            config: Some("/etc/estelle.toml".into()),
            path: Some("/usr/bin:/opt/a $b".to_owned()),
        };
        let text = unit.text().unwrap();
        assert_eq!(
            line(&text, "ExecStart").unwrap(),
            "\"/opt/my programs/estelle\" up --json --data \"/data/100%% \\\"mine\\\" $$HOME\" --config \"/etc/estelle.toml\""
        );
        assert_eq!(
            line(&text, "Environment").unwrap(),
            "\"PATH=/usr/bin:/opt/a $b\""
        );
    }

    #[test]
    fn a_path_cannot_add_a_line() {
        let unit = Unit {
            data: Some("/d\nExecStartPre=/bin/evil".into()),
            ..unit()
        };
        assert!(unit.text().is_err());
    }
}
