//! `estelle sessions`: what Claude Code has saved for a folder, also without Estelle: list, show, go on.

use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use estelle_proto::history::HistoryMessage;
use estelle_proto::saved::{SavedContinue, SavedList, SavedRead, SavedSession};
use estelle_proto::{ClaudeSessionId, IsoTime, Name, Role};

use super::failure::{EXIT_CODES, Failure};
use super::fleet::{Fleet, Home};
use super::link::Link;
use super::print_json;
use super::way::ClientArgs;
use crate::chat::clean;
use crate::table::Table;

/// List the sessions that Claude Code has saved for the folder of a workspace, show one, or go on from a copy of it.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct SessionsArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List what was saved, newest first.
    List(Where),
    /// Show what was said in a session.
    Show(One),
    /// Make a conversation that goes on from a copy of a session.
    Continue(ContinueArgs),
}

#[derive(Debug, Args)]
struct Where {
    #[command(flatten)]
    client: ClientArgs,
    /// The workspace, by its name, its id or the beginning of either.
    workspace: String,
}

#[derive(Debug, Args)]
struct One {
    #[command(flatten)]
    place: Where,
    /// The session, by its id or the beginning of it.
    session: String,
}

#[derive(Debug, Args)]
struct ContinueArgs {
    #[command(flatten)]
    one: One,
    /// The name of the conversation; the title of the session if nothing is said.
    #[arg(long)]
    name: Option<String>,
}

pub(super) async fn run(args: &SessionsArgs) -> anyhow::Result<ExitCode> {
    match &args.what {
        What::List(place) => list(place).await?,
        What::Show(one) => show(one).await?,
        What::Continue(args) => go_on(args).await?,
    }
    Ok(ExitCode::SUCCESS)
}

impl Where {
    async fn find(&self) -> anyhow::Result<(Link, Home)> {
        let (link, fleet) = Fleet::reach(&self.client).await?;
        let home = fleet.workspace(&self.workspace)?;
        Ok((link, home))
    }
}

async fn gather(link: &mut Link, home: &Home) -> anyhow::Result<Vec<SavedSession>> {
    let (mut all, mut offset) = (Vec::new(), None);
    loop {
        let request = SavedList {
            offset,
            ..SavedList::new(home.workspace.clone())
        };
        let page = link.ask(home.pylon, request).await?;
        all.extend(page.sessions);
        offset = page.next_offset;
        if offset.is_none() {
            return Ok(all);
        }
    }
}

async fn list(place: &Where) -> anyhow::Result<()> {
    let (mut link, home) = place.find().await?;
    let all = gather(&mut link, &home).await?;
    if place.client.json {
        return all.iter().try_for_each(print_json);
    }
    let mut table = Table::default();
    for one in &all {
        let at = IsoTime::from(one.updated_at).to_string();
        let at = at.get(..16).unwrap_or_default().replace('T', " ");
        let owner = if one.conversation_id.is_some() {
            "Estelle"
        } else {
            ""
        };
        let id = one.claude_session_id.as_str();
        table.row([
            id.get(..8).unwrap_or(id).to_owned(),
            at,
            owner.to_owned(),
            one.title.clone().unwrap_or_default(),
        ]);
    }
    if all.is_empty() {
        table.note("Claude Code has saved no sessions for this folder.");
    }
    anstream::print!("{table}");
    Ok(())
}

/// The session that is meant.
async fn pick(link: &mut Link, home: &Home, text: &str) -> anyhow::Result<ClaudeSessionId> {
    let all = gather(link, home).await?;
    let fits = |one: &&SavedSession| one.claude_session_id.as_str().starts_with(text);
    let mut found = all.iter().filter(fits);
    match (found.next(), found.next()) {
        (Some(one), None) if !text.is_empty() => Ok(one.claude_session_id.clone()),
        (None, _) => Err(Failure::missing(format!(
            "there is no session `{text}`: `estelle sessions list` shows what there is"
        ))
        .into()),
        _ => Err(Failure::Ambiguous {
            said: format!("several sessions may be meant by `{text}`: say more of the id"),
        }
        .into()),
    }
}

async fn show(one: &One) -> anyhow::Result<()> {
    let (mut link, home) = one.place.find().await?;
    let session = pick(&mut link, &home, &one.session).await?;
    let mut offset = None;
    loop {
        let request = SavedRead {
            offset,
            ..SavedRead::new(home.workspace.clone(), session.clone())
        };
        let page = link.ask(home.pylon, request).await?;
        for entry in &page.messages {
            if one.place.client.json {
                print_json(entry)?;
            } else if let Some(text) = told(entry) {
                anstream::println!("{}", clean::text(&text));
            }
        }
        offset = page.next_offset;
        if offset.is_none() {
            return Ok(());
        }
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "other entries are not made of what is saved"
)]
fn told(entry: &HistoryMessage) -> Option<String> {
    match entry {
        HistoryMessage::Text(text) => {
            let mark = if text.role == Role::User { "> " } else { "" };
            Some(format!("{mark}{}", text.content))
        }
        HistoryMessage::ToolStart(start) => Some(format!("[{}]", start.tool_name)),
        _ => None,
    }
}

async fn go_on(args: &ContinueArgs) -> anyhow::Result<()> {
    let name = args.name.as_deref().map(Name::parse).transpose();
    let name = name.context("the name")?;
    let (mut link, home) = args.one.place.find().await?;
    let session = pick(&mut link, &home, &args.one.session).await?;
    let request = SavedContinue {
        name,
        ..SavedContinue::new(home.workspace.clone(), session)
    };
    let made = link.ask(home.pylon, request).await?;
    if args.one.place.client.json {
        return print_json(&made);
    }
    let made = made.conversation.context("the machine did not say which")?;
    anstream::println!("{}", made.conversation_id);
    Ok(())
}
