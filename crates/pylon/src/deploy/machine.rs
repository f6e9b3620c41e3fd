//! What may happen next in a deploy, without IO.
//!
//! ```text
//!  prepare ─► Preparing ─► Ready ─ confirm ─► Started ─ go ─► Going ─► Restarting ─► the new program
//!  deploy_start ─► Preparing ─► Armed ─── deploy_restart of the lead ─┘
//! ```
//!
//! A message in the wrong order is refused and changes nothing. Whatever fails or is cancelled before `Restarting` ends
//! the deploy, and everything runs on as before; Pylons that wait for a lead are told. What was told may be missed by one
//! that was away, so it is told again whenever a Pylon comes.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use estelle_proto::deploy::{DeployPhase, DeployTask};
use estelle_proto::{DeviceId, ErrorCode};

use super::course::{conflict, nothing_prepared, refused};
use super::plan::{Role, Step, Tasks};

/// Names a request whose answer is owed.
pub(super) type Ticket = u64;

/// A finished build.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::struct_field_names,
    reason = "the field is called so in `deploy.json`"
)]
pub(crate) struct Build {
    pub(crate) commit: String,
    pub(crate) version: String,
    pub(crate) build_time: String,
}

/// What a step found out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    Nothing,
    Commit(String),
    Build(Build),
}

/// Why a request was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) code: ErrorCode,
    pub(super) text: String,
}

/// How far a deploy is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Preparing,
    Ready,
    Started,
    Armed,
    Going,
    Restarting,
}

/// What comes in.
#[derive(Debug)]
pub(super) enum Input {
    Prepare {
        ticket: Ticket,
        role: Role,
        build_time: String,
    },
    Confirm {
        ticket: Ticket,
        pre_approved: bool,
    },
    Cancel {
        ticket: Ticket,
    },
    Go {
        ticket: Ticket,
        to_all: bool,
    },
    /// Another Pylon leads us to a build.
    Start {
        lead: DeviceId,
        commit: String,
        build_time: String,
    },
    Ack {
        from: DeviceId,
        result: Result<(), String>,
    },
    Restart {
        from: DeviceId,
        commit: Option<String>,
    },
    Cancelled {
        from: DeviceId,
        commit: String,
    },
    /// These Pylons are there beside us.
    Pylons(BTreeSet<DeviceId>),
    Done {
        serial: u64,
        result: Result<Found, String>,
    },
    /// Everybody had time to hear that we restart.
    Farewell,
}

/// A step to be taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Order {
    pub(crate) serial: u64,
    pub(crate) step: Step,
    pub(crate) role: Role,
    /// The commit, once it is known.
    pub(crate) commit: Option<String>,
    /// The build, once there is one.
    pub(crate) build: Option<Build>,
    /// One time for all of a deploy, `YYYYMMDDHHmmss`.
    pub(crate) build_time: String,
}

/// What has to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Effect {
    /// The state of the deploy is to be on the disk.
    Keep,
    /// Tell the apps how far it is.
    Status,
    Log(String),
    Run(Order),
    /// End the step that runs.
    Abort,
    /// Put back what steps of the last stage have changed. Only then the disk may forget the deploy.
    Undo,
    Accept(Ticket),
    Refuse(Ticket, Refusal),
    /// The answer to `deploy_prepare`.
    Ready(Ticket, Result<Build, Refusal>),
    TellAck {
        ticket: Ticket,
        from: DeviceId,
        result: Result<(), String>,
        total: u32,
    },
    StartAll(Build),
    CancelAll {
        commit: String,
    },
    RestartAll {
        commit: String,
    },
    AckTo(DeviceId, Result<(), String>),
    Failed(String),
    /// Say that we restart, and come back with `Farewell` after a while.
    Farewell,
    /// Become the new program.
    Become,
}

/// A deploy under way.
#[derive(Debug, Clone)]
pub(super) struct Deploy {
    pub(super) role: Role,
    pub(super) stage: Stage,
    pub(super) tasks: Tasks,
    pub(super) approved: bool,
    pub(super) commit: Option<String>,
    pub(super) build: Option<Build>,
    pub(super) build_time: String,
    pub(super) ticket: Option<Ticket>,
    pub(super) left: VecDeque<Step>,
    pub(super) running: Option<(u64, Step)>,
    /// Who was asked to follow, and what they said.
    pub(super) acks: BTreeMap<DeviceId, Option<Result<(), String>>>,
}

