//! `estelle history --export`: a whole conversation as a document, piece by piece, onto the screen or into a file.
//!
//! A file appears when it is complete, and in nobody's place unless that was asked for.

use std::fs::{File, OpenOptions};
use std::io::{IsTerminal as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};
use estelle_proto::export::{ExportFormat, HistoryExport};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use serde_json::json;

use super::failure::LEFT;
use super::print_json;
use super::session::Session;
use crate::chat::clean;
use crate::signals::Signals;

/// The forms of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Form {
    /// Markdown, for people.
    #[value(alias = "markdown")]
    Md,
    /// One JSON object, for programs.
    Json,
}

impl From<Form> for ExportFormat {
    fn from(form: Form) -> Self {
        match form {
            Form::Md => Self::Markdown,
            Form::Json => Self::Json,
        }
    }
}

/// What to do with the whole of a conversation.
#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    /// Write all of it as a document, with everything that tools took and gave.
    #[arg(long, value_name = "FORM", conflicts_with_all = ["limit", "all", "before"])]
    pub(super) export: Option<Form>,
    /// Into this file instead of onto the screen.
    #[arg(long, short, value_name = "FILE", requires = "export")]
    pub(super) output: Option<PathBuf>,
    /// Replace the file if it is there.
    #[arg(long, requires = "output")]
    pub(super) force: bool,
}

/// Writes the document.
pub(super) async fn run(
    session: &mut Session,
    form: Form,
    args: &ExportArgs,
    is_json: bool,
) -> anyhow::Result<ExitCode> {
    let Some(path) = &args.output else {
        if is_json && form != Form::Json {
            bail!("--json prints JSON: say --export json, or name a file with --output");
        }
        let mut out = std::io::stdout();
        let is_terminal = out.is_terminal();
        let mut show = |text: &str| -> anyhow::Result<()> {
            let text = if is_terminal {
                clean::text(text)
            } else {
                text.into()
            };
            Ok(out.write_all(text.as_bytes())?)
        };
        write(session, form, &mut show).await?;
        out.flush()?;
        return Ok(ExitCode::SUCCESS);
    };
    let mut signals = Signals::listen()?;
    let mut part = Part::begin(path, args.force)?;
    let mut bytes = 0;
    let mut keep = |text: &str| {
        bytes += text.len();
        part.write(text)
    };
    let entries = tokio::select! {
        written = write(session, form, &mut keep) => written?,
        // What is half written goes with the part.
        _ = signals.next() => return Ok(ExitCode::from(LEFT)),
    };
    part.complete()?;
    if is_json {
        print_json(&json!({"file": path, "bytes": bytes, "entries": entries}))?;
    } else {
        anstream::println!("{entries} entries are in {}", path.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// Hands on every piece, and gives the number of entries in them.
async fn write(
    session: &mut Session,
    form: Form,
    to: &mut impl FnMut(&str) -> anyhow::Result<()>,
) -> anyhow::Result<u64> {
    let mut cursor = None;
    loop {
        let request = HistoryExport {
            cursor,
            ..HistoryExport::new(session.spot.conversation.clone(), form.into())
        };
        let piece = session.read_surely(request).await?;
        to(&piece.text.unwrap_or_default())?;
        cursor = piece.next_cursor;
        if cursor.is_none() {
            return Ok(piece.total_count.unwrap_or(0));
        }
    }
}

/// A file that is being written, under a name of its own. It is removed unless it was completed.
struct Part {
    file: File,
    path: PathBuf,
    to: PathBuf,
    is_forced: bool,
}

impl Part {
    fn begin(to: &Path, is_forced: bool) -> anyhow::Result<Self> {
        let there = to.symlink_metadata().ok();
        if there
            .as_ref()
            .is_some_and(|there| !is_forced || there.is_dir())
        {
            bail!(taken(to, there.is_some_and(|there| there.is_dir())));
        }
        let name = to.file_name();
        let name = name.with_context(|| format!("{} names no file", to.display()))?;
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}.part", uuid::Uuid::new_v4().simple()));
        let path = to.with_file_name(hidden);
        let mut options = OpenOptions::new();
        // What tools printed is nobody else's business.
        options.write(true).create_new(true).mode(0o600);
        let file = options.open(&path);
        let file = file.with_context(|| format!("failed to write {}", to.display()))?;
        Ok(Self {
            file,
            path,
            to: to.to_owned(),
            is_forced,
        })
    }

    fn write(&mut self, text: &str) -> anyhow::Result<()> {
        let written = self.file.write_all(text.as_bytes());
        written.with_context(|| format!("failed to write {}", self.to.display()))
    }

    /// The file gets its name.
    fn complete(self) -> anyhow::Result<()> {
        let shown = self.to.display();
        let failed = || format!("failed to write {shown}");
        self.file.sync_all().with_context(failed)?;
        if self.is_forced {
            return std::fs::rename(&self.path, &self.to).with_context(failed);
        }
        match renameat_with(CWD, &self.path, CWD, &self.to, RenameFlags::NOREPLACE) {
            Ok(()) => Ok(()),
            // A file system that cannot say it in one step can say it in two.
            Err(Errno::INVAL | Errno::NOSYS) if self.to.symlink_metadata().is_err() => {
                std::fs::rename(&self.path, &self.to).with_context(failed)
            }
            Err(Errno::EXIST | Errno::INVAL | Errno::NOSYS) => bail!(taken(&self.to, false)),
            Err(error) => Err(error).with_context(failed),
        }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // Once it has its name there is nothing under this one.
        let _ = std::fs::remove_file(&self.path);
    }
}

fn taken(path: &Path, is_folder: bool) -> String {
    let shown = path.display();
    if is_folder {
        return format!("{shown} is a folder: name a file");
    }
    format!("{shown} is there already: name another file, or replace it with --force")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    fn names(place: &tempfile::TempDir) -> Vec<String> {
        let entries = std::fs::read_dir(place.path()).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_that_appears_meanwhile_is_not_replaced() {
        let place = place();
        let to = place.path().join("talk.md");
        let mut part = Part::begin(&to, false).unwrap();
        part.write("ours").unwrap();
        std::fs::write(&to, "theirs").unwrap();
        let error = part.complete().unwrap_err();
        assert!(error.to_string().contains("--force"), "{error:#}");
        assert_eq!(std::fs::read_to_string(&to).unwrap(), "theirs");
        assert_eq!(names(&place), ["talk.md"]);
    }

    #[test]
    fn what_is_not_completed_leaves_nothing() {
        let place = place();
        let to = place.path().join("talk.md");
        let mut part = Part::begin(&to, false).unwrap();
        part.write("half").unwrap();
        assert_eq!(names(&place).len(), 1);
        drop(part);
        assert!(names(&place).is_empty());
    }

    #[test]
    fn a_file_is_there_when_it_is_complete() {
        let place = place();
        let to = place.path().join("talk.md");
        for text in ["first", "second"] {
            let mut part = Part::begin(&to, text == "second").unwrap();
            part.write(text).unwrap();
            part.complete().unwrap();
            assert_eq!(std::fs::read_to_string(&to).unwrap(), text);
        }
        assert_eq!(names(&place), ["talk.md"]);
    }
}
