//! A conversation that goes on from before one of its messages, in its own log.
//!
//! The copy of the session is there before anybody comes here. A process that is idle knows what is taken back, so it is
//! ended first; what came in meanwhile keeps the conversation as it is. `docs/design/host.md` has the crash windows.

use estelle_proto::{ApiError, ClaudeSessionId, DeviceId, Epoch, ErrorCode, Retry, Seq};
use estelle_state::conversation::{RefuseRewind, Rewind, StopReason};

use super::actor::{Actor, Broken, Reply, now};
use super::requests::AfterEnd;
use crate::ipc::Done;
use crate::log::Sync;

/// Where a conversation is to go on from, and with what.
#[derive(Debug)]
pub(crate) struct Rewinding {
    /// The life of the log that the number belongs to.
    pub(crate) epoch: Epoch,
    /// The number of a message.
    pub(crate) before: Seq,
    /// The copy of the session that ends before it.
    pub(crate) session: Option<ClaudeSessionId>,
    /// Who asked for it.
    pub(crate) by: Option<DeviceId>,
}

impl Actor {
    /// Whether it can be done, before anything is made for it.
    pub(super) fn may_rewind(&self, before: Seq) -> Result<Rewind, ApiError> {
        let may = self.book.conversation().may_rewind(before);
        may.map_err(refusal)
    }

    pub(super) async fn rewind(&mut self, wanted: Rewinding, reply: Reply) -> Result<(), Broken> {
        if let Err(error) = self.may_rewind(wanted.before) {
            let _ = reply.send(Err(error.into()));
            return Ok(());
        }
        if self.book.conversation().run().is_none() {
            return self.rewind_now(wanted, reply).await;
        }
        self.stop_run(StopReason::Rewinding).await?;
        self.after_end.push(AfterEnd::Rewind(wanted, reply));
        Ok(())
    }

    /// No process is there any more.
    pub(super) async fn rewind_now(
        &mut self,
        wanted: Rewinding,
        reply: Reply,
    ) -> Result<(), Broken> {
        let Rewinding {
            epoch,
            before,
            session,
            by,
        } = wanted;
        if epoch != self.book.conversation().epoch() {
            let _ = reply.send(Err(cleared().into()));
            return Ok(());
        }
        let outcome = match self.book.decide().rewind(now(), before, session, by) {
            Ok(Some(entry)) => {
                self.record(entry, Sync::Now).await?;
                Ok(Done::default())
            }
            Ok(None) => Ok(Done::default()),
            Err(refused) => Err(refusal(refused).into()),
        };
        // A client that left does not hear it.
        let _ = reply.send(outcome);
        Ok(())
    }
}

fn refusal(refused: RefuseRewind) -> ApiError {
    let retry = match refused {
        RefuseRewind::Busy => Retry::Later,
        RefuseRewind::TakenBack => Retry::Never,
    };
    ApiError::new(ErrorCode::Conflict, refused.to_string(), retry)
}

fn cleared() -> ApiError {
    let message = "the conversation was cleared meanwhile, and the message with it".to_owned();
    ApiError::new(ErrorCode::Conflict, message, Retry::Never)
}
