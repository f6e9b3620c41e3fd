//! All machines with their workspaces and conversations, and how a person names one of them.
//!
//! A conversation or workspace is meant by its id, its name, or the beginning of either; `workspace/conversation` tells
//! conversations of the same name apart, and the name of a workspace is enough for its only conversation. A name counts
//! before a beginning, so that what is written out is never ambiguous because of what is merely longer.

use std::path::Path;

use estelle_proto::workspaces::{WorkspaceList, WorkspaceListResult};
use estelle_proto::{Conversation, ConversationId, DeviceId, PathText, Workspace, WorkspaceId};

use super::failure::Failure;
use super::link::Link;
use super::way::ClientArgs;

/// Candidates that a message lists.
const LISTED: usize = 8;

/// A machine that is connected.
#[derive(Debug)]
pub(super) struct Machine {
    pub(super) id: DeviceId,
    pub(super) name: String,
    pub(super) icon: String,
    /// What it has, unless it did not answer.
    pub(super) list: Result<WorkspaceListResult, String>,
}

impl Machine {
    pub(super) fn workspaces(&self) -> &[Workspace] {
        self.list
            .as_ref()
            .map_or(&[], |list| list.workspaces.as_slice())
    }
}

/// Everything there is.
#[derive(Debug)]
pub(super) struct Fleet {
    pub(super) machines: Vec<Machine>,
}

/// A conversation, and where it is.
#[derive(Debug, Clone)]
pub(super) struct Spot {
    pub(super) pylon: DeviceId,
    pub(super) workspace: WorkspaceId,
    pub(super) folder: PathText,
    pub(super) conversation: ConversationId,
    /// `workspace/conversation`.
    pub(super) title: String,
}

/// A workspace, and where it is.
#[derive(Debug, Clone)]
pub(super) struct Home {
    pub(super) pylon: DeviceId,
    pub(super) workspace: WorkspaceId,
}

impl Fleet {
    /// Connects to the relay, and asks all machines, or the one that was named.
    pub(super) async fn reach(client: &ClientArgs) -> anyhow::Result<(Link, Self)> {
        let mut link = Link::open(&client.way().await?).await?;
        let fleet = Self::gather(&mut link, client.machine.as_deref()).await?;
        Ok((link, fleet))
    }

    async fn gather(link: &mut Link, machine: Option<&str>) -> anyhow::Result<Self> {
        let mut machines = Vec::new();
        for device in link.machines().await? {
            machines.push(Machine {
                id: device.device_id,
                name: device.name,
                icon: device.icon,
                list: Err("not asked".to_owned()),
            });
        }
        let mut fleet = Self { machines };
        if let Some(named) = machine {
            let chosen = fleet.machine(named)?;
            fleet.machines.retain(|machine| machine.id == chosen);
        }
        for machine in &mut fleet.machines {
            let list = link.ask(machine.id, WorkspaceList::default()).await;
            machine.list = list.map_err(|error| format!("{error:#}"));
        }
        Ok(fleet)
    }

    /// The machine that is meant.
    fn machine(&self, text: &str) -> Result<DeviceId, Failure> {
        let candidates = self.machines.iter().map(|machine| Candidate {
            id: machine.id.0.to_string(),
            names: vec![machine.name.clone()],
            value: machine.id,
        });
        pick("machine", text, candidates.collect())
    }

    /// The only machine, for what needs one.
    pub(super) fn one(&self) -> Result<&Machine, Failure> {
        match self.machines.as_slice() {
            [] => Err(Failure::away("no machine is connected to the relay")),
            [machine] => Ok(machine),
            several => {
                let names: Vec<&str> = several.iter().map(|one| one.name.as_str()).collect();
                let said = format!("say which machine with --machine: {}", names.join(", "));
                Err(Failure::Ambiguous { said })
            }
        }
    }

    /// All conversations with their machines and workspaces.
    pub(super) fn conversations(
        &self,
    ) -> impl Iterator<Item = (&Machine, &Workspace, &Conversation)> {
        self.machines.iter().flat_map(|machine| {
            let workspaces = machine.workspaces().iter();
            workspaces.flat_map(move |workspace| {
                let conversations = workspace.conversations.iter();
                conversations.map(move |conversation| (machine, workspace, conversation))
            })
        })
    }

    /// The conversation that is meant.
    pub(super) fn conversation(&self, text: &str) -> Result<Spot, Failure> {
        let candidates = self
            .conversations()
            .map(|(machine, workspace, conversation)| {
                let title = format!("{}/{}", workspace.name, conversation.name);
                let mut names = vec![title.clone(), conversation.name.to_string()];
                if let [_] = workspace.conversations.as_slice() {
                    names.push(workspace.name.to_string());
                }
                Candidate {
                    id: conversation.conversation_id.to_string(),
                    names,
                    value: Spot {
                        pylon: machine.id,
                        workspace: workspace.workspace_id.clone(),
                        folder: workspace.working_dir.clone(),
                        conversation: conversation.conversation_id.clone(),
                        title,
                    },
                }
            });
        pick("conversation", text, candidates.collect()).map_err(|failure| self.explain(failure))
    }

