//! `estelle config`: what holds and where it comes from, and a file to begin with.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use serde_json::json;

use super::file::{self, Loaded};
use super::keys::keys;
use super::{Config, ConfigArgs};

/// Show the configuration that holds, with where each value comes from.
///
/// Every value is checked; the exit code is 1 if one is not usable. Arguments stand above environment variables, and
/// these above the file.
#[derive(Debug, Args)]
pub(crate) struct ConfigCommandArgs {
    #[command(flatten)]
    place: ConfigArgs,
    /// Print JSON.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Option<ConfigCommand>,
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Print where the file is looked for.
    Path,
    /// Print a file with every key, its meaning and its default.
    Example,
    /// Write such a file, unless there is one.
    Init,
}

/// Runs the subcommand.
pub(crate) fn run(args: &ConfigCommandArgs) -> anyhow::Result<ExitCode> {
    let named = args.place.config.as_deref();
    let place = || {
        let usual = || file::usual(&|name: &str| std::env::var_os(name));
        let path = named.map(Path::to_owned).or_else(usual);
        path.context("cannot tell where the file belongs: HOME is not set; name it with --config")
    };
    match &args.command {
        Some(ConfigCommand::Path) => show_path(&place()?, args.json),
        Some(ConfigCommand::Example) if args.json => {
            anstream::println!("{}", as_json(&Loaded::defaults()));
        }
        Some(ConfigCommand::Example) => anstream::print!("{}", example()),
        Some(ConfigCommand::Init) => {
            let path = place()?;
            init(&path)?;
            show_path(&path, args.json);
        }
        None => {
            let loaded = Loaded::read(named, |name| std::env::var_os(name))?;
            if args.json {
                anstream::println!("{}", as_json(&loaded));
            } else {
                anstream::print!("{}", as_text(&loaded));
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn show_path(path: &Path, is_json: bool) {
    if is_json {
        anstream::println!("{}", json!({ "file": path, "exists": path.is_file() }));
    } else {
        anstream::println!("{}", path.display());
    }
}

fn init(path: &Path) -> anyhow::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("failed to make {}", folder.display()))?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    let mut file = options
        .open(path)
        .with_context(|| format!("failed to make {}", path.display()))?;
    file.write_all(example().as_bytes())?;
    Ok(())
}

/// A file that changes nothing: every key with its default, commented out.
pub(super) fn example() -> String {
    let defaults = Config::default();
    let mut text = String::from(
        "# The configuration of Estelle. Every key is shown with its default; take away the `#` to change one.\n",
    );
    let mut section = "";
    for key in keys() {
        let (own, name) = key.name.split_once('.').unwrap_or(("", key.name));
        // Writing to a string cannot fail.
        if own != section {
            let _ = write!(text, "\n[{own}]\n");
            section = own;
        }
        let variables = key.variables.join(", ");
        let value = (key.show)(&defaults);
        let _ = write!(
            text,
            "\n# {}\n# Variable: {variables}\n# {name} = {value}\n",
            key.about
        );
    }
    text
}

pub(super) fn as_text(loaded: &Loaded) -> String {
    let mut text = String::new();
    if let Some(path) = &loaded.path {
        let state = if path.is_file() { "" } else { " (not there)" };
        let _ = writeln!(text, "# {}{state}", path.display());
    }
    let widest = keys().map(|key| key.name.len()).max().unwrap_or(0);
    for key in keys() {
        let value = (key.show)(&loaded.config);
        let source = loaded.sources.get(key.name);
        let source = source.map_or_else(String::new, ToString::to_string);
        let _ = writeln!(text, "{:<widest$} = {value}  # {source}", key.name);
        if let Some(remark) = loaded.remarks.get(key.name) {
            let _ = writeln!(text, "# {remark}");
        }
    }
    text
}

pub(super) fn as_json(loaded: &Loaded) -> serde_json::Value {
    let keys = keys().map(|key| {
        let source = loaded.sources.get(key.name);
        let shown = json!({
            "value": (key.show)(&loaded.config),
            "source": source.map(ToString::to_string),
            "remark": loaded.remarks.get(key.name),
            "about": key.about,
            "variables": key.variables,
        });
        (key.name.to_owned(), shown)
    });
    json!({ "file": loaded.path, "keys": keys.collect::<serde_json::Map<_, _>>() })
}