/// What is told again whenever a Pylon comes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Echo {
    Cancel(String),
    Restart(String),
}

/// All there is to know.
#[derive(Debug)]
pub(super) struct Machine {
    pub(super) own: DeviceId,
    pub(super) deploy: Option<Deploy>,
    /// How far the last one was, for those who ask afterwards.
    pub(super) last: Option<Tasks>,
    pub(super) others: BTreeSet<DeviceId>,
    pub(super) serial: u64,
    pub(super) echo: Option<Echo>,
}

impl Machine {
    pub(super) fn new(own: DeviceId) -> Self {
        Self {
            own,
            deploy: None,
            last: None,
            others: BTreeSet::new(),
            serial: 0,
            echo: None,
        }
    }

    /// The phase, for the wire.
    pub(super) fn phase(&self) -> DeployPhase {
        match self.deploy.as_ref().map(|deploy| deploy.stage) {
            None => DeployPhase::Idle,
            Some(Stage::Preparing) => DeployPhase::Preparing,
            Some(Stage::Ready) => DeployPhase::Ready,
            Some(Stage::Started) => DeployPhase::Started,
            Some(Stage::Armed) => DeployPhase::Armed,
            Some(Stage::Going) => DeployPhase::Going,
            Some(Stage::Restarting) => DeployPhase::Restarting,
        }
    }

    /// Whether a prepared deploy waits for confirm or go.
    pub(super) fn is_ready(&self) -> bool {
        let stage = self.deploy.as_ref().map(|deploy| deploy.stage);
        matches!(stage, Some(Stage::Ready | Stage::Started | Stage::Armed))
    }

    /// How far the steps are.
    pub(super) fn tasks(&self) -> Tasks {
        let now = self.deploy.as_ref().map(|deploy| &deploy.tasks);
        let shown = now.or(self.last.as_ref()).cloned();
        shown.unwrap_or_else(|| Tasks::new(Role::Lead))
    }

    /// An earlier process of this Pylon led others to a build, and they may still wait for it.
    pub(super) fn withdraw(&mut self, commit: String) -> Vec<Effect> {
        self.echo = Some(Echo::Cancel(commit.clone()));
        vec![Effect::CancelAll { commit }]
    }

    /// This process is the build that others were led to.
    pub(super) fn arrived(&mut self, commit: String, role: Role) -> Vec<Effect> {
        let mut tasks = Tasks::new(role);
        for step in role.preparation().iter().chain(role.going()) {
            tasks.set(*step, &DeployTask::Done);
        }
        self.last = Some(tasks);
        if role == Role::Lead {
            self.echo = Some(Echo::Restart(commit));
        }
        vec![Effect::Status]
    }

    /// Takes something in, and says what has to be done.
    pub(super) fn step(&mut self, input: Input) -> Vec<Effect> {
        match input {
            Input::Prepare {
                ticket,
                role,
                build_time,
            } => self.on_prepare(ticket, role, build_time),
            Input::Confirm {
                ticket,
                pre_approved,
            } => self.on_confirm(ticket, pre_approved),
            Input::Cancel { ticket } => self.on_cancel(ticket),
            Input::Go { ticket, to_all } => self.on_go(ticket, to_all),
            Input::Start {
                lead,
                commit,
                build_time,
            } => self.on_start(lead, commit, build_time),
            Input::Ack { from, result } => self.on_ack(from, result),
            Input::Restart { from, commit } => self.on_restart(from, commit.as_deref()),
            Input::Cancelled { from, commit } => self.on_cancelled(from, &commit),
            Input::Pylons(others) => self.on_pylons(others),
            Input::Done { serial, result } => self.on_done(serial, result),
            Input::Farewell => self.on_farewell(),
        }
    }

