//! Where log lines of the parts go: to standard error, or to a file in the data folder; and how they are written, for people
//! or for programs. A file has a limit, also one that standard error was redirected to.

mod lines;
mod rotating;

use std::fs::File;
use std::os::fd::AsFd;
use std::path::Path;

use anstream::{AutoStream, ColorChoice};
use anyhow::Context as _;
use tracing::{Level, Metadata};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::{FilterExt as _, filter_fn};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::config::Config;
use lines::JsonLines;
use rotating::Rotating;

/// A log that would grow beyond this is put aside.
const LONGEST: u64 = 8 * 1024 * 1024;

/// The libraries that read and write what others send.
const CARRIERS: [&str; 7] = [
    "tungstenite",
    "tokio_tungstenite",
    "hyper",
    "hyper_util",
    "h2",
    "rustls",
    "tokio_util",
];

/// How log lines are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

impl LogFormat {
    /// The format that a word stands for.
    pub(crate) fn parse(word: &str) -> Option<Self> {
        [Self::Text, Self::Json]
            .into_iter()
            .find(|format| format.word() == word)
    }

    /// The word for it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
        }
    }
}

/// Logs to standard error: in colours if it is a terminal and nobody asked for none.
///
/// A file that it was redirected to is put aside when it gets too long, and standard output goes along: a detached host
/// has no other log.
pub(crate) fn to_stderr(config: &Config) {
    if let Some(log) = redirected() {
        return begin(config, false, log);
    }
    let has_colours = AutoStream::choice(&std::io::stderr()) != ColorChoice::Never;
    begin(config, has_colours, std::io::stderr);
}

/// Logs to a file, which is opened for appending.
pub(crate) fn to_file(config: &Config, path: &Path) -> anyhow::Result<()> {
    let log = Rotating::new(path, open(path)?, LONGEST);
    let log = log.with_context(|| format!("failed to open {}", path.display()))?;
    begin(config, false, log);
    Ok(())
}

/// The file that standard error was redirected to for appending, if it was.
fn redirected() -> Option<Rotating> {
    let stream = |stream: &dyn AsFd| stream.as_fd().try_clone_to_owned().map(File::from).ok();
    let errors = stream(&std::io::stderr())?;
    let flags = rustix::fs::fcntl_getfl(&errors).ok()?;
    // Into one that was opened otherwise somebody else may write, at a place of their own.
    let path =
        rotating::name_of(&errors, 2).filter(|_| flags.contains(rustix::fs::OFlags::APPEND))?;
    let output = stream(&std::io::stdout());
    let data = |file: &File| file.metadata().ok();
    let is_shared = match (data(&errors), output.as_ref().and_then(data)) {
        (Some(errors), Some(output)) => rotating::same(&errors, &output),
        (Some(_) | None, _) => false,
    };
    let log = Rotating::new(&path, errors, LONGEST).ok()?;
    Some(log.followed_by(move |file| {
        // What they say may be lost for that; the log is not.
        let _ = rustix::stdio::dup2_stderr(file);
        if is_shared {
            let _ = rustix::stdio::dup2_stdout(file);
        }
    }))
}

fn begin<W>(config: &Config, has_colours: bool, writer: W)
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(has_colours)
        .with_writer(writer);
    let wanted = EnvFilter::new(&config.log).and(filter_fn(tells_no_secret));
    let registry = tracing_subscriber::registry();
    // Somebody else may log already; then it is theirs.
    let _ = match config.log_format {
        LogFormat::Text => registry.with(lines.with_filter(wanted)).try_init(),
        LogFormat::Json => {
            let lines = lines.with_ansi(false).event_format(JsonLines);
            registry.with(lines.with_filter(wanted)).try_init()
        }
    };
}

/// Whether a line may be written at all. Those who carry bytes for us write them out when somebody looks for a fault, and
/// among the bytes are tokens and what people say: of these nothing below `info` is written, whatever was asked for.
fn tells_no_secret(metadata: &Metadata<'_>) -> bool {
    let carrier = metadata.target().split("::").next().unwrap_or_default();
    *metadata.level() <= Level::INFO || !CARRIERS.contains(&carrier)
}

/// Opens a log for appending, readable by its user alone. One that is too long is put aside first.
pub(crate) fn open(path: &Path) -> anyhow::Result<File> {
    if path.metadata().is_ok_and(|data| data.len() > LONGEST) {
        // Without it the log only gets longer.
        let _ = std::fs::rename(path, rotating::aside(path));
    }
    rotating::open(path).with_context(|| format!("failed to open {}", path.display()))
}
