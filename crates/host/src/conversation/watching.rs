//! Settings that change under a process that would take them in unasked.
//!
//! A trusted folder is trusted for its contents. A version of the CLI that cannot be given a copy of them reads the folder
//! itself, again and again, so an agent, or whatever it ran, could plant there what nobody has seen. It cannot be kept from
//! that; it can be noticed: before each message, at each request for permission and at the end of each turn. The process is
//! then ended, and the next one is started with what people say about the new contents.
//!
//! The other way round, a process that was started before its folder was trusted has nothing of it. It is ended as soon as
//! it rests, and the next one has what was trusted.

use std::io;
use std::path::Path;

use estelle_proto::conversations::ConversationStatus;
use estelle_state::conversation::StopReason;

use super::actor::{Actor, Broken};
use super::running::Phase;
use crate::run::RunFolder;
use crate::trust::{self, Answered, ContentHash, Standing, Verdict};

/// The file in the run's folder that holds the hash of the settings it was started with.
const FILE: &str = "settings.hash";

/// The file in the run's folder that says that nothing of its working folder was loaded, for want of trust.
const WITHHELD: &str = "trust.withheld";

/// What such a process is ended for.
const CHANGED: &str = "the settings of the folder have changed while the agent was at work";

/// Writes down what the settings were, for a process that takes them in.
pub(super) fn store(folder: &RunFolder, settings: &ContentHash) -> io::Result<()> {
    folder.store_file(FILE, settings.as_str().as_bytes())
}

/// What the settings were; nothing for a process that does not take them in.
pub(super) fn load(folder: &RunFolder) -> Option<String> {
    std::fs::read_to_string(folder.path().join(FILE)).ok()
}

/// Writes down that a process is started without what its folder brings.
pub(super) fn store_withheld(folder: &RunFolder) -> io::Result<()> {
    folder.store_file(WITHHELD, b"")
}

/// Whether a process was started without what its folder brings.
pub(super) fn is_withheld(folder: &RunFolder) -> bool {
    folder.path().join(WITHHELD).exists()
}

impl Actor {
    /// Ends a process at rest whose folder was trusted after it was started.
    pub(super) async fn end_trusted(&mut self) -> Result<(), Broken> {
        let is_idle = self.book.conversation().status() == ConversationStatus::Idle;
        let Phase::Live(live) = &self.phase else {
            return Ok(());
        };
        let Some(cwd) = live.cwd.as_deref().filter(|_| is_idle && live.withheld) else {
            return Ok(());
        };
        let home = self.context.settings.home.as_deref();
        let Ok(contents) = trust::scan(cwd, home) else {
            return Ok(());
        };
        let standing = self.context.trust().standing(&contents);
        let is_trusted = matches!(
            standing,
            Standing::Answered(Answered {
                verdict: Verdict::Allowed,
                ..
            })
        );
        if is_trusted {
            tracing::info!(conversation = %self.book.conversation().id(), "started anew with what is trusted now");
            self.stop_run(StopReason::Trusted).await?;
        }
        Ok(())
    }

    /// Whether the process may have taken in what nobody was asked about.
    fn is_reconfigured(&self) -> bool {
        let Phase::Live(live) = &self.phase else {
            return false;
        };
        let Some(before) = &live.settings else {
            return false;
        };
        let home = self.context.settings.home.as_deref();
        let cwd = live.cwd.as_deref().unwrap_or(Path::new("/"));
        let now = trust::scan_settings(cwd, home);
        now.is_none_or(|now| now.as_str() != before)
    }

    /// Ends a process at rest whose settings have changed. Whether it did.
    pub(super) async fn end_reconfigured(&mut self) -> Result<bool, Broken> {
        if !self.is_reconfigured() {
            return Ok(false);
        }
        self.stop_run(reason()).await?;
        Ok(true)
    }

    /// Kills a process at work whose settings have changed. Whether it did.
    pub(super) async fn kill_reconfigured(&mut self) -> Result<bool, Broken> {
        if !self.is_reconfigured() {
            return Ok(false);
        }
        self.kill_run(reason()).await?;
        Ok(true)
    }
}

fn reason() -> StopReason {
    StopReason::Reconfigured {
        what: CHANGED.to_owned(),
    }
}
