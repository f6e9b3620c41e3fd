//! What other Pylons say in a deploy: a lead to those who follow, and those to their lead.

use std::collections::BTreeSet;

use estelle_proto::DeviceId;

use super::machine::{Echo, Effect, Machine, Stage};
use super::plan::Role;

impl Machine {
    pub(super) fn on_start(
        &mut self,
        lead: DeviceId,
        commit: String,
        build_time: String,
    ) -> Vec<Effect> {
        if lead == self.own {
            return Vec::new();
        }
        let mut effects = Vec::new();
        if let Some(deploy) = &self.deploy {
            let Role::Follower { lead: former } = deploy.role else {
                let text = "this machine has a deploy of its own under way".to_owned();
                return vec![Effect::AckTo(lead, Err(text))];
            };
            let is_same = former == lead && deploy.commit.as_ref() == Some(&commit);
            match deploy.stage {
                Stage::Preparing if is_same => return Vec::new(),
                Stage::Armed if is_same => return vec![Effect::AckTo(lead, Ok(()))],
                Stage::Going | Stage::Restarting => {
                    let text = "this machine restarts for another deploy".to_owned();
                    return vec![Effect::AckTo(lead, Err(text))];
                }
                Stage::Preparing | Stage::Ready | Stage::Started | Stage::Armed => {}
            }
            effects.push(Effect::Abort);
            if former != lead {
                let text = "another Pylon leads this machine now".to_owned();
                effects.push(Effect::AckTo(former, Err(text)));
            }
        }
        self.echo = None;
        self.begin(Role::Follower { lead }, Some(commit), build_time);
        effects.extend(self.advance());
        effects
    }

    pub(super) fn on_ack(&mut self, from: DeviceId, result: Result<(), String>) -> Vec<Effect> {
        let Some(deploy) = self.own_deploy() else {
            return Vec::new();
        };
        let is_waiting = deploy.stage == Stage::Started;
        let Some(said) = deploy.acks.get_mut(&from).filter(|_| is_waiting) else {
            return Vec::new();
        };
        *said = Some(result.clone());
        let total = deploy.acks.values().flatten().count();
        let total = u32::try_from(total).unwrap_or(u32::MAX);
        let told = deploy.ticket.map(|ticket| Effect::TellAck {
            ticket,
            from,
            result,
            total,
        });
        told.into_iter().collect()
    }

    pub(super) fn on_restart(&mut self, from: DeviceId, commit: Option<&str>) -> Vec<Effect> {
        let is_ours = self.deploy.as_ref().is_some_and(|deploy| {
            deploy.stage == Stage::Armed
                && deploy.role == Role::Follower { lead: from }
                && commit.is_some()
                && deploy.commit.as_deref() == commit
        });
        if is_ours { self.go() } else { Vec::new() }
    }

    pub(super) fn on_cancelled(&mut self, from: DeviceId, commit: &str) -> Vec<Effect> {
        let is_ours = self.deploy.as_ref().is_some_and(|deploy| {
            matches!(deploy.stage, Stage::Preparing | Stage::Armed)
                && deploy.role == Role::Follower { lead: from }
                && deploy.commit.as_deref() == Some(commit)
        });
        if !is_ours {
            return Vec::new();
        }
        self.end(&format!("the Pylon {} withdrew its deploy", from.0))
    }

    pub(super) fn on_pylons(&mut self, others: BTreeSet<DeviceId>) -> Vec<Effect> {
        let came = others.difference(&self.others).next().is_some();
        self.others = others;
        let mut effects = Vec::new();
        let others = &self.others;
        let gone: Vec<DeviceId> = match &self.deploy {
            Some(deploy) if deploy.stage == Stage::Started => {
                let silent = deploy.acks.iter().filter(|(_, said)| said.is_none());
                let silent = silent.map(|(id, _)| *id);
                silent.filter(|id| !others.contains(id)).collect()
            }
            Some(_) | None => Vec::new(),
        };
        for id in gone {
            let text = "it went away before it answered".to_owned();
            effects.extend(self.on_ack(id, Err(text)));
        }
        match &self.echo {
            Some(Echo::Cancel(commit)) if came => effects.push(Effect::CancelAll {
                commit: commit.clone(),
            }),
            Some(Echo::Restart(commit)) if came => effects.push(Effect::RestartAll {
                commit: commit.clone(),
            }),
            Some(_) | None => {}
        }
        effects
    }
}
