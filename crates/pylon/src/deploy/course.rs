//! The course of a deploy: from one step to the next, to the end of a stage, and to an end before its time.

use estelle_proto::ErrorCode;
use estelle_proto::deploy::DeployTask;

use super::machine::{Deploy, Echo, Effect, Found, Machine, Order, Refusal, Stage, Ticket};
use super::plan::Role;

impl Stage {
    /// What a deploy is in this stage, for people.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Preparing => "being prepared",
            Self::Ready => "ready",
            Self::Started => "waiting for the word to go",
            Self::Armed => "waiting for its lead",
            Self::Going => "being put in place",
            Self::Restarting => "restarting this machine",
        }
    }
}

/// The state does not allow it now.
pub(super) fn conflict(text: impl Into<String>) -> Refusal {
    Refusal {
        code: ErrorCode::Conflict,
        text: text.into(),
    }
}

pub(super) fn refused(ticket: Ticket, text: &str) -> Vec<Effect> {
    vec![Effect::Refuse(ticket, conflict(text))]
}

pub(super) fn nothing_prepared(ticket: Ticket) -> Vec<Effect> {
    refused(
        ticket,
        "no deploy is prepared on this machine: begin with `deploy_prepare`",
    )
}

impl Machine {
    /// The deploy that was begun here, if it was.
    pub(super) fn own_deploy(&mut self) -> Option<&mut Deploy> {
        let deploy = self.deploy.as_mut();
        deploy.filter(|deploy| matches!(deploy.role, Role::Lead | Role::Alone))
    }

    /// Takes the next step, or finishes the stage.
    pub(super) fn advance(&mut self) -> Vec<Effect> {
        let serial = self.serial + 1;
        let Some(deploy) = &mut self.deploy else {
            return Vec::new();
        };
        let Some(step) = deploy.left.pop_front() else {
            return self.finish();
        };
        self.serial = serial;
        deploy.running = Some((serial, step));
        deploy.tasks.set(step, &DeployTask::Running);
        let order = Order {
            serial,
            step,
            role: deploy.role,
            commit: deploy.commit.clone(),
            build: deploy.build.clone(),
            build_time: deploy.build_time.clone(),
        };
        vec![Effect::Keep, Effect::Status, Effect::Run(order)]
    }

    /// All steps of a stage are taken.
    fn finish(&mut self) -> Vec<Effect> {
        let Some(deploy) = &mut self.deploy else {
            return Vec::new();
        };
        let Some(build) = deploy.build.clone() else {
            return self.fail("the steps gave no build".to_owned());
        };
        match (deploy.stage, deploy.role) {
            (Stage::Preparing, Role::Follower { lead }) => {
                deploy.stage = Stage::Armed;
                vec![Effect::Keep, Effect::Status, Effect::AckTo(lead, Ok(()))]
            }
            (Stage::Preparing, Role::Lead | Role::Alone) => {
                deploy.stage = Stage::Ready;
                let mut effects = vec![Effect::Keep, Effect::Status];
                let owed = deploy.ticket.map(|ticket| Effect::Ready(ticket, Ok(build)));
                effects.extend(owed);
                if deploy.approved {
                    effects.extend(self.start());
                }
                effects
            }
            (_, role) => {
                deploy.stage = Stage::Restarting;
                let mut effects = vec![Effect::Keep, Effect::Status];
                if role == Role::Lead {
                    let commit = build.commit;
                    effects.push(Effect::RestartAll { commit });
                }
                effects.push(Effect::Farewell);
                effects
            }
        }
    }

    /// The build is confirmed: all others are asked to follow.
    pub(super) fn start(&mut self) -> Vec<Effect> {
        let others = self.others.clone();
        let Some(deploy) = &mut self.deploy else {
            return Vec::new();
        };
        deploy.stage = Stage::Started;
        let mut effects = vec![Effect::Keep, Effect::Status];
        if let (Role::Lead, Some(build)) = (deploy.role, deploy.build.clone()) {
            deploy.acks = others.into_iter().map(|id| (id, None)).collect();
            effects.push(Effect::StartAll(build));
        }
        effects
    }

    /// The word was given.
    pub(super) fn go(&mut self) -> Vec<Effect> {
        let Some(deploy) = &mut self.deploy else {
            return Vec::new();
        };
        deploy.stage = Stage::Going;
        deploy.left = deploy.role.going().iter().copied().collect();
        self.advance()
    }

    pub(super) fn on_done(&mut self, serial: u64, result: Result<Found, String>) -> Vec<Effect> {
        let Some(deploy) = &mut self.deploy else {
            return Vec::new();
        };
        let Some((_, step)) = deploy.running.filter(|(running, _)| *running == serial) else {
            return Vec::new();
        };
        deploy.running = None;
        match result {
            Ok(found) => {
                deploy.tasks.set(step, &DeployTask::Done);
                match found {
                    Found::Nothing => {}
                    Found::Commit(commit) => deploy.commit = Some(commit),
                    Found::Build(build) => deploy.build = Some(build),
                }
                self.advance()
            }
            Err(why) => {
                deploy.tasks.set(step, &DeployTask::Error);
                self.fail(format!("{}: {why}", step.title()))
            }
        }
    }

    /// A step failed: everything stays as it was.
    fn fail(&mut self, why: String) -> Vec<Effect> {
        let Some(deploy) = self.deploy.take() else {
            return Vec::new();
        };
        self.last = Some(deploy.tasks);
        let mut effects = vec![Effect::Log(why.clone())];
        if deploy.stage == Stage::Preparing {
            effects.extend([Effect::Keep, Effect::Status]);
            match (deploy.role, deploy.ticket) {
                (Role::Follower { lead }, _) => effects.push(Effect::AckTo(lead, Err(why))),
                (Role::Lead | Role::Alone, Some(ticket)) => {
                    let code = ErrorCode::Internal;
                    let refusal = Refusal { code, text: why };
                    effects.push(Effect::Ready(ticket, Err(refusal)));
                }
                (Role::Lead | Role::Alone, None) => {}
            }
            return effects;
        }
        effects.extend([Effect::Undo, Effect::Status, Effect::Failed(why)]);
        if let (Role::Lead, Some(commit)) = (deploy.role, deploy.commit) {
            effects.extend(self.withdraw(commit));
        }
        effects
    }

    /// Somebody does not want it any more: everything stays as it was, and nobody waits for us.
    pub(super) fn end(&mut self, why: &str) -> Vec<Effect> {
        let Some(mut deploy) = self.deploy.take() else {
            return Vec::new();
        };
        let mut effects = Vec::new();
        if let Some((_, step)) = deploy.running.take() {
            deploy.tasks.set(step, &DeployTask::Error);
            effects.push(Effect::Abort);
        }
        self.last = Some(deploy.tasks);
        let log = Effect::Log(why.to_owned());
        effects.extend([log, Effect::Keep, Effect::Status]);
        let has_led = deploy.role == Role::Lead && deploy.stage == Stage::Started;
        if let (true, Some(commit)) = (has_led, deploy.commit) {
            self.echo = Some(Echo::Cancel(commit.clone()));
            effects.push(Effect::CancelAll { commit });
        }
        effects
    }
}
