//! `estelle logs`: what the parts of this machine wrote, and what they write now.
//!
//! Relay and Pylon of `estelle up` share a log; a line belongs to the part that its target names, and lines without one to
//! the line before them. A line of JSON says its target itself.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Seek as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::bail;
use clap::{Args, ValueEnum};
use serde::Deserialize;
use serde_json::json;

use crate::chat::clean;
use crate::data::DataArgs;

/// How often a log is looked at again.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Show the logs of this machine.
#[derive(Debug, Args)]
pub(crate) struct LogsArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Which part; all of them if none is named.
    part: Option<Part>,
    /// Go on with what is written from now on, until Ctrl-C.
    #[arg(long, short)]
    follow: bool,
    /// How many lines of each log.
    #[arg(long, short = 'n', value_name = "NUMBER", default_value_t = 50)]
    lines: usize,
    /// Print each line as JSON, with the log that it is from.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    Host,
    Pylon,
    Relay,
}

impl Part {
    /// What the target of its lines begins with.
    fn target(self) -> &'static str {
        match self {
            Self::Host => "estelle_host",
            Self::Pylon => "estelle_pylon",
            Self::Relay => "estelle_relay",
        }
    }
}

/// Tells lines of one part from those of others.
#[derive(Debug)]
struct Sieve {
    part: Option<Part>,
    keeps: bool,
}

impl Sieve {
    fn keeps(&mut self, line: &str) -> bool {
        let Some(part) = self.part else { return true };
        if line.starts_with('{')
            && let Ok(entry) = serde_json::from_str::<Entry>(line)
        {
            self.keeps = entry.target.starts_with(part.target());
            return self.keeps;
        }
        let mut words = line.split_whitespace();
        let is_entry = words.next().is_some_and(|word| {
            word.len() > 19 && word.as_bytes()[4] == b'-' && word.contains('T')
        });
        if is_entry {
            // Spans may stand between the level and the target.
            let named = words.find(|word| word.starts_with("estelle"));
            self.keeps = named.is_some_and(|target| target.starts_with(part.target()));
        }
        self.keeps
    }
}

/// A line of JSON, as `log_format = "json"` writes them.
#[derive(Debug, Deserialize)]
struct Entry {
    target: String,
}

/// A log that is read as it grows.
struct Tail {
    name: &'static str,
    path: PathBuf,
    open: Option<(BufReader<File>, u64)>,
    sieve: Sieve,
    /// A line that has no end yet.
    partial: String,
}

/// Runs the subcommand.
pub(crate) fn run(args: &LogsArgs) -> anyhow::Result<ExitCode> {
    let folders = args.data.folders()?;
    let has_log = |folder: &&PathBuf| {
        ["up.log", "host.log"]
            .iter()
            .any(|log| folder.join(log).exists())
    };
    let Some(data) = folders.iter().find(has_log) else {
        let places: Vec<String> = folders.iter().map(|at| at.display().to_string()).collect();
        bail!(
            "there are no logs in {}: `estelle up` writes them; name its folder with --data",
            places.join(" or ")
        );
    };
    let logs: &[(&str, &str)] = match args.part {
        Some(Part::Host) => &[("host", "host.log")],
        Some(Part::Pylon | Part::Relay) => &[("up", "up.log")],
        None => &[("up", "up.log"), ("host", "host.log")],
    };
    let mut tails: Vec<Tail> = logs
        .iter()
        .map(|(name, file)| Tail::new(name, data.join(file), sieve_of(args.part)))
        .collect();
    let outcome = show(&mut tails, args);
    match outcome {
        // Whoever reads our output has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        Err(error) => Err(error.into()),
        Ok(()) => Ok(ExitCode::SUCCESS),
    }
}

/// The host has a log of its own, so all of it is the host's.
fn sieve_of(part: Option<Part>) -> Option<Part> {
    part.filter(|part| *part != Part::Host)
}

