//! `estelle tasks`: the tasks of a workspace, and the worker that carries them out.

use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use estelle_proto::tasks::{
    TaskCreate, TaskGet, TaskList, TaskListResult, TaskStatusChange, WorkerStart,
    WorkerStatusRequest, WorkerStop,
};
use estelle_proto::workspaces::{TaskStatus, TaskSummary, WorkerStatus};
use estelle_proto::{Name, TaskId, TaskText};

use super::failure::EXIT_CODES;
use super::fleet::{Fleet, Home};
use super::link::Link;
use super::print_json;
use super::speak::read_all;
use super::way::ClientArgs;
use crate::chat::clean;
use crate::table::Table;

/// List, read and write the tasks of a workspace, and have them carried out.
///
/// Tasks are Markdown files in the folder `task` of the workspace. Its worker carries out those that wait, one after another,
/// in a conversation of its own.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct TasksArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List the tasks, newest first.
    #[command(visible_alias = "ls")]
    List(Where),
    /// Show one task with its text.
    Show(ShowArgs),
    /// Write a new task, and print its id.
    Add(AddArgs),
    /// Say how far a task is.
    Status(StatusArgs),
    /// Let the worker carry out the tasks that wait.
    Start(StartArgs),
    /// Let a worker go on that was stopped, or that rests.
    Continue(StartArgs),
    /// Stop the worker; the task it is at waits again.
    Stop(StopArgs),
    /// Show what the worker does.
    Worker(Where),
}

#[derive(Debug, Args)]
struct StartArgs {
    #[command(flatten)]
    place: Where,
    /// Give each task a git worktree and a conversation of its own from now on, unless its file says otherwise.
    #[arg(long, conflicts_with = "no_worktrees")]
    worktrees: bool,
    /// Carry tasks out in the folder of the workspace again.
    #[arg(long)]
    no_worktrees: bool,
}

#[derive(Debug, Args)]
struct StopArgs {
    #[command(flatten)]
    place: Where,
    /// Let it finish the task it is at.
    #[arg(long)]
    after_task: bool,
}

#[derive(Debug, Args)]
struct Where {
    #[command(flatten)]
    client: ClientArgs,
    /// The workspace, by its name, its folder, its id or the beginning of one of them; that of the current folder, or
    /// the only one, if nothing is said.
    #[arg(long = "in", value_name = "WORKSPACE")]
    workspace: Option<String>,
}

#[derive(Debug, Args)]
struct ShowArgs {
    #[command(flatten)]
    place: Where,
    /// The task, by its id or the name of its file.
    task: String,
}

#[derive(Debug, Args)]
struct AddArgs {
    #[command(flatten)]
    place: Where,
    /// Its title.
    title: String,
    /// What is to be done, in Markdown; `-` reads it from standard input.
    text: String,
    /// Warn when this many US dollars are spent on it.
    #[arg(long, value_name = "USD")]
    soft: Option<f64>,
    /// Stop it when this many US dollars are spent on it.
    #[arg(long, value_name = "USD")]
    hard: Option<f64>,
}

#[derive(Debug, Args)]
struct StatusArgs {
    #[command(flatten)]
    place: Where,
    /// The task, by its id or the name of its file.
    task: String,
    /// How far it is.
    #[arg(value_parser = ["pending", "running", "done", "failed"])]
    status: String,
    /// Why it failed.
    #[arg(long, value_name = "TEXT")]
    error: Option<String>,
}

impl Where {
    /// The machine and the workspace.
    async fn find(&self) -> anyhow::Result<(Link, Home)> {
        let (link, fleet) = Fleet::reach(&self.client).await?;
        let home = match &self.workspace {
            Some(named) => fleet.workspace(named)?,
            None => fleet.workspace_at(std::env::current_dir().ok().as_deref())?,
        };
        Ok((link, home))
    }
}

