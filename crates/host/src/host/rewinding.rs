//! Bringing a conversation back to before one of its messages: the session is copied here, the rest is for its task.

use estelle_proto::ApiError;
use estelle_proto::ipc::RewindSession;
use estelle_state::conversation::Rewind;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::oneshot;

use super::forking::copy_session;
use super::{Host, ask, gone};
use crate::conversation::{Command, Rewinding};
use crate::failpoint;
use crate::ipc::{Done, Refusal};

impl Host {
    /// Begins a rewind; it is done even if nobody waits for it any more.
    pub(super) fn rewind(
        &self,
        command: RewindSession,
    ) -> BoxFuture<'static, Result<Done, Refusal>> {
        let host = self.clone();
        let (reply, answer) = oneshot::channel();
        self.context.tracker.spawn(async move {
            let rewound = host.try_rewind(command).await;
            // A client that left does not hear it.
            let _ = reply.send(rewound);
        });
        async move { answer.await.unwrap_or_else(|_| Err(gone().into())) }.boxed()
    }

    async fn try_rewind(&self, command: RewindSession) -> Result<Done, Refusal> {
        let (id, before) = (command.session_id, command.before_seq);
        let actor = self.actor(&id)?;
        let may = ask(&actor, |reply| Command::MayRewind(before, reply)).await;
        let may: Result<Rewind, ApiError> = may.ok().flatten().ok_or_else(gone)?;
        if may? == Rewind::Done {
            return Ok(Done::default());
        }
        let place = self.locate(id, before).await?;
        let (_, session) = copy_session(&place.point, place.cut).await?;
        failpoint::reach("rewind-session-copied");
        let rewinding = Rewinding {
            epoch: place.asked.epoch,
            before,
            session,
            by: command.device_id,
        };
        let (reply, answer) = oneshot::channel();
        let sent = actor.send(Command::Rewind(rewinding, reply)).await;
        sent.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }
}