    fn on_prepare(&mut self, ticket: Ticket, role: Role, build_time: String) -> Vec<Effect> {
        let mut effects = Vec::new();
        match &self.deploy {
            None => {}
            // Nobody here has asked for it, and whoever asks here knows better.
            Some(Deploy {
                role: Role::Follower { lead },
                stage: Stage::Preparing | Stage::Armed,
                ..
            }) => {
                let text = "another deploy was begun on this machine".to_owned();
                effects.extend([Effect::Abort, Effect::AckTo(*lead, Err(text))]);
            }
            Some(deploy) => {
                let text = format!(
                    "a deploy is {} here already; cancel it first",
                    deploy.stage.word()
                );
                return vec![Effect::Ready(ticket, Err(conflict(text)))];
            }
        }
        self.echo = None;
        self.begin(role, None, build_time);
        if let Some(deploy) = &mut self.deploy {
            deploy.ticket = Some(ticket);
        }
        effects.extend(self.advance());
        effects
    }

    pub(super) fn begin(&mut self, role: Role, commit: Option<String>, build_time: String) {
        self.deploy = Some(Deploy {
            role,
            stage: Stage::Preparing,
            tasks: Tasks::new(role),
            approved: false,
            commit,
            build: None,
            build_time,
            ticket: None,
            left: role.preparation().iter().copied().collect(),
            running: None,
            acks: BTreeMap::new(),
        });
    }

    fn on_confirm(&mut self, ticket: Ticket, pre_approved: bool) -> Vec<Effect> {
        let Some(deploy) = self.own_deploy() else {
            return nothing_prepared(ticket);
        };
        match deploy.stage {
            Stage::Preparing => {
                deploy.approved = pre_approved;
                vec![Effect::Keep, Effect::Accept(ticket)]
            }
            Stage::Ready => {
                let mut effects = self.start();
                effects.push(Effect::Accept(ticket));
                effects
            }
            Stage::Started | Stage::Armed | Stage::Going | Stage::Restarting => {
                refused(ticket, "the deploy is confirmed already")
            }
        }
    }

    fn on_cancel(&mut self, ticket: Ticket) -> Vec<Effect> {
        let Some(deploy) = &self.deploy else {
            return nothing_prepared(ticket);
        };
        if matches!(deploy.stage, Stage::Going | Stage::Restarting) {
            let text = "it is too late: the new build is being put in place";
            return refused(ticket, text);
        }
        let text = "the deploy was cancelled".to_owned();
        let (role, owed) = (deploy.role, deploy.ticket);
        let is_preparing = deploy.stage == Stage::Preparing;
        let mut effects = self.end(&text);
        match (role, owed) {
            (Role::Follower { lead }, _) => effects.push(Effect::AckTo(lead, Err(text))),
            (Role::Lead | Role::Alone, Some(owed)) if is_preparing => {
                effects.push(Effect::Ready(owed, Err(conflict(text))));
            }
            (Role::Lead | Role::Alone, _) => {}
        }
        effects.push(Effect::Accept(ticket));
        effects
    }

    fn on_go(&mut self, ticket: Ticket, to_all: bool) -> Vec<Effect> {
        let Some(deploy) = self.own_deploy() else {
            // Somebody who tells everybody means the one that leads.
            return if to_all {
                Vec::new()
            } else {
                nothing_prepared(ticket)
            };
        };
        match deploy.stage {
            Stage::Started => {}
            Stage::Preparing | Stage::Ready | Stage::Armed => {
                return refused(ticket, "the deploy is not confirmed yet");
            }
            Stage::Going | Stage::Restarting => {
                return refused(ticket, "the deploy is being carried out already");
            }
        }
        let silent = deploy.acks.iter().find(|(_, said)| said.is_none());
        if let Some((id, _)) = silent {
            let text = format!(
                "the Pylon {} has not answered yet; wait for it, or cancel",
                id.0
            );
            return refused(ticket, &text);
        }
        let mut effects = self.go();
        effects.push(Effect::Accept(ticket));
        effects
    }

    fn on_farewell(&mut self) -> Vec<Effect> {
        match &self.deploy {
            Some(deploy) if deploy.stage == Stage::Restarting => vec![Effect::Become],
            Some(_) | None => Vec::new(),
        }
    }
}