pub(super) async fn run(args: &TasksArgs) -> anyhow::Result<ExitCode> {
    match &args.what {
        What::List(place) => list(place).await,
        What::Show(args) => show(args).await,
        What::Add(args) => add(args).await,
        What::Status(args) => set_status(args).await,
        What::Start(args) | What::Continue(args) => start(args).await,
        What::Stop(args) => stop(args).await,
        What::Worker(place) => worker(place).await,
    }
}

async fn list(place: &Where) -> anyhow::Result<ExitCode> {
    let (mut link, home) = place.find().await?;
    let listed = link.ask(home.pylon, TaskList::new(home.workspace)).await?;
    if place.client.json {
        print_json(&listed)?;
    } else {
        anstream::print!("{}", to_text(&listed));
    }
    Ok(ExitCode::SUCCESS)
}

fn to_text(listed: &TaskListResult) -> String {
    if listed.tasks.is_empty() {
        return "There are no tasks: estelle tasks add TITLE TEXT writes one.\n".to_owned();
    }
    let mut table = Table::default();
    table.row(["TASK", "STATUS", "TITLE"].map(str::to_owned));
    for task in &listed.tasks {
        let status = match task.problem {
            Some(_) => "broken".to_owned(),
            None => task.status.to_string(),
        };
        table.row([task.id.clone(), status, task.title.clone()]);
        if let Some(why) = why(task) {
            table.note(&format!("    {why}"));
        }
    }
    if listed.truncated == Some(true) {
        table.note("There are more, which are older.");
    }
    if let Some(status) = &listed.worker_status {
        table.note("");
        table.note(&told(status));
    }
    table.to_string()
}

/// What the worker does, in a line.
fn told(status: &WorkerStatus) -> String {
    let waiting = status.queue.as_ref().map_or(0, |queue| queue.pending);
    let task = status.current_task.as_ref().map(|task| &task.title);
    match (&status.rest, task) {
        (Some(rest), _) => {
            let until = rest.until.as_ref();
            let until = until.map_or_else(String::new, |until| format!(" until {until}"));
            format!(
                "The worker rests{until} ({}): {}. `estelle tasks continue` does not wait.",
                rest.cause, rest.message
            )
        }
        (None, Some(title)) if status.on == Some(false) => {
            format!("The worker stops after: {title}. Waiting: {waiting}.")
        }
        (None, Some(title)) => format!("The worker is at: {title}. Waiting: {waiting}."),
        (None, None) => format!("The worker is off. Waiting: {waiting}."),
    }
}

fn show_worker(place: &Where, status: Option<&WorkerStatus>) {
    if let (Some(status), false) = (status, place.client.json) {
        anstream::println!("{}", clean::line(&told(status)));
    }
}

async fn start(args: &StartArgs) -> anyhow::Result<ExitCode> {
    let place = &args.place;
    let (mut link, home) = place.find().await?;
    let worktrees = match (args.worktrees, args.no_worktrees) {
        (true, _) => Some(true),
        (false, true) => Some(false),
        (false, false) => None,
    };
    let request = WorkerStart {
        worktrees,
        ..WorkerStart::new(home.workspace)
    };
    let started = link.ask(home.pylon, request).await?;
    if place.client.json {
        print_json(&started)?;
    }
    show_worker(place, started.worker_status.as_deref());
    Ok(ExitCode::SUCCESS)
}

async fn stop(args: &StopArgs) -> anyhow::Result<ExitCode> {
    let (mut link, home) = args.place.find().await?;
    let request = WorkerStop {
        after_task: args.after_task.then_some(true),
        ..WorkerStop::new(home.workspace)
    };
    let stopped = link.ask(home.pylon, request).await?;
    if args.place.client.json {
        print_json(&stopped)?;
    }
    show_worker(&args.place, stopped.worker_status.as_deref());
    Ok(ExitCode::SUCCESS)
}

