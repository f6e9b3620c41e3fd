//! The rules of a data folder, in memory and on the disk.

use std::io;
use std::path::{Path, PathBuf};

use estelle_proto::ipc::{PermissionRule, RuleEffect, RuleList};
use estelle_proto::{ApiError, ErrorCode, Retry, RuleText, Timestamp, WorkspaceId};
use estelle_state::policy::{Effect, ParseRuleError, Rule, Scope};
use serde::{Deserialize, Serialize};

use crate::run::{read_record, write_record};

/// The most rules there may be: every call is compared with those in force.
const MAX_RULES: usize = 1000;
const FILE: &str = "rules.json";
const FORMAT: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Document {
    format: u32,
    rules: Vec<PermissionRule>,
}

/// Why the rules are not known.
#[derive(Debug, thiserror::Error)]
#[error(
    "the permission rules in {path:?} cannot be read ({reason}), so everything is asked about: mend the file, or move it \
     away to begin without rules"
)]
pub struct Damaged {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub reason: String,
}

/// The rules for one workspace.
#[derive(Debug)]
pub enum InForce<'a> {
    /// Judge by these: first those of the workspace, then those of the machine.
    Rules(Vec<Rule>),
    /// The rules are not known. **Every** call must be put to a person, whatever the mode says.
    AskEverything(&'a Damaged),
}

/// Why a rule was not set.
#[derive(Debug, thiserror::Error)]
pub enum SetRuleError {
    /// It cannot be read.
    #[error(transparent)]
    Parse(#[from] ParseRuleError),
    /// Its effect is a word of a newer version.
    #[error("there is no rule effect {word:?}: use allow, deny or ask")]
    Effect {
        /// The word.
        word: String,
    },
    /// There are too many.
    #[error("there are already {MAX_RULES} rules: remove some first")]
    TooMany,
    /// The present rules are not known, so a change would lose them.
    #[error(
        "the permission rules cannot be read: mend {path:?}, or move it away to begin without rules"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
    },
    /// It could not be written down; nothing has changed.
    #[error(
        "failed to write down the permission rules; look whether the disk of the data folder is full"
    )]
    Write(#[from] io::Error),
}

impl SetRuleError {
    /// The same for the wire.
    pub fn to_api(&self) -> ApiError {
        let (code, retry) = match self {
            Self::Parse(_) | Self::Effect { .. } => (ErrorCode::InvalidMessage, Retry::Never),
            Self::TooMany | Self::Damaged { .. } => (ErrorCode::Conflict, Retry::Later),
            Self::Write(error) if error.kind() == io::ErrorKind::StorageFull => {
                (ErrorCode::DiskFull, Retry::Later)
            }
            Self::Write(_) => (ErrorCode::Internal, Retry::Later),
        };
        ApiError::new(code, self.to_string(), retry)
    }
}

/// A rule with the form in which calls are compared with it.
#[derive(Debug, Clone)]
struct Entry {
    wire: PermissionRule,
    rule: Rule,
}

/// The rules of a data folder.
#[derive(Debug)]
pub struct RuleBook {
    path: PathBuf,
    rules: Result<Vec<Entry>, Damaged>,
}

impl RuleBook {
    /// Reads the rules; without a file there are none.
    pub fn load(data: &Path) -> Self {
        let path = data.join(FILE);
        let rules = read(&path);
        if let Err(damaged) = &rules {
            tracing::warn!(%damaged);
        }
        Self { path, rules }
    }

