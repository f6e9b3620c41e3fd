//! `estelle continue`: whether a conversation goes on by itself when the plan allows it again.

use std::process::ExitCode;

use clap::{Args, ValueEnum};
use estelle_proto::IsoTime;
use estelle_proto::continuation::ContinuationSet;

use super::failure::EXIT_CODES;
use super::print_json;
use super::session::Session;
use super::way::ClientArgs;

/// Let a conversation go on by itself when a limit of the plan is reset; without a word, show how it is.
///
/// A turn that fails because the plan is used up is then continued once, shortly after the reset. A message of yours before
/// that takes its place.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct ContinueArgs {
    #[command(flatten)]
    client: ClientArgs,
    /// The conversation, by its name, its id or the beginning of either.
    conversation: String,
    /// What to do.
    wish: Option<Wish>,
}

/// What a person may want.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Wish {
    /// Go on by itself from now on.
    On,
    /// Do not, and take back what waits.
    Off,
    /// Take back what waits, once.
    Cancel,
}

pub(super) async fn run(args: &ContinueArgs) -> anyhow::Result<ExitCode> {
    let mut session = Session::find(&args.client, &args.conversation).await?;
    let (workspace, conversation) = (&session.spot.workspace, &session.spot.conversation);
    let request = ContinuationSet {
        enabled: match args.wish {
            Some(Wish::On) => Some(true),
            Some(Wish::Off) => Some(false),
            Some(Wish::Cancel) | None => None,
        },
        cancel: (args.wish == Some(Wish::Cancel)).then_some(true),
        ..ContinuationSet::new(workspace.clone(), conversation.clone())
    };
    let now = session.ask(request).await?;
    if args.client.json {
        print_json(&now)?;
        return Ok(ExitCode::SUCCESS);
    }
    match (now.at, now.enabled) {
        (Some(at), _) => anstream::println!("goes on by itself at {}", IsoTime::from(at)),
        (None, true) => anstream::println!("on: goes on by itself when a limit is reset"),
        (None, false) => anstream::println!("off: waits for you when a limit is reached"),
    }
    if let Some(failure) = &now.failure {
        anstream::println!("last time it did not go on: {failure}");
    }
    Ok(ExitCode::SUCCESS)
}