async fn worker(place: &Where) -> anyhow::Result<ExitCode> {
    let (mut link, home) = place.find().await?;
    let request = WorkerStatusRequest::new(home.workspace);
    let shown = link.ask(home.pylon, request).await?;
    if place.client.json {
        print_json(&shown)?;
    }
    show_worker(place, shown.worker_status.as_deref());
    Ok(ExitCode::SUCCESS)
}

/// What a person should know of a task that did not go well.
fn why(task: &TaskSummary) -> Option<String> {
    let file = task.file.as_deref().unwrap_or(&task.id);
    match (&task.problem, &task.error) {
        (Some(problem), _) => Some(format!("{file}: {problem}")),
        (None, error) => error.clone(),
    }
}

async fn show(args: &ShowArgs) -> anyhow::Result<ExitCode> {
    let id = TaskId::parse(&args.task).context("the task")?;
    let (mut link, home) = args.place.find().await?;
    let shown = link
        .ask(home.pylon, TaskGet::new(home.workspace, id))
        .await?;
    if args.place.client.json {
        print_json(&shown)?;
        return Ok(ExitCode::SUCCESS);
    }
    let task = shown.task.context("the machine did not say what it has")?;
    let field = |name: &str, value: Option<&str>| {
        if let Some(value) = value {
            anstream::println!("{name:<10}{}", clean::line(value));
        }
    };
    field("title", Some(&task.title));
    field("id", Some(&task.id));
    field("status", Some(task.status.as_str()));
    field("file", task.file.as_deref());
    field("created", task.created_at.as_deref());
    field("started", task.started_at.as_deref());
    field("completed", task.completed_at.as_deref());
    field(
        "error",
        task.error.as_deref().filter(|_| task.problem.is_none()),
    );
    field("problem", task.problem.as_deref());
    anstream::println!("\n{}", clean::text(task.content.trim()));
    if task.truncated == Some(true) {
        anstream::println!("\n… the file has more.");
    }
    Ok(ExitCode::SUCCESS)
}

async fn add(args: &AddArgs) -> anyhow::Result<ExitCode> {
    let title = Name::parse(args.title.trim()).context("the title")?;
    let text = if args.text == "-" {
        read_all()?
    } else {
        args.text.clone()
    };
    let text = TaskText::parse(&text).context("the text")?;
    let (mut link, home) = args.place.find().await?;
    let request = TaskCreate {
        soft_usd: args.soft,
        hard_usd: args.hard,
        ..TaskCreate::new(home.workspace, title, text)
    };
    let made = link.ask(home.pylon, request).await?;
    if args.place.client.json {
        print_json(&made)?;
        return Ok(ExitCode::SUCCESS);
    }
    let task = made.task.context("the machine did not say what it made")?;
    anstream::println!("{}", clean::line(&task.id));
    Ok(ExitCode::SUCCESS)
}

async fn set_status(args: &StatusArgs) -> anyhow::Result<ExitCode> {
    let id = TaskId::parse(&args.task).context("the task")?;
    let status = TaskStatus::from(args.status.as_str());
    let (mut link, home) = args.place.find().await?;
    let request = TaskStatusChange {
        error: args.error.clone(),
        ..TaskStatusChange::new(home.workspace, id, status)
    };
    let changed = link.ask(home.pylon, request).await?;
    if args.place.client.json {
        print_json(&changed)?;
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_stand_with_their_status_and_what_is_wrong_with_them() {
        let text = include_str!("../../../../fixtures/proto/v1/task_list_result.json");
        let frame: serde_json::Value = serde_json::from_str(text).unwrap();
        let listed: TaskListResult = serde_json::from_value(frame["payload"].clone()).unwrap();
        let shown = to_text(&listed);
        assert!(shown.contains("Tidy the parser"), "{shown}");
        assert!(shown.contains("pending"), "{shown}");
        assert!(
            shown.contains("20260124-notes.md: the front matter"),
            "{shown}"
        );
    }
}