    /// The rules for a workspace.
    pub fn in_force(&self, workspace: Option<&WorkspaceId>) -> InForce<'_> {
        let entries = match &self.rules {
            Ok(entries) => entries,
            Err(damaged) => return InForce::AskEverything(damaged),
        };
        let of_workspace = entries.iter().filter(|entry| {
            entry.wire.workspace_id.is_some() && entry.wire.workspace_id.as_ref() == workspace
        });
        let of_machine = entries
            .iter()
            .filter(|entry| entry.wire.workspace_id.is_none());
        let rules = of_workspace.chain(of_machine);
        InForce::Rules(rules.map(|entry| entry.rule.clone()).collect())
    }

    /// The rules of the machine and of one workspace, or all of them, for people to see.
    pub fn list(&self, workspace: Option<&WorkspaceId>) -> RuleList {
        match &self.rules {
            Err(damaged) => RuleList {
                warning: Some(damaged.to_string()),
                ..RuleList::new(Vec::new())
            },
            Ok(entries) => {
                let shown = entries.iter().map(|entry| &entry.wire).filter(|rule| {
                    workspace.is_none()
                        || rule.workspace_id.is_none()
                        || rule.workspace_id.as_ref() == workspace
                });
                RuleList::new(shown.cloned().collect())
            }
        }
    }

    /// Adds a rule, or gives it another effect. One that has this effect already keeps its age.
    pub fn set(&mut self, rule: PermissionRule, now: Timestamp) -> Result<(), SetRuleError> {
        let mut entry = entry(rule)?;
        let mut entries = self.known()?;
        let same =
            |other: &Entry| is_same(other, &entry.wire.rule, entry.wire.workspace_id.as_ref());
        let at = entries.iter().position(same);
        let known = at.map(|at| &entries[at].wire);
        let is_new = known.is_none_or(|known| known.effect != entry.wire.effect);
        entry.wire.since = if is_new {
            Some(now)
        } else {
            known.and_then(|known| known.since)
        };
        match at {
            Some(at) => entries[at] = entry,
            None if entries.len() >= MAX_RULES => return Err(SetRuleError::TooMany),
            None => entries.push(entry),
        }
        self.store(entries)
    }

    /// Takes a rule away, if it is there.
    pub fn remove(
        &mut self,
        rule: &RuleText,
        workspace: Option<&WorkspaceId>,
    ) -> Result<(), SetRuleError> {
        let mut entries = self.known()?;
        entries.retain(|entry| !is_same(entry, rule, workspace));
        self.store(entries)
    }

    /// Takes away the rules of a workspace that is no more.
    pub fn forget_workspace(&mut self, workspace: &WorkspaceId) -> Result<(), SetRuleError> {
        let mut entries = self.known()?;
        entries.retain(|entry| entry.wire.workspace_id.as_ref() != Some(workspace));
        self.store(entries)
    }

    /// The rules to change. A damaged file may have been mended meanwhile.
    fn known(&mut self) -> Result<Vec<Entry>, SetRuleError> {
        if self.rules.is_err() {
            self.rules = read(&self.path);
        }
        match &self.rules {
            Ok(entries) => Ok(entries.clone()),
            Err(damaged) => Err(SetRuleError::Damaged {
                path: damaged.path.clone(),
            }),
        }
    }

    /// **Invariant:** a rule is in force only once it is on the disk.
    fn store(&mut self, entries: Vec<Entry>) -> Result<(), SetRuleError> {
        let document = Document {
            format: FORMAT,
            rules: entries.iter().map(|entry| entry.wire.clone()).collect(),
        };
        write_record(&self.path, &document)?;
        self.rules = Ok(entries);
        Ok(())
    }
}

fn is_same(entry: &Entry, rule: &RuleText, workspace: Option<&WorkspaceId>) -> bool {
    entry.wire.workspace_id.as_ref() == workspace
        && entry.wire.rule.as_str().trim() == rule.as_str().trim()
}

fn entry(wire: PermissionRule) -> Result<Entry, SetRuleError> {
    let effect = match &wire.effect {
        RuleEffect::Allow => Effect::Allow,
        RuleEffect::Deny => Effect::Deny,
        RuleEffect::Ask => Effect::Ask,
        RuleEffect::Unknown(word) => return Err(SetRuleError::Effect { word: word.clone() }),
    };
    let scope = match wire.workspace_id {
        Some(_) => Scope::Workspace,
        None => Scope::Global,
    };
    let rule = Rule::parse(wire.rule.as_str(), effect, scope)?;
    Ok(Entry { wire, rule })
}

/// Reads all rules or none: with one left out, what the others allow could be wrong.
fn read(path: &Path) -> Result<Vec<Entry>, Damaged> {
    let damaged = |reason: String| Damaged {
        path: path.to_owned(),
        reason,
    };
    let document: Option<Document> =
        read_record(path).map_err(|error| damaged(error.to_string()))?;
    let Some(document) = document else {
        return Ok(Vec::new());
    };
    if document.format != FORMAT {
        return Err(damaged(format!("its format is {}", document.format)));
    }
    let entries = document.rules.into_iter().map(entry);
    entries
        .collect::<Result<_, _>>()
        .map_err(|error| damaged(error.to_string()))
}
