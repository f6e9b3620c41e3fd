//! `estelle deploy`: a new build for the machines, step by step, from the terminal.

use std::process::ExitCode;

use clap::{Args, ValueEnum};
use estelle_proto::deploy::{
    DeployConfirm, DeployGo, DeployPhase, DeployPrepare, DeployStatusRequest, DeployStatusResult,
};
use estelle_proto::{DeviceId, PylonToApp};
use serde_json::json;

use super::failure::EXIT_CODES;
use super::fleet::Fleet;
use super::link::{Heard, Link};
use super::print_json;
use super::way::ClientArgs;
use crate::chat::clean;

/// Build the newest commit, and bring it to the machines while everything runs.
///
/// `prepare` builds it on one machine and says when it is ready; `confirm` asks the other machines to build it as well;
/// `go` makes it the running program everywhere. Until then nothing has changed, and `cancel` takes all of it back. What
/// is built, and how, is in the section `deploy` of the machine's configuration.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct DeployArgs {
    #[command(flatten)]
    client: ClientArgs,
    /// What to do.
    action: Action,
    /// With `prepare`: for this machine alone. Nothing is published, and the others are left as they are.
    #[arg(long)]
    alone: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Action {
    /// Build everything, and wait until it is ready.
    Prepare,
    /// Let the other machines build it too; beforehand, if it is still being built.
    Confirm,
    /// Make it the running program, here and on the machines that followed.
    Go,
    /// Take it back: nothing changes.
    Cancel,
    /// Show how far it is.
    Status,
    /// Show what it said last.
    Log,
}

/// Runs the subcommand.
pub(super) async fn run(args: &DeployArgs) -> anyhow::Result<ExitCode> {
    let (mut link, fleet) = Fleet::reach(&args.client).await?;
    let machine = fleet.one()?.id;
    let is_json = args.client.json;
    match args.action {
        Action::Prepare => prepare(&mut link, machine, !args.alone, is_json).await,
        Action::Confirm => {
            let is_approved = true;
            let is_cancel = false;
            let confirm = DeployConfirm::new(is_approved, is_cancel);
            let status = link.ask(machine, confirm).await?;
            show(&status, is_json)
        }
        Action::Cancel => {
            let is_approved = false;
            let is_cancel = true;
            let cancel = DeployConfirm::new(is_approved, is_cancel);
            let status = link.ask(machine, cancel).await?;
            show(&status, is_json)
        }
        Action::Go => go(&mut link, machine, is_json).await,
        Action::Status => {
            let status = link.ask(machine, DeployStatusRequest::default()).await?;
            show(&status, is_json)
        }
        Action::Log => {
            let status = link.ask(machine, DeployStatusRequest::default()).await?;
            for line in &status.log {
                if is_json {
                    print_json(line)?;
                } else {
                    anstream::println!("{}", clean::line(&line.line));
                }
            }
            Ok(ExitCode::SUCCESS)
        }
    }
}

async fn prepare(
    link: &mut Link,
    machine: DeviceId,
    relay_deploy: bool,
    is_json: bool,
) -> anyhow::Result<ExitCode> {
    let request = DeployPrepare::new(relay_deploy);
    let ready = link
        .ask_patiently(machine, request, |heard| tell(heard, machine, is_json))
        .await?;
    if is_json {
        print_json(&ready)?;
    } else {
        anstream::println!(
            "Ready: {} ({}). `estelle deploy confirm` goes on, `estelle deploy cancel` takes it back.",
            clean::line(ready.version.as_deref().unwrap_or_default()),
            clean::line(ready.commit_hash.as_deref().unwrap_or_default()),
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// Gives the word, and waits until the machine restarts or says why not.
async fn go(link: &mut Link, machine: DeviceId, is_json: bool) -> anyhow::Result<ExitCode> {
    link.ask(machine, DeployGo::default()).await?;
    loop {
        let heard = link.next().await?;
        tell(&heard, machine, is_json);
        let Heard::Pylon(from, message) = heard else {
            continue;
        };
        if from != machine {
            continue;
        }
        if let PylonToApp::DeployError(error) = &*message {
            anyhow::bail!("{}", clean::line(&error.error));
        }
        if let PylonToApp::DeployRestarting(_) = *message {
            if !is_json {
                anstream::println!("The machine restarts with the new build.");
            }
            return Ok(ExitCode::SUCCESS);
        }
    }
}

/// Shows what a deploy says meanwhile.
fn tell(heard: &Heard, machine: DeviceId, is_json: bool) {
    let Heard::Pylon(from, message) = heard else {
        return;
    };
    if *from != machine {
        return;
    }
    let (text, value) = if let PylonToApp::DeployLog(log) = &**message {
        (format!("  {}", log.line), serde_json::to_value(log))
    } else if let PylonToApp::DeployStatus(status) = &**message {
        (status.message.clone(), serde_json::to_value(status))
    } else {
        return;
    };
    if !is_json {
        return anstream::println!("{}", clean::line(&text));
    }
    if let Ok(value) = value {
        // Whoever reads our output has seen enough.
        let _ = print_json(&value);
    }
}

fn show(status: &DeployStatusResult, is_json: bool) -> anyhow::Result<ExitCode> {
    if is_json {
        let mut value = serde_json::to_value(status)?;
        // The log has a command of its own.
        value["log"] = json!(status.log.len());
        print_json(&value)?;
        return Ok(ExitCode::SUCCESS);
    }
    let running = status.running_version.as_deref().unwrap_or("unknown");
    let running = match &status.running_commit {
        Some(commit) => format!("{running} ({commit})"),
        None => running.to_owned(),
    };
    anstream::println!("This machine runs {}.", clean::line(&running));
    let phase = match &status.phase {
        DeployPhase::Idle => "No deploy is under way.",
        DeployPhase::Preparing => "A deploy is being prepared.",
        DeployPhase::Ready => "A deploy is ready: `estelle deploy confirm`, or `cancel`.",
        DeployPhase::Started => "A deploy is confirmed: `estelle deploy go`, or `cancel`.",
        DeployPhase::Armed => "A deploy is ready here, and waits for the machine that leads it.",
        DeployPhase::Going => "A deploy is being put in place.",
        DeployPhase::Restarting => "The machine is about to restart with the new build.",
        DeployPhase::Unknown(_) => "A deploy is in a state that this program does not know.",
    };
    anstream::println!("{phase}");
    if status.phase != DeployPhase::Idle {
        anstream::println!("{}", clean::line(&status.message));
    }
    for ack in &status.acks {
        let said = match (ack.success, &ack.error) {
            (None, _) => "has not answered yet".to_owned(),
            (Some(true), _) => "is ready".to_owned(),
            (Some(false), why) => format!("does not follow: {}", why.as_deref().unwrap_or("")),
        };
        anstream::println!("Pylon {}: {}", ack.device_id.0, clean::line(&said));
    }
    Ok(ExitCode::SUCCESS)
}
