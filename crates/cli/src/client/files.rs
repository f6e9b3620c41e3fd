//! `estelle files`: what is in the folder of a workspace, and what is in one of its files.

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use data_encoding::BASE64;
use estelle_proto::files::{FileEncoding, FileEntry, FileKind, FileList, FileRead};
use estelle_proto::{ConversationId, DeviceId, IsoTime, PathText, WorkspaceId};

use super::failure::{EXIT_CODES, Failure};
use super::fleet::Fleet;
use super::link::Link;
use super::print_json;
use super::way::ClientArgs;
use crate::chat::clean;
use crate::table::Table;

/// List a folder of a workspace, or show one of its files.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct FilesArgs {
    #[command(flatten)]
    client: ClientArgs,
    /// The workspace or conversation, by its name, its id or the beginning of either.
    place: String,
    /// A path in its folder; the whole folder if nothing is said.
    path: Option<String>,
    /// Print the file instead of listing a folder.
    #[arg(long, requires = "path")]
    show: bool,
}

/// A folder of a machine, as a person named it.
pub(super) struct Folder {
    pub(super) pylon: DeviceId,
    pub(super) workspace: WorkspaceId,
    pub(super) conversation: Option<ConversationId>,
}

impl Folder {
    /// The folder that is meant: a workspace's, or a conversation's.
    pub(super) fn find(fleet: &Fleet, text: &str) -> Result<Self, Failure> {
        let missing = match fleet.workspace(text) {
            Ok(home) => {
                return Ok(Self {
                    pylon: home.pylon,
                    workspace: home.workspace,
                    conversation: None,
                });
            }
            Err(failure @ Failure::Missing { .. }) => failure,
            Err(failure) => return Err(failure),
        };
        match fleet.conversation(text) {
            Ok(spot) => Ok(Self {
                pylon: spot.pylon,
                workspace: spot.workspace,
                conversation: Some(spot.conversation),
            }),
            Err(Failure::Missing { .. }) => Err(missing),
            Err(failure) => Err(failure),
        }
    }
}

/// A path that was typed.
pub(super) fn typed(path: Option<&str>) -> anyhow::Result<Option<PathText>> {
    let path = path.filter(|path| *path != "." && *path != "./");
    path.map(|path| PathText::parse(path).context("the path"))
        .transpose()
}

pub(super) async fn run(args: &FilesArgs) -> anyhow::Result<ExitCode> {
    let path = typed(args.path.as_deref())?;
    let (mut link, fleet) = Fleet::reach(&args.client).await?;
    let folder = Folder::find(&fleet, &args.place)?;
    match path {
        Some(path) if args.show => show(&mut link, &folder, path, args).await?,
        path => list(&mut link, &folder, path, args).await?,
    }
    Ok(ExitCode::SUCCESS)
}

async fn list(
    link: &mut Link,
    folder: &Folder,
    path: Option<PathText>,
    args: &FilesArgs,
) -> anyhow::Result<()> {
    let mut table = Table::default();
    let (mut cursor, mut is_cut) = (None, false);
    let unnamed = loop {
        let request = FileList {
            conversation_id: folder.conversation.clone(),
            path: path.clone(),
            cursor,
            ..FileList::new(folder.workspace.clone())
        };
        let page = link.ask(folder.pylon, request).await?;
        for entry in &page.entries {
            if args.client.json {
                print_json(entry)?;
            } else {
                table.row(cells(entry));
            }
        }
        is_cut |= page.truncated == Some(true);
        cursor = page.next_cursor;
        if cursor.is_none() {
            break page.unnamed.unwrap_or(0);
        }
    };
    if args.client.json {
        return Ok(());
    }
    if unnamed > 0 {
        table.note(&format!("and {unnamed} whose names are no text"));
    }
    if is_cut {
        table.note("and more than are looked at");
    }
    anstream::print!("{table}");
    Ok(())
}

fn cells(entry: &FileEntry) -> [String; 3] {
    let changed = entry.modified_at.map(IsoTime::from);
    let changed = changed.as_ref().and_then(|at| at.as_str().get(..16));
    let mark = match (&entry.kind, &entry.target_kind) {
        (FileKind::Folder, _) => "/",
        (FileKind::Link, Some(FileKind::Folder)) => " → folder",
        (FileKind::Link, Some(_)) => " → file",
        (FileKind::Link, None) => " → nothing in this folder",
        (FileKind::File, _) => "",
        (FileKind::Other | FileKind::Unknown(_), _) => " (no file)",
    };
    [
        entry.size.map(|size| size.to_string()).unwrap_or_default(),
        changed.unwrap_or_default().replace('T', " "),
        format!("{}{mark}", entry.name),
    ]
}

/// Prints a file: as it is into a pipe, harmless to a terminal.
async fn show(
    link: &mut Link,
    folder: &Folder,
    path: PathText,
    args: &FilesArgs,
) -> anyhow::Result<()> {
    let is_terminal = std::io::stdout().is_terminal();
    let is_raw = !is_terminal && !args.client.json;
    let mut offset = 0;
    loop {
        let request = FileRead {
            conversation_id: folder.conversation.clone(),
            offset: Some(offset),
            encoding: is_raw.then_some(FileEncoding::Base64),
            ..FileRead::new(folder.workspace.clone(), path.clone())
        };
        let chunk = link.ask(folder.pylon, request).await?;
        let content = chunk.content.clone().unwrap_or_default();
        let mut out = std::io::stdout().lock();
        if args.client.json {
            drop(out);
            print_json(&chunk)?;
        } else if is_raw {
            let bytes = BASE64.decode(content.as_bytes());
            out.write_all(&bytes.context("the machine sent no Base64")?)?;
        } else if chunk.binary == Some(true) {
            let size = chunk.size.unwrap_or(0);
            writeln!(
                out,
                "{size} bytes that are no text; send them into a file with >"
            )?;
        } else {
            out.write_all(clean::text(&content).as_bytes())?;
        }
        match chunk.next_offset {
            Some(next) => offset = next,
            None => return Ok(()),
        }
    }
}
