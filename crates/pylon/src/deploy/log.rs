//! What a deploy says: the last lines in memory, more of them in a file, and none of them with a secret.
//!
//! Lines are cut, secrets are masked before anything else sees them, and both memory and file have a limit. Apps are told
//! so many lines a second and no more, so that a chatty build does not push everything else out of the connection.

use std::collections::VecDeque;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use estelle_proto::deploy::DeployLine;
use estelle_proto::{Timestamp, limits};
use tokio::time::Instant;

/// The name of the file.
const FILE: &str = "deploy.log";
/// Lines in memory.
const LINES: usize = 300;
/// Characters of a line.
const LINE: usize = 1000;
/// Bytes of the file; the one before it is kept.
const FILE_BYTES: u64 = 1024 * 1024;
/// Lines a second that apps are told.
const A_SECOND: u32 = 50;
/// Values that are shorter stand in too many lines that have nothing to do with them.
const SHORTEST_SECRET: usize = 8;

/// The log of all deploys.
#[derive(Debug)]
pub(super) struct Log {
    path: PathBuf,
    lines: VecDeque<DeployLine>,
    secrets: Vec<String>,
    window: Option<Instant>,
    told: u32,
    left_out: u64,
}

impl Log {
    /// With the last lines of an earlier process.
    pub(super) fn open(folder: &Path) -> Self {
        let path = folder.join(FILE);
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let lines = text
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        let mut lines: VecDeque<DeployLine> = lines.collect();
        lines.drain(..lines.len().saturating_sub(LINES));
        Self {
            path,
            lines,
            secrets: secrets(std::env::vars()),
            window: None,
            told: 0,
            left_out: 0,
        }
    }

    /// Adds a line, and gives those that apps are told now.
    pub(super) fn add(&mut self, text: &str, now: Timestamp) -> Vec<DeployLine> {
        let line = DeployLine::new(self.clean(text), now);
        self.lines.push_back(line.clone());
        if self.lines.len() > LINES {
            self.lines.pop_front();
        }
        if let Err(error) = self.write(&line) {
            tracing::warn!(%error, "a line of the deploy is not in its log");
        }
        let is_over = self
            .window
            .is_none_or(|since| since.elapsed() > Duration::from_secs(1));
        let mut told = Vec::new();
        if is_over {
            self.window = Some(Instant::now());
            self.told = 0;
            if self.left_out > 0 {
                let text = format!("... {} lines are in the log alone", self.left_out);
                told.push(DeployLine::new(text, now));
                self.left_out = 0;
            }
        }
        if self.told < A_SECOND {
            self.told += 1;
            told.push(line);
        } else {
            self.left_out += 1;
        }
        told
    }

    /// The last lines.
    pub(super) fn last(&self) -> Vec<DeployLine> {
        self.lines.iter().cloned().collect()
    }

    fn clean(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.secrets {
            if text.contains(secret.as_str()) {
                text = text.replace(secret.as_str(), "***");
            }
        }
        let text = without_passwords(&text);
        let text: String = text.chars().filter(|c| !c.is_control()).collect();
        limits::cut(&text, LINE).to_owned()
    }

    fn write(&self, line: &DeployLine) -> std::io::Result<()> {
        let length = self.path.metadata().map_or(0, |data| data.len());
        if length > FILE_BYTES {
            std::fs::rename(&self.path, self.path.with_extension("log.1"))?;
        }
        let mut options = OpenOptions::new();
        let mut file = options
            .create(true)
            .append(true)
            .mode(0o600)
            .open(&self.path)?;
        writeln!(file, "{}", serde_json::to_string(line)?)
    }
}

/// The values of variables whose names say that they are secret.
fn secrets(variables: impl Iterator<Item = (String, String)>) -> Vec<String> {
    let is_secret = |name: &str| {
        let name = name.to_ascii_uppercase();
        let words = [
            "TOKEN",
            "SECRET",
            "PASSWORD",
            "PASSWD",
            "API_KEY",
            "PRIVATE_KEY",
            "CREDENTIAL",
        ];
        words.iter().any(|word| name.contains(word)) && !name.ends_with("_FILE")
    };
    let mut values: Vec<String> = variables
        .filter(|(name, value)| is_secret(name) && value.len() >= SHORTEST_SECRET)
        .map(|(_, value)| value)
        .collect();
    // One that holds another is masked whole.
    values.sort_by_key(|value| std::cmp::Reverse(value.len()));
    values
}

/// Addresses without the name and password in them.
fn without_passwords(text: &str) -> String {
    let mut clean = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        clean.push_str(before);
        let end = after
            .find(|c: char| c == '/' || c.is_whitespace() || c == '"' || c == '\'')
            .unwrap_or(after.len());
        let (authority, tail) = after.split_at(end);
        match authority.rsplit_once('@') {
            Some((_, host)) => {
                clean.push_str("***@");
                clean.push_str(host);
            }
            None => clean.push_str(authority),
        }
        rest = tail;
    }
    clean.push_str(rest);
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(folder: &Path) -> Log {
        let mut log = Log::open(folder);
        log.secrets = secrets(
            [
                ("GH_TOKEN", "gho_12345678"),
                ("MY_PASSWORD", "short"),
                ("ESTELLE_TOKEN_FILE", "/a/file/that/is/shown"),
                ("HOME", "/home/somebody"),
            ]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into_iter(),
        );
        log
    }

    #[tokio::test]
    async fn no_secret_is_in_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = log(folder.path());
        let told = log.add(
            "push https://me:pw@example.org/x with gho_12345678 \u{1b}[1min /home/somebody",
            Timestamp(1),
        );
        let line = "push https://***@example.org/x with *** [1min /home/somebody";
        assert_eq!(told[0].line, line);
        let file = std::fs::read_to_string(folder.path().join(FILE)).unwrap();
        assert!(!file.contains("gho_") && !file.contains("me:pw"), "{file}");
        assert_eq!(Log::open(folder.path()).last()[0].line, line);
    }

    #[tokio::test(start_paused = true)]
    async fn apps_are_told_so_many_lines_a_second_and_the_file_has_all() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = log(folder.path());
        let told: usize = (0..80).map(|_| log.add("line", Timestamp(1)).len()).sum();
        assert_eq!(told, 50);
        tokio::time::advance(Duration::from_secs(2)).await;
        let told = log.add("last", Timestamp(2));
        assert_eq!(told.len(), 2);
        assert!(told[0].line.contains("30 lines"), "{told:?}");
        assert_eq!(log.last().len(), 81);
        let file = std::fs::read_to_string(folder.path().join(FILE)).unwrap();
        assert_eq!(file.lines().count(), 81);
    }

    #[tokio::test]
    async fn memory_and_file_have_a_limit() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = log(folder.path());
        let text = "x".repeat(2000);
        for _ in 0..2500 {
            let _ = log.add(&text, Timestamp(1));
        }
        assert_eq!(log.last().len(), LINES);
        assert_eq!(log.last()[0].line.len(), LINE);
        let size = |name: &str| folder.path().join(name).metadata().unwrap().len();
        assert!(size(FILE) <= FILE_BYTES + 2 * LINE as u64);
        assert!(size("deploy.log.1") <= FILE_BYTES + 2 * LINE as u64);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
