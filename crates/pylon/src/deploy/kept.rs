//! What of a deploy is on the disk: enough for the next process to say what became of it.

use std::io;
use std::path::Path;

use estelle_proto::DeviceId;
use serde::{Deserialize, Serialize};

use super::machine::{Deploy, Stage};
use super::plan::Role;
use crate::release::replace;

/// The name of the file.
const FILE: &str = "state.json";

/// How far a deploy was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Kept {
    stage: String,
    /// Whom it follows; nobody if it was begun here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lead: Option<DeviceId>,
    /// Whether it takes others along.
    leads: bool,
    #[serde(default)]
    pub(super) commit: Option<String>,
}

/// What a process finds that an earlier one has left.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Left {
    /// The new program runs.
    Arrived,
    /// It does not, although the earlier process made room for it.
    Missed,
    /// The earlier process ended before that.
    Interrupted,
}

impl Kept {
    pub(super) fn of(deploy: &Deploy) -> Self {
        let lead = match deploy.role {
            Role::Follower { lead } => Some(lead),
            Role::Lead | Role::Alone => None,
        };
        Self {
            stage: deploy.stage.word().to_owned(),
            lead,
            leads: deploy.role == Role::Lead,
            commit: deploy.commit.clone(),
        }
    }

    pub(super) fn load(folder: &Path) -> Option<Self> {
        let text = std::fs::read(folder.join(FILE)).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Puts it on the disk, or takes it away.
    pub(super) fn store(kept: Option<&Self>, folder: &Path) -> io::Result<()> {
        let file = folder.join(FILE);
        let Some(kept) = kept else {
            return match std::fs::remove_file(file) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                Ok(()) | Err(_) => Ok(()),
            };
        };
        std::fs::create_dir_all(folder)?;
        replace(&file, &serde_json::to_vec(kept)?)
    }

    pub(super) fn role(&self) -> Role {
        match (self.lead, self.leads) {
            (Some(lead), _) => Role::Follower { lead },
            (None, true) => Role::Lead,
            (None, false) => Role::Alone,
        }
    }

    /// What became of it, for a process of this commit.
    pub(super) fn left(&self, running: Option<&str>) -> Left {
        let is_new = self.commit.is_some() && self.commit.as_deref() == running;
        if is_new && self.is_late() {
            return Left::Arrived;
        }
        if self.stage == Stage::Restarting.word() {
            return Left::Missed;
        }
        Left::Interrupted
    }

    /// Whether the new program may have been put in place.
    fn is_late(&self) -> bool {
        [Stage::Going, Stage::Restarting]
            .iter()
            .any(|stage| stage.word() == self.stage)
    }

    /// The sentence for people.
    pub(super) fn interruption(&self) -> String {
        let commit = self.commit.as_deref();
        let commit = commit.map_or_else(String::new, |commit| {
            format!(" of {}", commit.get(..12).unwrap_or(commit))
        });
        format!(
            "the deploy{commit} was interrupted: this Pylon ended while it was {}. Everything runs as before; prepare it again",
            self.stage
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(stage: Stage) -> Kept {
        Kept {
            stage: stage.word().to_owned(),
            lead: None,
            leads: true,
            commit: Some("abc".to_owned()),
        }
    }

    #[test]
    fn the_next_process_knows_what_became_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("deploy");
        assert_eq!(Kept::load(&place), None);
        let restarting = kept(Stage::Restarting);
        Kept::store(Some(&restarting), &place).unwrap();
        assert_eq!(Kept::load(&place), Some(restarting.clone()));
        assert_eq!(restarting.left(Some("abc")), Left::Arrived);
        assert_eq!(restarting.left(Some("old")), Left::Missed);
        assert_eq!(restarting.left(None), Left::Missed);
        assert_eq!(kept(Stage::Going).left(Some("abc")), Left::Arrived);
        for stage in [Stage::Preparing, Stage::Ready, Stage::Started, Stage::Going] {
            assert_eq!(kept(stage).left(Some("old")), Left::Interrupted);
        }
        // The same commit was built once more.
        assert_eq!(kept(Stage::Ready).left(Some("abc")), Left::Interrupted);
        Kept::store(None, &place).unwrap();
        assert_eq!(Kept::load(&place), None);
    }
}