fn show(tails: &mut [Tail], args: &LogsArgs) -> io::Result<()> {
    let mut out = anstream::stdout();
    for tail in tails.iter_mut() {
        let lines = tail.read()?;
        let from = lines.len().saturating_sub(args.lines);
        for line in &lines[from..] {
            print(&mut out, tail.name, line, args)?;
        }
    }
    out.flush()?;
    if !args.follow {
        return Ok(());
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()?;
    loop {
        runtime.block_on(async { tokio::time::sleep(LOOK_EVERY).await });
        for tail in tails.iter_mut() {
            for line in tail.read()? {
                print(&mut out, tail.name, &line, args)?;
            }
        }
        out.flush()?;
    }
}

fn print(out: &mut impl io::Write, name: &str, line: &str, args: &LogsArgs) -> io::Result<()> {
    if args.json {
        return writeln!(out, "{}", json!({ "log": name, "line": line }));
    }
    let line = clean::line(line);
    if args.part.is_some() {
        return writeln!(out, "{line}");
    }
    writeln!(out, "{name:<4} {line}")
}

impl Tail {
    fn new(name: &'static str, path: PathBuf, part: Option<Part>) -> Self {
        Self {
            name,
            path,
            open: None,
            sieve: Sieve { part, keeps: false },
            partial: String::new(),
        }
    }

    /// The lines that were added since the last time.
    fn read(&mut self) -> io::Result<Vec<String>> {
        let mut lines = Vec::new();
        // What was put aside is read to its end first.
        self.read_open(&mut lines)?;
        if self.is_outdated() {
            let file = match File::open(&self.path) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(lines),
                Err(error) => return Err(error),
            };
            let inode = file.metadata()?.ino();
            self.open = Some((BufReader::new(file), inode));
            self.read_open(&mut lines)?;
        }
        Ok(lines)
    }

    /// Whether another file has the name, or this one was cut.
    fn is_outdated(&mut self) -> bool {
        let Some((reader, inode)) = &mut self.open else {
            return true;
        };
        let place = reader.stream_position().unwrap_or(0);
        let named = Path::new(&self.path).metadata();
        named.is_ok_and(|named| named.ino() != *inode || named.len() < place)
    }

    fn read_open(&mut self, lines: &mut Vec<String>) -> io::Result<()> {
        let Some((reader, _)) = &mut self.open else {
            return Ok(());
        };
        let mut bytes = Vec::new();
        while reader.read_until(b'\n', &mut bytes)? > 0 {
            self.partial.push_str(&String::from_utf8_lossy(&bytes));
            bytes.clear();
            if !self.partial.ends_with('\n') {
                break;
            }
            let line = self.partial.trim_end_matches(['\n', '\r']).to_owned();
            self.partial.clear();
            if self.sieve.keeps(&line) {
                lines.push(line);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_belongs_to_the_part_that_it_names() {
        let mut sieve = Sieve {
            part: Some(Part::Pylon),
            keeps: false,
        };
        let stamp = "2026-01-31T10:00:00.000000Z";
        assert!(!sieve.keeps(&format!("{stamp}  INFO estelle_relay::server: listening")));
        assert!(!sieve.keeps("  and more of it"));
        assert!(sieve.keeps(&format!("{stamp} ERROR estelle_pylon::desk: no")));
        assert!(sieve.keeps("  and why"));
        assert!(!sieve.keeps(&format!("{stamp}  INFO estelle::up: started")));
        assert!(sieve.keeps(r#"{"target":"estelle_pylon::desk","message":"no"}"#));
        assert!(!sieve.keeps(r#"{"target":"estelle_relay","message":"estelle_pylon::x"}"#));
    }

    #[test]
    fn a_log_that_grows_or_is_put_aside_is_read_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("up.log");
        let mut tail = Tail::new("up", path.clone(), None);
        assert!(tail.read().unwrap().is_empty());
        std::fs::write(&path, "one\ntw").unwrap();
        assert_eq!(tail.read().unwrap(), ["one"]);
        let mut file = File::options().append(true).open(&path).unwrap();
        file.write_all(b"o\nthree\n").unwrap();
        assert_eq!(tail.read().unwrap(), ["two", "three"]);
        file.write_all(b"last\n").unwrap();
        std::fs::rename(&path, folder.path().join("up.log.old")).unwrap();
        std::fs::write(&path, "new\n").unwrap();
        assert_eq!(tail.read().unwrap(), ["last", "new"]);
    }
}
