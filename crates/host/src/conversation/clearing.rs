//! A conversation whose log is begun anew, or that is deleted.
//!
//! Its process is ended first, and that takes a while. What would be written into the log that is about to go has to wait
//! meanwhile: whoever was told that his message is kept must find it afterwards.

use estelle_proto::Epoch;
use estelle_proto::ipc::PylonToHost;

use super::actor::{Actor, Broken, Command, now};
use super::birth::unknown;
use super::book::{Beginning, Book};
use super::requests::AfterEnd;
use super::running::Phase;
use crate::failpoint;

impl Actor {
    /// Whether the log goes as soon as the process has.
    fn is_log_going(&self) -> bool {
        let is_it = |then: &AfterEnd| matches!(then, AfterEnd::Clear(_) | AfterEnd::Delete(_));
        self.after_end.iter().any(is_it)
    }

    /// Whether a command belongs to what comes after the process, or after the log.
    pub(super) fn must_wait(&self, command: &Command) -> bool {
        let (is_for_the_next, is_for_the_log) = match command {
            Command::Submit(asked, _) => (true, begins_something(asked)),
            Command::Rewind(..) | Command::Lend(_) => (true, true),
            Command::Status(_)
            | Command::Granted(_)
            | Command::Decisions(_)
            | Command::TellDecisions(..)
            | Command::View(_)
            | Command::Join { .. }
            | Command::Leave(_)
            | Command::Claim { .. }
            | Command::Tick
            | Command::ShutDown(_)
            | Command::MayRewind(..) => (false, false),
            #[cfg(test)]
            Command::Fail => (false, false),
        };
        let is_sweeping = matches!(self.phase, Phase::Sweeping(_));
        (is_for_the_next && is_sweeping) || (is_for_the_log && self.is_log_going())
    }

    /// Whether something was put off that need not wait any longer.
    pub(super) fn has_waited(&self) -> bool {
        let is_free = |command: &Command| !self.must_wait(command);
        self.put_off.first().is_some_and(is_free)
    }

    /// The conversation is gone: what waited for that was for nothing, and is told so.
    pub(super) fn refuse_put_off(&mut self) {
        let error = unknown(self.book.conversation().id());
        for command in std::mem::take(&mut self.put_off) {
            if let Command::Submit(_, reply) | Command::Rewind(_, reply) = command {
                // A client that left does not hear it.
                let _ = reply.send(Err(error.clone().into()));
            } else if let Command::Lend(to) = command {
                let _ = to.send(Err(error.clone()));
            }
        }
    }

    /// A new log in the place of the old one: everything before is gone, and cursors are void. Messages that nobody began
    /// are gone as well; the new log begins with that, so that whoever sent them hears it whenever he comes.
    pub(super) async fn clear(&mut self) -> Result<(), Broken> {
        let old = self.book.conversation();
        let beginning = Beginning {
            id: old.id().clone(),
            epoch: Epoch(old.epoch().0 + 1),
            generation: old.last_generation(),
            settings: old.settings().clone().into(),
            events: old.told_unbegun(),
        };
        self.book = Book::begin(&self.folder, now(), beginning)?;
        failpoint::reach("clear-begun");
        // The journals of old runs are of no use to anybody; what cannot be removed is removed with the conversation.
        let _ = std::fs::remove_dir_all(self.runs());
        failpoint::reach("clear-done");
        self.catch_up().await?;
        let snapshot = self.snapshot();
        self.publish(vec![snapshot]);
        self.tell_waiting();
        Ok(())
    }

    pub(super) fn delete(&mut self) -> Result<(), Broken> {
        let id = self.book.conversation().id();
        self.context.put_away(id, &self.folder)?;
        self.is_deleted = true;
        Ok(())
    }
}

/// Whether a command begins something that the log must keep. Whatever else there is concerns the process that is being
/// ended, or what a new log takes over.
fn begins_something(command: &PylonToHost) -> bool {
    matches!(
        command,
        PylonToHost::SendMessage(_)
            | PylonToHost::ResumeSession(_)
            | PylonToHost::NewSession(_)
            | PylonToHost::ClearSession(_)
            | PylonToHost::DeleteSession(_)
    )
}
