//! `estelle new`: a workspace in a folder, or a conversation in a workspace.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use estelle_proto::conversations::ConversationCreate;
use estelle_proto::workspaces::WorkspaceCreate;
use estelle_proto::worktrees::WorktreeWish;
use estelle_proto::{Name, PathText, PermissionMode, SkillType};

use super::fleet::Fleet;
use super::print_json;
use super::way::ClientArgs;

/// Make a workspace or a conversation, and print its id.
#[derive(Debug, Args)]
pub(crate) struct NewArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// A workspace for a folder of the machine, with a first conversation.
    Workspace(WorkspaceArgs),
    /// A conversation in a workspace.
    Conversation(ConversationArgs),
}

#[derive(Debug, Args)]
struct WorkspaceArgs {
    #[command(flatten)]
    client: ClientArgs,
    /// Its name; that of the folder if nothing is said.
    name: Option<String>,
    /// The folder on the machine in which the agent works; the current one if nothing is said.
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct ConversationArgs {
    #[command(flatten)]
    client: ClientArgs,
    /// Its name.
    name: String,
    /// The workspace, by its name, its folder, its id or the beginning of one of them.
    #[arg(long = "in", value_name = "WORKSPACE")]
    workspace: String,
    /// What it is for.
    #[arg(long = "type", value_name = "TYPE", value_parser = ["general", "planner", "worker"], default_value = "general")]
    skill: String,
    /// Its model.
    #[arg(long)]
    model: Option<String>,
    /// When to ask.
    #[arg(long, value_name = "MODE", value_parser = ["default", "acceptEdits", "bypassPermissions", "plan"])]
    mode: Option<String>,
    /// Let it work in a git worktree of its own.
    #[arg(long)]
    worktree: bool,
    /// The new branch of the worktree; one named after the conversation if nothing is said.
    #[arg(long, requires = "worktree")]
    branch: Option<String>,
    /// The commit or branch from which the worktree begins; what is checked out if nothing is said.
    #[arg(long, value_name = "COMMIT", requires = "worktree")]
    base: Option<String>,
}

pub(super) async fn run(args: &NewArgs) -> anyhow::Result<ExitCode> {
    match &args.what {
        What::Workspace(args) => workspace(args).await,
        What::Conversation(args) => conversation(args).await,
    }
}

async fn workspace(args: &WorkspaceArgs) -> anyhow::Result<ExitCode> {
    // The folder is the machine's: it need not exist here, but a relative one can only mean this machine.
    let folder = match &args.folder {
        Some(folder) => std::path::absolute(folder)?,
        None => std::env::current_dir().context("failed to find the current folder")?,
    };
    let text = folder
        .to_str()
        .context("the path of the folder is no text")?;
    let name = match &args.name {
        Some(name) => name.clone(),
        None => name_of(&folder),
    };
    let name = Name::parse(&name).context("the name")?;
    let (mut link, fleet) = Fleet::reach(&args.client).await?;
    let request = WorkspaceCreate::new(name, PathText::parse(text)?);
    let made = link.ask(fleet.one()?.id, request).await?;
    if args.client.json {
        print_json(&made)?;
        return Ok(ExitCode::SUCCESS);
    }
    let conversation = made
        .conversation
        .context("the machine did not say what it made")?;
    anstream::println!("{}", conversation.conversation_id);
    Ok(ExitCode::SUCCESS)
}

fn name_of(folder: &Path) -> String {
    let name = folder.file_name().unwrap_or(folder.as_os_str());
    name.to_string_lossy().into_owned()
}

async fn conversation(args: &ConversationArgs) -> anyhow::Result<ExitCode> {
    let name = Name::parse(&args.name).context("the name")?;
    let (mut link, fleet) = Fleet::reach(&args.client).await?;
    let home = fleet.workspace(&args.workspace)?;
    let skill = SkillType::from(args.skill.as_str());
    let request = ConversationCreate {
        model: args.model.clone(),
        permission_mode: args.mode.as_deref().map(PermissionMode::from),
        worktree: args.worktree.then(|| WorktreeWish {
            branch: args.branch.clone(),
            base: args.base.clone(),
        }),
        ..ConversationCreate::new(home.workspace, name, skill)
    };
    let made = link.ask(home.pylon, request).await?;
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
