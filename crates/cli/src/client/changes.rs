//! `estelle diff`: what is not committed in the folder of a workspace.

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;

use clap::Args;
use estelle_proto::changes::{ChangedFile, ChangesRequest, ChangesResult, DiffRequest, Since};
use estelle_proto::{ErrorCode, PathText};

use super::failure::{EXIT_CODES, Failure};
use super::files::{Folder, typed};
use super::fleet::Fleet;
use super::link::Link;
use super::print_json;
use super::way::ClientArgs;
use crate::chat::clean;
use crate::table::Table;

/// How often a diff is begun again that changes while it is read.
const TRIES: u32 = 5;

/// Show what is not committed in the folder of a workspace.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct DiffArgs {
    #[command(flatten)]
    client: ClientArgs,
    /// The workspace or conversation, by its name, its id or the beginning of either.
    place: String,
    /// Only this file or folder.
    path: Option<String>,
    /// Compare with the branch that the worktree of the conversation began from, instead of with the last commit: what merging
    /// it would bring.
    #[arg(long)]
    base: bool,
    /// Only the names of the files, with the lines that came and went.
    #[arg(long, conflicts_with = "path")]
    stat: bool,
}

pub(super) async fn run(args: &DiffArgs) -> anyhow::Result<ExitCode> {
    let path = typed(args.path.as_deref())?;
    let since = args.base.then_some(Since::Base);
    let (mut link, fleet) = Fleet::reach(&args.client).await?;
    let folder = Folder::find(&fleet, &args.place)?;
    if args.stat || args.client.json {
        let (head, files) = changes(&mut link, &folder, since.clone()).await?;
        if args.client.json {
            print_json(&ChangesResult { files, ..head })?;
        } else {
            anstream::print!("{}", summary(&head, &files));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let mut tries = TRIES;
    let text = loop {
        match diff(&mut link, &folder, path.as_ref(), since.clone()).await {
            // Somebody works there: what was read belongs to nothing any more.
            Err(error) if tries > 0 && is_stale(&error) => tries -= 1,
            other => break other?,
        }
    };
    let mut out = std::io::stdout().lock();
    if std::io::stdout().is_terminal() {
        out.write_all(clean::text(&text).as_bytes())?;
    } else {
        out.write_all(text.as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn is_stale(error: &anyhow::Error) -> bool {
    let refused = error.downcast_ref::<Failure>();
    matches!(refused, Some(Failure::Refused(error)) if error.code == ErrorCode::StaleCursor)
}

async fn diff(
    link: &mut Link,
    folder: &Folder,
    path: Option<&PathText>,
    since: Option<Since>,
) -> anyhow::Result<String> {
    let (mut text, mut offset, mut digest) = (String::new(), None, None);
    loop {
        let request = DiffRequest {
            conversation_id: folder.conversation.clone(),
            path: path.cloned(),
            offset,
            digest,
            since: since.clone(),
            ..DiffRequest::new(folder.workspace.clone())
        };
        let chunk = link.ask(folder.pylon, request).await?;
        text.push_str(chunk.diff.as_deref().unwrap_or_default());
        (offset, digest) = (chunk.next_offset, chunk.digest);
        if offset.is_some() {
            continue;
        }
        if let Some(withheld) = chunk.withheld {
            anstream::eprintln!("{withheld} files are left out because they may hold secrets");
        }
        if chunk.truncated == Some(true) {
            anstream::eprintln!("the diff is larger than is shown: name a file or a folder");
        }
        return Ok(text);
    }
}

/// All files that differ, and what is said about all of them.
async fn changes(
    link: &mut Link,
    folder: &Folder,
    since: Option<Since>,
) -> anyhow::Result<(ChangesResult, Vec<ChangedFile>)> {
    let mut files: Vec<ChangedFile> = Vec::new();
    loop {
        let request = ChangesRequest {
            conversation_id: folder.conversation.clone(),
            offset: Some(u32::try_from(files.len()).unwrap_or(u32::MAX)),
            since: since.clone(),
            ..ChangesRequest::new(folder.workspace.clone())
        };
        let mut page = link.ask(folder.pylon, request).await?;
        let new = std::mem::take(&mut page.files);
        let is_over = new.is_empty();
        files.extend(new);
        if is_over || files.len() as u64 >= page.total.unwrap_or(0) {
            return Ok((page, files));
        }
    }
}

fn summary(head: &ChangesResult, files: &[ChangedFile]) -> String {
    let mut table = Table::default();
    let branch = head.branch.as_deref().unwrap_or("no branch");
    table.note(&match (head.ahead, head.behind) {
        (Some(ahead), Some(behind)) => format!("{branch} · {ahead} ahead, {behind} behind"),
        _ => branch.to_owned(),
    });
    for file in files {
        let count = |mark: char, lines: Option<u64>| {
            lines
                .map(|lines| format!("{mark}{lines}"))
                .unwrap_or_default()
        };
        let name = match &file.old_path {
            Some(old) => format!("{old} → {}", file.path),
            None => file.path.to_string(),
        };
        table.row([
            format!("  {}", file.kind.as_str()),
            count('+', file.insertions),
            count('-', file.deletions),
            name,
        ]);
    }
    if files.is_empty() {
        table.note("Nothing differs from the last commit.");
    }
    if head.truncated == Some(true) {
        table.note("and more than are looked at");
    }
    table.to_string()
}
