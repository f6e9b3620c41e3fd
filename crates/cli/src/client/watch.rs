//! `estelle watch`: shows a conversation as it goes on.

use std::io::IsTerminal as _;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use estelle_proto::ConversationStatus;

use super::failure::EXIT_CODES;
use super::follow::{Awaited, Follow};
use super::screen::Screen;
use super::session::Session;
use super::turn::{Turn, WhenAsked};
use super::way::ClientArgs;
use super::{past, print_json};
use crate::chat::keys;
use crate::chat::printer::Printer;

/// Show a conversation as it goes on, until Ctrl-C; nothing is ended by leaving.
///
/// At a terminal you are asked when something needs permission. A connection that breaks comes back, and what happened
/// meanwhile is shown.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct WatchArgs {
    #[command(flatten)]
    client: ClientArgs,
    /// The conversation, by its name, its id or the beginning of either.
    conversation: String,
    /// Leave when nothing is under way any more.
    #[arg(long)]
    until_idle: bool,
    /// End with the code 4 when a person has to decide something.
    #[arg(long)]
    exit_when_asked: bool,
    /// Leave after this time.
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<u64>,
    /// How many entries of the history are shown first.
    #[arg(long, short = 'n', value_name = "NUMBER", default_value_t = 10)]
    lines: usize,
}

pub(super) async fn run(args: &WatchArgs) -> anyhow::Result<ExitCode> {
    let mut session = Session::find(&args.client, &args.conversation).await?;
    let page = session.look().await?;
    let awaited = if args.until_idle {
        Awaited::Quiet
    } else {
        Awaited::Nothing
    };
    let mut follow = Follow::new(awaited);
    let mut screen = if args.client.json {
        Screen::Json
    } else {
        Screen::Text(Printer::stdout())
    };
    let from = page.messages.len().saturating_sub(args.lines);
    for entry in &page.messages[from..] {
        if args.client.json {
            if let Some(message) = past::message(&session.spot, entry) {
                print_json(&message)?;
            }
            continue;
        }
        let pieces = past::show(follow.view(), entry);
        screen.show(&pieces)?;
    }
    let is_idle = page.current_status == Some(ConversationStatus::Idle);
    if args.until_idle && is_idle {
        return Ok(ExitCode::SUCCESS);
    }
    let is_person = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let when_asked = if args.exit_when_asked {
        WhenAsked::Leave
    } else if is_person && !args.client.json {
        WhenAsked::Ask(keys::lines()?)
    } else {
        WhenAsked::Wait
    };
    let limit = args.timeout.map(Duration::from_secs);
    let turn = Turn::new(session, follow, screen, when_asked)?;
    turn.within(limit).run().await
}
