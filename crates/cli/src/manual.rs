//! `estelle completions` and `estelle man`: what shells and readers of manuals need, made from the command line itself.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Args, Command};
use clap_complete::Shell;
use serde_json::json;

/// Print the completions for a shell.
///
/// For bash: estelle completions bash > ~/.local/share/bash-completion/completions/estelle. For zsh, into a folder of
/// `fpath` as `_estelle`. For fish: estelle completions fish > ~/.config/fish/completions/estelle.fish.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// Which shell.
    shell: Shell,
}

/// Write the manual pages: one for the program and one for each command.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The folder to write to, such as ~/.local/share/man/man1.
    #[arg(long, value_name = "FOLDER")]
    dir: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs `estelle completions`.
pub(crate) fn completions(args: &CompletionsArgs, mut command: Command) -> ExitCode {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut command, "estelle", &mut text);
    // Whoever closes the pipe has seen enough.
    let _ = std::io::Write::write_all(&mut std::io::stdout().lock(), &text);
    ExitCode::SUCCESS
}

/// Runs `estelle man`.
pub(crate) fn man(args: &ManArgs, command: Command) -> anyhow::Result<ExitCode> {
    let failed = || format!("failed to write to {}", args.dir.display());
    std::fs::create_dir_all(&args.dir).with_context(failed)?;
    clap_mangen::generate_to(command, &args.dir).with_context(failed)?;
    if args.json {
        anstream::println!("{}", json!({ "folder": args.dir }));
    }
    Ok(ExitCode::SUCCESS)
}
