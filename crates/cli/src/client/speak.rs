//! `estelle send`: says something in a conversation and shows what comes of it.

use std::io::{IsTerminal as _, Read as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use estelle_proto::claude::ClaudeSend;
use estelle_proto::{ClientMessageId, OnBusy, Prompt};

use super::attach;
use super::failure::EXIT_CODES;
use super::follow::{Awaited, Follow};
use super::print_json;
use super::screen::Screen;
use super::session::Session;
use super::turn::{Turn, WhenAsked};
use super::way::ClientArgs;
use crate::chat::keys;
use crate::chat::printer::Printer;

/// Say something in a conversation, and show the answer as it is written.
///
/// At a terminal you are asked when something needs permission. Elsewhere it is printed what is asked, and how it can be
/// answered; the command waits for somebody to do so. Ctrl-C leaves, and the turn goes on.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct SendArgs {
    #[command(flatten)]
    client: ClientArgs,
    /// The conversation, by its name, its id or the beginning of either.
    conversation: String,
    /// What to say; `-` reads it from standard input.
    #[arg(required = true, value_name = "TEXT")]
    text: Vec<String>,
    /// Do not wait for the answer.
    #[arg(long, short)]
    detach: bool,
    /// Print what the agent says and nothing else.
    #[arg(long, short, conflicts_with = "json")]
    quiet: bool,
    /// End with the code 4 when a person has to decide something, instead of waiting for it.
    #[arg(long)]
    exit_when_asked: bool,
    /// Wait no longer than this; the turn goes on.
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<u64>,
    /// What happens while a turn is under way.
    #[arg(long, value_name = "HOW", value_parser = ["inject", "queue", "interrupt"])]
    on_busy: Option<String>,
    /// Send a file along; may be given up to ten times.
    #[arg(long, value_name = "FILE")]
    attach: Vec<PathBuf>,
}

pub(super) async fn run(args: &SendArgs) -> anyhow::Result<ExitCode> {
    let is_piped = args.text == ["-"];
    let text = if is_piped {
        read_all()?
    } else {
        args.text.join(" ")
    };
    let prompt = Prompt::parse(text.trim()).context("the message")?;
    let id = ClientMessageId::parse(&uuid::Uuid::now_v7().to_string())?;
    let files = attach::open_all(&args.attach)?;
    let mut session = Session::find(&args.client, &args.conversation).await?;
    let files = attach::send_all(&mut session, files).await?;
    let (workspace, conversation) = (&session.spot.workspace, &session.spot.conversation);
    let request = ClaudeSend {
        client_message_id: Some(id.clone()),
        on_busy: args.on_busy.as_deref().map(OnBusy::from),
        attached_file_ids: Some(files).filter(|files| !files.is_empty()),
        ..ClaudeSend::new(workspace.clone(), conversation.clone(), prompt)
    };
    if args.detach {
        let sent = session.ask(request).await?;
        if args.client.json {
            print_json(&sent)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    session.look().await?;
    let screen = match (args.client.json, args.quiet) {
        (true, _) => Screen::Json,
        (false, true) => Screen::Words,
        (false, false) => Screen::Text(Printer::stdout()),
    };
    let when_asked = when_asked(args, is_piped)?;
    let mut missed = Vec::new();
    let sent = session.ask_surely(request, &mut missed).await?;
    tracing::debug!(seq = ?sent.seq, "accepted");
    let follow = Follow::new(Awaited::Turn(id));
    let limit = args.timeout.map(Duration::from_secs);
    let mut turn = Turn::new(session, follow, screen, when_asked)?.within(limit);
    for message in &missed {
        turn.show(message)?;
    }
    turn.run().await
}

fn when_asked(args: &SendArgs, is_piped: bool) -> anyhow::Result<WhenAsked> {
    let is_person = !is_piped && std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    Ok(if args.exit_when_asked {
        WhenAsked::Leave
    } else if is_person && !args.client.json && !args.quiet {
        WhenAsked::Ask(keys::lines()?)
    } else {
        WhenAsked::Wait
    })
}

pub(super) fn read_all() -> anyhow::Result<String> {
    let mut text = String::new();
    let read = std::io::stdin().read_to_string(&mut text);
    read.context("failed to read the message from standard input")?;
    Ok(text)
}
