//! `estelle rewind` and `estelle fork`: back to before a message, in the same conversation or in a new one.
//!
//! Without a number both show the messages one can go back to, and change nothing.

use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use estelle_proto::conversations::{ConversationFork, ConversationRewind};
use estelle_proto::history::HistoryText;
use estelle_proto::{HistoryMessage, IsoTime, Name, Role, Seq};

use super::failure::EXIT_CODES;
use super::past::{self, Past};
use super::print_json;
use super::session::Session;
use super::way::ClientArgs;
use crate::chat::clean;
use crate::table::Table;

/// How far back messages are looked for.
const ENTRIES: usize = 5000;

/// Go on from before one of your messages, in the same conversation.
///
/// What came after it is not deleted: it stays in the history, marked, and the agent does not know it any more. Files that
/// the agent changed stay as they are. While the agent works this is refused: stop it first.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct RewindArgs {
    #[command(flatten)]
    client: ClientArgs,
    /// The conversation, by its name, its id or the beginning of either.
    conversation: String,
    /// The number of the message; without it your messages are shown with their numbers.
    #[arg(value_name = "NUMBER")]
    before: Option<u64>,
}

/// Make a new conversation from the beginning of another one, up to one of your messages.
///
/// The old conversation stays as it is.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct ForkArgs {
    #[command(flatten)]
    client: ClientArgs,
    /// The conversation, by its name, its id or the beginning of either.
    conversation: String,
    /// The number of the first message to leave out; without it your messages are shown with their numbers.
    #[arg(value_name = "NUMBER")]
    before: Option<u64>,
    /// The name of the new conversation.
    #[arg(long, requires = "before")]
    name: Option<String>,
}

pub(super) async fn rewind(args: &RewindArgs) -> anyhow::Result<ExitCode> {
    let mut session = Session::find(&args.client, &args.conversation).await?;
    let Some(before) = args.before else {
        return show_messages(&mut session, &args.client, "rewind", &args.conversation).await;
    };
    let (workspace, conversation) = (&session.spot.workspace, &session.spot.conversation);
    let request = ConversationRewind::new(workspace.clone(), conversation.clone(), Seq(before));
    let result = session.ask(request).await?;
    if args.client.json {
        print_json(&result)?;
    } else {
        let title = clean::line(&session.spot.title).into_owned();
        anstream::println!("Rewound to before message {before}: {title}");
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn fork(args: &ForkArgs) -> anyhow::Result<ExitCode> {
    let mut session = Session::find(&args.client, &args.conversation).await?;
    let Some(before) = args.before else {
        return show_messages(&mut session, &args.client, "fork", &args.conversation).await;
    };
    let name = args.name.as_deref().map(Name::parse);
    let (workspace, conversation) = (&session.spot.workspace, &session.spot.conversation);
    let request = ConversationFork {
        name: name.transpose().context("the name")?,
        ..ConversationFork::new(workspace.clone(), conversation.clone(), Seq(before))
    };
    let made = session.ask(request).await?;
    if args.client.json {
        print_json(&made)?;
        return Ok(ExitCode::SUCCESS);
    }
    let made = made
        .conversation
        .context("the machine did not say what it made")?;
    anstream::println!("{}", made.conversation_id);
    Ok(ExitCode::SUCCESS)
}

async fn show_messages(
    session: &mut Session,
    client: &ClientArgs,
    command: &str,
    conversation: &str,
) -> anyhow::Result<ExitCode> {
    let past = past::read(session, ENTRIES, None).await?;
    let messages: Vec<_> = past.entries.iter().filter_map(by_a_person).collect();
    if client.json {
        for (entry, _) in messages {
            print_json(&past.marked(entry)?)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    if messages.is_empty() {
        anstream::println!("Nothing was said in this conversation yet.");
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::default();
    table.row(["NUMBER", "WHEN", "MESSAGE"].map(str::to_owned));
    for (_, text) in messages {
        table.row(cells(&past, text));
    }
    anstream::print!("{table}");
    let conversation = clean::line(conversation);
    anstream::println!(
        "\nestelle {command} '{conversation}' NUMBER goes back to before one of them."
    );
    Ok(ExitCode::SUCCESS)
}

/// An entry that a person wrote, with what it says.
fn by_a_person(entry: &HistoryMessage) -> Option<(&HistoryMessage, &HistoryText)> {
    let HistoryMessage::Text(text) = entry else {
        return None;
    };
    let is_it = text.role == Role::User && text.parent_tool_use_id.is_none();
    is_it.then_some((entry, text))
}

fn cells(past: &Past, text: &HistoryText) -> [String; 3] {
    let number = text.seq.map_or_else(String::new, |seq| seq.to_string());
    let when = IsoTime::from(text.timestamp);
    let minute = when.as_str().get(..16).unwrap_or_default();
    let is_rewound = text.seq.is_some_and(|seq| past.is_rewound(seq));
    let mark = if is_rewound { "(rewound) " } else { "" };
    let first = text.content.lines().next().unwrap_or_default();
    [number, minute.replace('T', " "), format!("{mark}{first}")]
}
