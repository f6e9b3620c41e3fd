//! `estelle worktrees`: the working trees of conversations: list, merge, remove.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use estelle_proto::DeviceId;
use estelle_proto::worktrees::{
    Worktree, WorktreeList, WorktreeMerge, WorktreeRemove, WorktreeState,
};

use super::failure::{EXIT_CODES, Failure};
use super::fleet::Fleet;
use super::link::Link;
use super::print_json;
use super::way::ClientArgs;
use crate::table::Table;

/// List the worktrees of conversations, merge them, or remove them.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct WorktreesArgs {
    #[command(flatten)]
    client: ClientArgs,
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Merge the branch of a worktree into the one it began from.
    Merge {
        /// The branch or conversation, by its name or the beginning of its id.
        name: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Remove a worktree; a branch with commits that are merged nowhere stays.
    Remove {
        /// The branch or conversation, by its name or the beginning of its id.
        name: String,
        /// Also if changes in it are in no commit.
        #[arg(long)]
        discard: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

/// A worktree, where it is, and the name of its conversation.
struct Found {
    pylon: DeviceId,
    name: Option<String>,
    worktree: Worktree,
}

pub(super) async fn run(args: &WorktreesArgs) -> anyhow::Result<ExitCode> {
    let (mut link, fleet) = Fleet::reach(&args.client).await?;
    let all = gather(&mut link, &fleet).await?;
    match &args.what {
        None => show(&all, args)?,
        Some(What::Merge { name, json }) => {
            let is_json = args.client.json || *json;
            merge(&mut link, pick(&all, name)?, is_json).await?;
        }
        Some(What::Remove {
            name,
            discard,
            json,
        }) => {
            let is_json = args.client.json || *json;
            remove(&mut link, pick(&all, name)?, *discard, is_json).await?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn gather(link: &mut Link, fleet: &Fleet) -> anyhow::Result<Vec<Found>> {
    let mut all = Vec::new();
    for machine in &fleet.machines {
        let mut cursor = None;
        loop {
            let request = WorktreeList {
                cursor,
                ..WorktreeList::default()
            };
            let page = link.ask(machine.id, request).await?;
            all.extend(page.worktrees.into_iter().map(|worktree| {
                let id = &worktree.conversation_id;
                let mut known = fleet.conversations();
                let known = known.find(|(_, _, one)| one.conversation_id == *id);
                Found {
                    pylon: machine.id,
                    name: known.map(|(_, home, one)| format!("{}/{}", home.name, one.name)),
                    worktree,
                }
            }));
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
    }
    Ok(all)
}

/// The worktree that is meant.
fn pick<'a>(all: &'a [Found], text: &str) -> Result<&'a Found, Failure> {
    let fits = |found: &&Found| {
        let title = found.name.as_deref().unwrap_or_default();
        let name = title.rsplit('/').next().unwrap_or_default();
        let id = found.worktree.conversation_id.as_str();
        found.worktree.branch == text || title == text || name == text || id.starts_with(text)
    };
    let mut found = all.iter().filter(fits);
    match (found.next(), found.next()) {
        (Some(one), None) if !text.is_empty() => Ok(one),
        (None, _) => Err(Failure::missing(format!(
            "there is no worktree `{text}`: `estelle worktrees` shows what there is"
        ))),
        _ => Err(Failure::Ambiguous {
            said: format!("several worktrees may be meant by `{text}`: name one by its branch"),
        }),
    }
}

fn show(all: &[Found], args: &WorktreesArgs) -> anyhow::Result<()> {
    if args.client.json {
        return all.iter().try_for_each(|found| print_json(&found.worktree));
    }
    let mut table = Table::default();
    for found in all {
        let one = &found.worktree;
        let name = found.name.as_deref().unwrap_or("(conversation deleted)");
        table.row([
            one.branch.clone(),
            name.to_owned(),
            state(one),
            one.disk_bytes.map(size).unwrap_or_default(),
            one.path.to_string(),
        ]);
    }
    if all.is_empty() {
        table.note("No worktrees: estelle new conversation NAME --in WORKSPACE --worktree");
    }
    anstream::print!("{table}");
    Ok(())
}

fn state(one: &Worktree) -> String {
    if one.state != WorktreeState::Ready {
        return one.state.as_str().to_owned();
    }
    if let Some(problem) = &one.problem {
        return problem.clone();
    }
    let count = |number: Option<u64>| number.unwrap_or(0);
    let some = |number: u64, what: &str| {
        let text = format!(", {number} {what}");
        if number > 0 { text } else { String::new() }
    };
    let elsewhere = match one.detached {
        Some(true) => ", another branch checked out",
        Some(false) | None => "",
    };
    format!(
        "{} ahead{} +{} -{}{}{elsewhere}",
        count(one.ahead),
        some(count(one.behind), "behind"),
        count(one.insertions),
        count(one.deletions),
        some(count(one.uncommitted), "uncommitted"),
    )
}

/// Bytes, roughly.
fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{} KiB", bytes / 1024),
        1_048_576..1_073_741_824 => format!("{} MiB", bytes / 1_048_576),
        _ => format!("{} GiB", bytes / 1_073_741_824),
    }
}

async fn merge(link: &mut Link, found: &Found, is_json: bool) -> anyhow::Result<()> {
    let one = &found.worktree;
    let request = WorktreeMerge::new(one.workspace_id.clone(), one.conversation_id.clone());
    let merged = link.ask(found.pylon, request).await?;
    if is_json {
        return print_json(&merged);
    }
    let into = one.base_branch.as_deref().unwrap_or("its base");
    match merged.commits {
        Some(0) | None => anstream::println!("{into} has everything of {} already", one.branch),
        Some(commits) => anstream::println!("{commits} commits of {} are in {into}", one.branch),
    }
    Ok(())
}

async fn remove(
    link: &mut Link,
    found: &Found,
    discard: bool,
    is_json: bool,
) -> anyhow::Result<()> {
    let one = &found.worktree;
    let request = WorktreeRemove {
        discard: discard.then_some(true),
        ..WorktreeRemove::new(one.workspace_id.clone(), one.conversation_id.clone())
    };
    let removed = link.ask(found.pylon, request).await?;
    if is_json {
        return print_json(&removed);
    }
    anstream::println!("{} is removed", one.path);
    for branch in removed.kept_branches.unwrap_or_default() {
        anstream::println!("the branch {branch} stays: its commits are merged nowhere");
    }
    Ok(())
}
