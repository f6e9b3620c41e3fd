//! `estelle ls`: machines, their workspaces, and the conversations with their states.

use std::process::ExitCode;

use clap::Args;
use estelle_proto::{Conversation, ConversationStatus, Timestamp, Workspace};
use serde_json::{Value, json};

use super::fleet::{Fleet, Machine, short_ids};
use super::way::ClientArgs;
use super::{now, print_json};
use crate::table::{Table, ago};

/// List machines, workspaces and conversations with their states.
#[derive(Debug, Args)]
pub(crate) struct LsArgs {
    #[command(flatten)]
    client: ClientArgs,
    /// Only conversations that work or wait for a person.
    #[arg(long, short)]
    busy: bool,
}

/// Which conversations are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    All,
    Busy,
}

pub(super) async fn run(args: &LsArgs) -> anyhow::Result<ExitCode> {
    let (_, fleet) = Fleet::reach(&args.client).await?;
    if args.client.json {
        print_json(&to_json(&fleet))?;
    } else {
        let shown = if args.busy { Shown::Busy } else { Shown::All };
        anstream::print!("{}", to_text(&fleet, shown, now()));
    }
    Ok(ExitCode::SUCCESS)
}

fn to_json(fleet: &Fleet) -> Value {
    let machines = fleet.machines.iter().map(|machine| {
        json!({
            "deviceId": machine.id,
            "name": machine.name,
            "icon": machine.icon,
            "error": machine.list.as_ref().err(),
            "workspaces": machine.workspaces(),
        })
    });
    json!({ "machines": machines.collect::<Vec<_>>() })
}

fn to_text(fleet: &Fleet, shown: Shown, now: Timestamp) -> String {
    if fleet.machines.is_empty() {
        return "No machine is connected to the relay.\n".to_owned();
    }
    let ids = fleet
        .conversations()
        .map(|(_, _, conversation)| conversation.conversation_id.as_str());
    let ids: Vec<&str> = ids.collect();
    let short = short_ids(&ids);
    let short = |conversation: &Conversation| {
        let id = conversation.conversation_id.as_str();
        let at = ids.iter().position(|one| *one == id);
        at.and_then(|at| short.get(at).copied())
            .unwrap_or(id)
            .to_owned()
    };
    let mut table = Table::default();
    for machine in &fleet.machines {
        table.note(&headline(machine));
        for workspace in machine.workspaces() {
            let listed = workspace.conversations.iter();
            let listed: Vec<_> = listed
                .filter(|one| shown == Shown::All || one.status != ConversationStatus::Idle)
                .collect();
            if shown == Shown::Busy && listed.is_empty() {
                continue;
            }
            table.note(&place(workspace));
            for conversation in listed {
                table.row([
                    format!("    {}", short(conversation)),
                    state(conversation),
                    conversation.name.to_string(),
                    changed(conversation, now),
                ]);
            }
        }
    }
    table.to_string()
}

fn headline(machine: &Machine) -> String {
    let (icon, name, id) = (&machine.icon, &machine.name, machine.id.0);
    match &machine.list {
        Ok(list) if list.workspaces.is_empty() => format!(
            "{icon} {name} (machine {id}) · no workspaces: estelle new workspace NAME --folder FOLDER"
        ),
        Ok(_) => format!("{icon} {name} (machine {id})"),
        Err(error) => format!("{icon} {name} (machine {id}) · {error}"),
    }
}

fn place(workspace: &Workspace) -> String {
    format!("  {}  {}", workspace.name, workspace.working_dir)
}

fn state(conversation: &Conversation) -> String {
    let unread = if conversation.unread == Some(true) {
        " •"
    } else {
        ""
    };
    let word = match &conversation.status {
        ConversationStatus::Idle => "idle",
        ConversationStatus::Working => "working",
        ConversationStatus::Permission => "asks",
        ConversationStatus::Unknown(word) => word,
    };
    format!("{word}{unread}")
}

fn changed(conversation: &Conversation, now: Timestamp) -> String {
    let at = conversation.updated_at.or(conversation.created_at);
    let passed = at.map(|at| u64::try_from(now.0 - at.0).unwrap_or(0));
    passed.map(ago).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use estelle_proto::DeviceId;
    use estelle_proto::workspaces::WorkspaceListResult;

    use super::*;

    fn fleet() -> Fleet {
        let text = include_str!("../../../../fixtures/proto/v1/workspace_list_result.json");
        let frame: Value = serde_json::from_str(text).unwrap();
        let list: WorkspaceListResult = serde_json::from_value(frame["payload"].clone()).unwrap();
        let machine = |id, list| Machine {
            id: DeviceId(id),
            name: "Selene".to_owned(),
            icon: "🌙".to_owned(),
            list,
        };
        Fleet {
            machines: vec![machine(1, Ok(list)), machine(2, Err("silent".to_owned()))],
        }
    }

    #[test]
    fn every_conversation_stands_with_its_state() {
        let fleet = fleet();
        let text = to_text(&fleet, Shown::All, Timestamp(0));
        assert!(text.starts_with("🌙 Selene (machine 1)\n"), "{text}");
        assert!(text.contains("🌙 Selene (machine 2) · silent\n"), "{text}");
        for (_, workspace, conversation) in fleet.conversations() {
            assert!(text.contains(workspace.name.as_str()), "{text}");
            assert!(text.contains(conversation.name.as_str()), "{text}");
        }
    }
}