    /// The workspace that is meant.
    pub(super) fn workspace(&self, text: &str) -> Result<Home, Failure> {
        let machines = self.machines.iter();
        let candidates = machines.flat_map(|machine| {
            machine.workspaces().iter().map(|workspace| Candidate {
                id: workspace.workspace_id.to_string(),
                names: vec![
                    workspace.name.to_string(),
                    workspace.working_dir.to_string(),
                ],
                value: Home {
                    pylon: machine.id,
                    workspace: workspace.workspace_id.clone(),
                },
            })
        });
        pick("workspace", text, candidates.collect()).map_err(|failure| self.explain(failure))
    }

    /// The workspace of a folder, or the only one there is.
    pub(super) fn workspace_at(&self, folder: Option<&Path>) -> Result<Home, Failure> {
        let all = || {
            self.machines.iter().flat_map(|machine| {
                let workspaces = machine.workspaces().iter();
                workspaces.map(move |workspace| (machine, workspace))
            })
        };
        let home = |(machine, workspace): (&Machine, &Workspace)| Home {
            pylon: machine.id,
            workspace: workspace.workspace_id.clone(),
        };
        let length = |workspace: &Workspace| workspace.working_dir.as_str().len();
        let around = |(_, workspace): &(&Machine, &Workspace)| {
            folder.is_some_and(|folder| folder.starts_with(workspace.working_dir.as_str()))
        };
        // The innermost, if workspaces lie in each other.
        let nearest = all().filter(around).map(|(_, one)| length(one)).max();
        let mut here = all().filter(|found| around(found) && Some(length(found.1)) == nearest);
        match (here.next(), here.next()) {
            (Some(found), None) => return Ok(home(found)),
            (Some(_), Some(_)) => {}
            (None, _) => {
                let mut every = all();
                if let (Some(found), None) = (every.next(), every.next()) {
                    return Ok(home(found));
                }
            }
        }
        let said = "say which workspace with --in: `estelle ls` shows them";
        Err(self.explain(Failure::missing(said)))
    }

    /// What is missing may be on a machine that is away.
    fn explain(&self, failure: Failure) -> Failure {
        if self.machines.is_empty() && matches!(failure, Failure::Missing { .. }) {
            return Failure::away("no machine is connected to the relay");
        }
        failure
    }
}

/// Something that can be meant.
#[derive(Debug)]
struct Candidate<T> {
    id: String,
    /// The longest first.
    names: Vec<String>,
    value: T,
}

impl<T> Candidate<T> {
    /// How well a text fits; the smaller the better, nothing if it does not.
    fn fit(&self, text: &str) -> Option<usize> {
        let lower = text.to_lowercase();
        let mut lowered = self.names.iter().map(|name| name.to_lowercase());
        let fits = [
            self.id == text,
            self.names.iter().any(|name| name == text),
            lowered.clone().any(|name| name == lower),
            self.id.starts_with(text),
            lowered.any(|name| name.starts_with(&lower)),
        ];
        fits.iter().position(|fits| *fits)
    }
}

/// The one that fits best, if it is one.
fn pick<T>(kind: &str, text: &str, candidates: Vec<Candidate<T>>) -> Result<T, Failure> {
    let mut best: Option<usize> = None;
    let mut found: Vec<Candidate<T>> = Vec::new();
    let is_blank = text.trim().is_empty();
    for candidate in candidates.into_iter().filter(|_| !is_blank) {
        let Some(fit) = candidate.fit(text) else {
            continue;
        };
        if best.is_none_or(|best| fit < best) {
            found.clear();
            best = Some(fit);
        }
        if best == Some(fit) {
            found.push(candidate);
        }
    }
    match found.len() {
        0 => Err(Failure::missing(format!(
            "there is no {kind} `{text}`: `estelle ls` shows what there is"
        ))),
        1 => found
            .pop()
            .map(|found| found.value)
            .ok_or_else(|| Failure::missing("nothing was found")),
        many => {
            let mut lines: Vec<String> = found.iter().take(LISTED).map(line).collect();
            if many > LISTED {
                lines.push(format!("  and {} more", many - LISTED));
            }
            let said = format!(
                "`{text}` may be any of {many}; name it by its id or more of its name:\n{}",
                lines.join("\n")
            );
            Err(Failure::Ambiguous { said })
        }
    }
}

fn line<T>(candidate: &Candidate<T>) -> String {
    let name = candidate.names.first().map_or("", String::as_str);
    format!("  {}  {}", candidate.id, crate::chat::clean::line(name))
}

/// For each id the beginning by which it can be named: as short as it may be, and not too short to be recognised.
pub(super) fn short_ids<'a>(ids: &[&'a str]) -> Vec<&'a str> {
    const LEAST: usize = 8;
    let shorten = |id: &'a str| {
        let is_unique = |end: &usize| {
            let start = id.get(..*end);
            let mut others = ids.iter().filter(|other| **other != id);
            start.is_some_and(|start| !others.any(|other| other.starts_with(start)))
        };
        let end = (LEAST..id.len()).find(is_unique).unwrap_or(id.len());
        id.get(..end).unwrap_or(id)
    };
    ids.iter().map(|id| shorten(id)).collect()
}

#[cfg(test)]
#[path = "fleet_tests.rs"]
mod tests;
