//! Taking up what a host before this one left: a run that lives, one that is being started or ended, or nothing.

use estelle_state::conversation::RunExit;

use super::actor::{Actor, Broken, now};
use super::live::Live;
use super::running::{Phase, Spawning};
use crate::launch::run_marker;
use crate::log::Sync;
use crate::run::{RunFolder, RunRecord, Tombstoned, clean_up, tombstone};

impl Actor {
    /// Takes up whatever was left by the host before.
    pub(super) async fn recover(&mut self) -> Result<(), Broken> {
        self.retire_runs();
        let Some(run) = self.book.conversation().run() else {
            // Its end may have been written down when the disk failed: whoever waited for it still does.
            return self.after_the_end().await;
        };
        let folder = RunFolder::open(self.runs().join(run.generation.0.to_string()));
        // A run that lives has its session, whoever else would like it.
        let _ = self.claim();
        let noted = run.process.map(noted);
        // The log knows the process as well, should its record be gone.
        let record = folder.load_run()?.or(noted);
        self.stopping.go_on(self.book.conversation());
        match record {
            Some(_) if self.is_cut_off(&folder).await => self.end(RunExit::Unknown).await?,
            Some(record) => {
                let started = self
                    .book
                    .decide()
                    .started(now(), record.pid, record.start_ticks);
                if let Some(entry) = started {
                    self.record(entry, Sync::Now).await?;
                }
                let live = Live::attach(self.book.conversation(), folder, record, &self.context)?;
                self.phase = Phase::Live(Box::new(live));
                if self.is_stopping() {
                    self.close_input();
                } else {
                    self.greet_again().await?;
                }
            }
            None => self.recover_start(folder).await?,
        }
        Ok(())
    }

    /// Ends a run whose FIFO or journal was taken away while no host was there: it would hear nothing, or not be heard.
    /// True if there is nothing left to read either.
    async fn is_cut_off(&self, folder: &RunFolder) -> bool {
        let has_journal = folder.journal().exists();
        if (!has_journal || !folder.fifo().exists())
            && let Some(run) = self.book.conversation().run()
        {
            let id = self.book.conversation().id();
            tracing::error!(conversation = %id, "files of a run were removed: it is ended");
            clean_up(folder, &run_marker(id, run.generation, folder.path())).await;
        }
        !has_journal
    }

    pub(super) fn is_stopping(&self) -> bool {
        let run = self.book.conversation().run();
        run.is_some_and(|run| run.stopping.is_some())
    }

    /// A run whose end was asked for before there was anybody to ask: it hears nothing more, and is told by a signal.
    pub(super) fn close_input(&mut self) {
        if let Phase::Live(live) = &mut self.phase {
            live.closed = true;
        }
        self.stopping.go_on(self.book.conversation());
    }

    /// A start that was interrupted: given up for good, unless the shim was faster.
    async fn recover_start(&mut self, folder: RunFolder) -> Result<(), Broken> {
        let exists = folder.path().exists();
        if !exists || tombstone(&folder, "the host died while starting it")? == Tombstoned::Yes {
            let exit = RunExit::NeverStarted {
                reason: "the host died while starting it".to_owned(),
                retry: true,
            };
            return self.end(exit).await;
        }
        let bell = self.context.watch.watch(folder.path());
        self.phase = Phase::Spawning(Box::new(Spawning::new(folder, bell, None)));
        Ok(())
    }

    /// A process that was never greeted is greeted by us: the greeting may be repeated.
    pub(super) async fn greet_again(&mut self) -> Result<(), Broken> {
        let Some(run) = self.book.conversation().run() else {
            return Ok(());
        };
        if run.is_ready() {
            return Ok(());
        }
        let wish = self.wish(run.generation);
        self.greet(crate::launch::greeting(&wish)).await
    }
}

/// A process as the log knows it.
fn noted((pid, start_ticks): (u32, u64)) -> RunRecord {
    RunRecord {
        pid,
        start_ticks,
        shim_pid: 0,
        argv: Vec::new(),
        cli_version: String::new(),
    }
}
