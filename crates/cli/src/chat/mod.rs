//! `estelle chat`: a conversation with Claude Code in the terminal.
//!
//! A pure middle between thin shells: [`view`] folds messages into pieces, [`ask`] understands answers, [`desk`]
//! decides what follows from what happens. [`shell`] waits and acts, [`keys`] reads, [`printer`] writes. What the
//! CLI and the model say is made harmless by [`clean`] before it becomes a piece.

pub(crate) mod agent;
mod args;
mod ask;
pub(crate) mod clean;
mod command;
mod desk;
pub(crate) mod keys;
mod once;
pub(crate) mod piece;
pub(crate) mod printer;
mod shell;
mod trouble;
pub(crate) mod view;

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use estelle_claude::Session;
use estelle_claude::options::{Options, SystemPrompt};
use estelle_claude::wire::PermissionMode;

pub(crate) use args::ChatArgs;

use agent::{Agent, Kind};
use desk::{Desk, Offer};
use piece::{Piece, Tone};
use printer::Printer;
use shell::{Parts, Shell};

/// Runs the subcommand.
pub(crate) fn run(args: ChatArgs) -> anyhow::Result<ExitCode> {
    if args.client.json && args.print.is_none() {
        anyhow::bail!(
            "a talk is for people: --json goes with --print, and with `estelle send` and `estelle watch`"
        );
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    let runtime = runtime.context("failed to start the runtime")?;
    let outcome = runtime.block_on(start(args));
    match outcome {
        // Whoever reads our output has seen enough.
        Err(error) if is_broken_pipe(&error) => Ok(ExitCode::SUCCESS),
        other => other,
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let source = error.downcast_ref::<io::Error>();
    source.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

async fn start(args: ChatArgs) -> anyhow::Result<ExitCode> {
    let mut signals = keys::Signals::listen()?;
    let agent = Agent::find(&args)?;
    let options = options(&args, &agent)?;
    if let Some(message) = args.print {
        if agent.is_simulated() {
            anstream::eprintln!("{}", simulated(agent.kind));
        }
        return once::run(message, options, signals, args.client.json).await;
    }
    let (options, asked) = shell::with_questions(options.include_partial_messages(true));
    let mut printer = Printer::stdout();
    let begin = async {
        let version = options.find_cli().await?.version();
        printer.show(&banner(&args, &agent, &version.to_string()))?;
        let session = Session::start(options)
            .await
            .map_err(|error| trouble::start(&error))?;
        let offer = offer(&session).await;
        anyhow::Ok((session, offer))
    };
    let (session, offer) = match signals.unless(begin).await {
        Ok(outcome) => outcome?,
        Err(code) => return Ok(code),
    };
    let desk = Desk::new(keys::source(), Printer::width(), offer);
    let parts = Parts {
        session,
        desk,
        printer,
        asked,
        lines: keys::lines()?,
        signals,
    };
    let (desk, mut printer) = Shell::new(parts).run().await?;
    printer.show(&farewell(&args, &agent, &desk))?;
    Ok(ExitCode::from(desk.exit_code()))
}

fn options(args: &ChatArgs, agent: &Agent) -> anyhow::Result<Options> {
    let mut options = Options::new()
        .path_to_claude_code_executable(&agent.path)
        .system_prompt(SystemPrompt::preset())
        .continue_(args.continue_);
    if let Some(id) = &args.resume {
        options = options.resume(id);
    }
    if let Some(model) = &args.model {
        options = options.model(model);
    }
    if let Some(folder) = &args.cwd {
        let folder = std::path::absolute(folder).context("failed to find the folder of --cwd")?;
        // Before anything is printed: a greeting "in /nowhere" would be a lie.
        anyhow::ensure!(
            folder.is_dir(),
            "there is no folder \"{}\", which --cwd names: create it, or name another",
            folder.display()
        );
        options = options.cwd(folder);
    }
    if let Some(mode) = &args.permission_mode {
        let mode = PermissionMode::from(mode.as_str());
        let unguarded = mode == PermissionMode::BypassPermissions;
        options = options
            .permission_mode(mode)
            .allow_dangerously_skip_permissions(unguarded);
    }
    Ok(options)
}

async fn offer(session: &Session) -> Offer {
    let models = session.supported_models().await.unwrap_or_default();
    let commands = session.supported_commands().await.unwrap_or_default();
    Offer {
        models: models
            .into_iter()
            .map(|model| (model.value, model.description.unwrap_or_default()))
            .collect(),
        commands: commands.into_iter().map(|command| command.name).collect(),
    }
}

fn simulated(kind: Kind) -> &'static str {
    match kind {
        Kind::Substitute => "There is no `claude` on this machine, so a simulator answers.",
        Kind::Simulator | Kind::Claude => "A simulator answers.",
    }
}

fn banner(args: &ChatArgs, agent: &Agent, version: &str) -> Vec<Piece> {
    let name = if agent.is_simulated() {
        "the simulator"
    } else {
        "Claude Code"
    };
    let folder = args.cwd.clone().or_else(|| std::env::current_dir().ok());
    let folder = folder.map_or(String::new(), |folder| format!(" in {}", folder.display()));
    let mut pieces = vec![Piece::spans([
        (Tone::Strong, "Estelle"),
        (
            Tone::Plain,
            &format!(" · a conversation with {name} {version}{folder}"),
        ),
    ])];
    if agent.is_simulated() {
        pieces.push(Piece::line(Tone::Ask, simulated(agent.kind)));
        pieces.push(Piece::line(
            Tone::Plain,
            "No account, no network, no real model. Type help to see what it can do.",
        ));
        if agent.kind == Kind::Substitute {
            let hint =
                "For the real one: npm install -g @anthropic-ai/claude-code, then start again.";
            pieces.push(Piece::line(Tone::Dim, hint));
        }
    }
    if args.permission_mode.as_deref() == Some("bypassPermissions") {
        pieces.push(Piece::line(
            Tone::Bad,
            "Nothing is asked: every tool runs at once (bypassPermissions).",
        ));
    }
    if keys::source() == desk::Source::Terminal {
        pieces.push(Piece::line(
            Tone::Dim,
            "/help for commands · Ctrl-C stops a turn · Ctrl-D leaves",
        ));
    }
    pieces.push(Piece::Gap);
    pieces
}

fn farewell(args: &ChatArgs, agent: &Agent, desk: &Desk) -> Vec<Piece> {
    let Some(id) = &desk.view().facts().session_id else {
        return Vec::new();
    };
    let option = |name: &str, path: Option<&PathBuf>| {
        path.map(|path| format!(" {name} {}", quoted(&path.to_string_lossy())))
    };
    let options = [
        option("--cwd", args.cwd.as_ref()),
        option("--claude", args.claude.as_ref()),
        (agent.kind == Kind::Simulator).then(|| " --simulate".to_owned()),
    ];
    let options: String = options.into_iter().flatten().collect();
    let command = format!("{} chat --resume {id}{options}", program());
    vec![
        Piece::Gap,
        Piece::spans([
            (Tone::Dim, "To take this conversation up again: "),
            (Tone::Plain, &command),
        ]),
    ]
}

/// This program as it was called, so that the line can be used as it stands.
fn program() -> String {
    let called = std::env::args_os().next().unwrap_or_default();
    let called = called.to_string_lossy();
    if called.contains('/') {
        quoted(&called)
    } else {
        "estelle".to_owned()
    }
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+:@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_can_be_copied_into_a_shell() {
        assert_eq!(quoted("/srv/my-project"), "/srv/my-project");
        assert_eq!(quoted("it's here"), r"'it'\''s here'");
    }
}
