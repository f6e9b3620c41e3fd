//! `estelle host attach`: a person talks to a conversation of the host, with nothing in between.
//!
//! [`Talk`] decides what follows from what the host says and what is typed, and waits for nothing; this module is the loop
//! around it. Leaving ends nothing: the conversation goes on without us.

pub(crate) mod answer;
pub(crate) mod talk;
pub(crate) mod view;

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Args;
use estelle_host::ipc::{Client, RequestError, WireError};
use estelle_proto::ipc::Subscribe;
use estelle_proto::{ConversationId, ErrorCode, PathText, WorkspaceId};
use tokio::sync::mpsc;

use super::call;
use crate::chat::keys;
use crate::chat::piece::{Piece, Tone};
use crate::chat::printer::Printer;
use talk::{Effect, Past, Place, Talk, Writer};

/// Talk to a conversation of the host.
#[derive(Debug, Args)]
pub(super) struct AttachArgs {
    /// Which conversation. With --cwd a new one is begun if there is none of that name.
    #[arg(value_name = "CONVERSATION")]
    conversation: String,
    /// The folder in which a new conversation works.
    #[arg(long, value_name = "FOLDER")]
    cwd: Option<PathBuf>,
    /// Show the whole history, not only its end.
    #[arg(long)]
    history: bool,
}

/// Runs the subcommand.
pub(super) async fn attach(data: &Path, args: AttachArgs) -> anyhow::Result<ExitCode> {
    let id =
        ConversationId::parse(&args.conversation).context("this is no name of a conversation")?;
    let mut client = call(data).await?;
    let place = match client.status(Some(id.clone())).await {
        Ok(sessions) => {
            let session = sessions.into_iter().next();
            let session = session.context("the host does not say how the conversation is")?;
            client.ask(Subscribe::new(id.clone())).await?;
            Place {
                folder: session.working_dir,
                workspace: session.workspace_id,
                is_new: false,
            }
        }
        Err(RequestError::Refused(error)) if error.code == ErrorCode::UnknownConversation => {
            new_place(&id, args.cwd.as_deref())?
        }
        Err(error) => return Err(error.into()),
    };
    let mut printer = Printer::stdout();
    printer.show(&banner(&id, &place))?;
    let past = if args.history { Past::Whole } else { Past::End };
    let writer = if std::io::stdin().is_terminal() {
        Writer::Person
    } else {
        Writer::Pipe
    };
    let talk = Talk::new(id, place, past, writer);
    let lines = keys::lines()?;
    Loop {
        client,
        talk,
        printer,
        lines,
    }
    .run()
    .await
}

fn new_place(id: &ConversationId, cwd: Option<&Path>) -> anyhow::Result<Place> {
    let Some(folder) = cwd else {
        bail!(
            "there is no conversation {id}: `estelle host list` shows those there are; \
             to begin one, say with --cwd in which folder"
        );
    };
    let folder = std::fs::canonicalize(folder)
        .with_context(|| format!("there is no folder {}, which --cwd names", folder.display()))?;
    let text = folder
        .to_str()
        .context("the path of the folder is no text")?;
    Ok(Place {
        folder: Some(PathText::parse(text)?),
        workspace: WorkspaceId::parse("terminal").ok(),
        is_new: true,
    })
}

fn banner(id: &ConversationId, place: &Place) -> Vec<Piece> {
    let folder = place.folder.as_ref().map(|folder| format!(" in {folder}"));
    let what = if place.is_new {
        " · a new conversation"
    } else {
        " · attached"
    };
    let about = format!("{what}{}", folder.unwrap_or_default());
    vec![
        Piece::spans([(Tone::Strong, id.as_str()), (Tone::Plain, &about)]),
        Piece::line(
            Tone::Dim,
            "/help for commands · Ctrl-C stops a turn · Ctrl-D leaves, and the conversation goes on",
        ),
        Piece::Gap,
    ]
}

/// What the loop holds.
struct Loop {
    client: Client,
    talk: Talk,
    printer: Printer,
    lines: mpsc::Receiver<String>,
}

impl Loop {
    async fn run(mut self) -> anyhow::Result<ExitCode> {
        let mut interrupt =
            tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt())?;
        let mut has_lines = true;
        loop {
            if let (true, Some(prompt)) = (has_lines, self.talk.prompt()) {
                self.printer.prompt(prompt)?;
            }
            let may_read = has_lines && self.talk.wants_line();
            let effects = tokio::select! {
                biased;
                Some(()) = interrupt.recv() => {
                    self.printer.key_echoed()?;
                    self.talk.interrupted()
                }
                message = self.client.receive() => match message {
                    Ok(message) => self.talk.heard(message),
                    Err(WireError::Gone) => bail!("the host has ended; the conversation goes on when it is back"),
                    Err(error) => return Err(error.into()),
                },
                line = self.lines.recv(), if may_read => if let Some(line) = line {
                    self.printer.line_entered();
                    self.talk.typed(&line)
                } else {
                    has_lines = false;
                    self.talk.lines_over()
                },
            };
            if self.perform(effects).await? == Flow::Leave {
                return Ok(ExitCode::SUCCESS);
            }
        }
    }

    async fn perform(&mut self, effects: Vec<Effect>) -> anyhow::Result<Flow> {
        for effect in effects {
            match effect {
                Effect::Show(pieces) => self.printer.show(&pieces)?,
                Effect::Send(command) => {
                    self.client.ask(*command).await?;
                }
                Effect::Leave => return Ok(Flow::Leave),
            }
        }
        Ok(Flow::Stay)
    }
}

#[derive(PartialEq, Eq)]
enum Flow {
    Stay,
    Leave,
}
