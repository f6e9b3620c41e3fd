//! The steps of a deploy, who takes which of them, and how far each is.

use std::fmt::Write as _;

use estelle_proto::DeviceId;
use estelle_proto::deploy::{DeployTask, DeployTasks};

/// A step with a name, in the order in which they are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step {
    /// Brings the source up to date, in a tree of its own.
    Git,
    /// The phone app.
    Apk,
    /// The desktop app.
    Exe,
    /// Packages.
    Npm,
    /// The program itself, and whether it starts.
    Build,
    /// The description of the release.
    Json,
    /// Publishes it.
    Upload,
    /// The relay, where it is a program of its own.
    Relay,
    /// Makes the new program the one that is started.
    Copy,
}

impl Step {
    const ALL: [Self; 9] = [
        Self::Git,
        Self::Apk,
        Self::Exe,
        Self::Npm,
        Self::Build,
        Self::Json,
        Self::Upload,
        Self::Relay,
        Self::Copy,
    ];

    /// Its name, for people.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Git => "Git",
            Self::Apk => "APK",
            Self::Exe => "EXE",
            Self::Npm => "npm",
            Self::Build => "Build",
            Self::Json => "JSON",
            Self::Upload => "Upload",
            Self::Relay => "Relay",
            Self::Copy => "Copy",
        }
    }
}

/// What this Pylon is in a deploy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// It makes the release and leads the others.
    Lead,
    /// It brings a build to this machine alone.
    Alone,
    /// It follows another Pylon.
    Follower {
        /// Which.
        lead: DeviceId,
    },
}

impl Role {
    /// What has to be done before the build is ready.
    pub(super) fn preparation(self) -> &'static [Step] {
        match self {
            Self::Lead => &[
                Step::Git,
                Step::Apk,
                Step::Exe,
                Step::Npm,
                Step::Build,
                Step::Json,
            ],
            Self::Alone | Self::Follower { .. } => &[Step::Git, Step::Npm, Step::Build, Step::Json],
        }
    }

    /// What has to be done until it runs.
    pub(super) fn going(self) -> &'static [Step] {
        match self {
            Self::Lead => &[Step::Upload, Step::Relay, Step::Copy],
            Self::Alone | Self::Follower { .. } => &[Step::Copy],
        }
    }
}

/// The language of the one-line summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    /// English.
    #[default]
    English,
    /// Korean.
    Korean,
    /// Japanese.
    Japanese,
}

impl Language {
    fn word(self, task: &DeployTask) -> &'static str {
        match (self, task) {
            (_, DeployTask::Done) => "✓",
            (Self::English, DeployTask::Running) => "in progress",
            (Self::English, DeployTask::Error) => "failed",
            (Self::English, _) => "waiting",
            (Self::Korean, DeployTask::Running) => "진행중",
            (Self::Korean, DeployTask::Error) => "실패",
            (Self::Korean, _) => "대기",
            (Self::Japanese, DeployTask::Running) => "進行中",
            (Self::Japanese, DeployTask::Error) => "失敗",
            (Self::Japanese, _) => "待機",
        }
    }
}

/// How far each step is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tasks([(Step, DeployTask); 9]);

impl Tasks {
    /// Nothing has begun; what a role does not do itself is done.
    pub(super) fn new(role: Role) -> Self {
        let own = [role.preparation(), role.going()].concat();
        Self(Step::ALL.map(|step| {
            let is_own = own.contains(&step);
            let task = if is_own {
                DeployTask::Waiting
            } else {
                DeployTask::Done
            };
            (step, task)
        }))
    }

    pub(super) fn set(&mut self, step: Step, task: &DeployTask) {
        for (known, state) in &mut self.0 {
            if *known == step {
                *state = task.clone();
            }
        }
    }

    fn get(&self, step: Step) -> DeployTask {
        let found = self.0.iter().find(|(known, _)| *known == step);
        found.map_or(DeployTask::Waiting, |(_, task)| task.clone())
    }

    /// All of it for the wire.
    pub(super) fn wire(&self) -> DeployTasks {
        DeployTasks {
            build: Some(self.get(Step::Build)),
            upload: Some(self.get(Step::Upload)),
            relay: Some(self.get(Step::Relay)),
            copy: Some(self.get(Step::Copy)),
            ..DeployTasks::new(
                self.get(Step::Git),
                self.get(Step::Apk),
                self.get(Step::Exe),
                self.get(Step::Npm),
                self.get(Step::Json),
            )
        }
    }

    /// The same in one line: `Git(✓) APK(in progress) EXE(waiting)`.
    pub(super) fn line(&self, language: Language) -> String {
        let mut line = String::new();
        for (step, task) in &self.0 {
            let space = if line.is_empty() { "" } else { " " };
            let word = language.word(task);
            // Writing to a text does not fail.
            let _ = write!(line, "{space}{}({word})", step.title());
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_is_one_line_in_the_language_of_the_user() {
        let mut tasks = Tasks::new(Role::Lead);
        tasks.set(Step::Git, &DeployTask::Done);
        tasks.set(Step::Apk, &DeployTask::Running);
        let line = tasks.line(Language::Korean);
        assert!(line.starts_with("Git(✓) APK(진행중) EXE(대기) "), "{line}");
        let line = tasks.line(Language::English);
        assert!(
            line.starts_with("Git(✓) APK(in progress) EXE(waiting) "),
            "{line}"
        );
        tasks.set(Step::Apk, &DeployTask::Error);
        assert!(tasks.line(Language::Japanese).contains("APK(失敗)"));
    }

    #[test]
    fn what_a_role_does_not_do_is_done() {
        let tasks = Tasks::new(Role::Follower { lead: DeviceId(1) }).wire();
        assert_eq!((tasks.apk, tasks.exe), (DeployTask::Done, DeployTask::Done));
        assert_eq!(tasks.upload, Some(DeployTask::Done));
        assert_eq!(tasks.git, DeployTask::Waiting);
        assert_eq!(tasks.copy, Some(DeployTask::Waiting));
        assert_eq!(Tasks::new(Role::Lead).wire().apk, DeployTask::Waiting);
    }
}
