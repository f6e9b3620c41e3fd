//! Terminals, as the host is asked for them; and conversations that are lent to one.
//!
//! Lending: **1** the conversation is held, so that nothing more is asked of it. **2** it comes to rest and says which
//! session goes on. **3** the folder of the terminal says so. **4** the keeper starts. Before 3 a host that dies takes the hold
//! along, after it the folder is the hold.

use std::ops::ControlFlow;
use std::path::PathBuf;

use estelle_claude::saved::{LoadError, SavedSessions, SessionId};
use estelle_proto::ipc::{CloseTerminal, KeptTerminal, OpenTerminal, PylonToHost};
use estelle_proto::terminals::TerminalKind;
use estelle_proto::{ApiError, ClaudeSessionId, ConversationId, ErrorCode, Prompt, Retry, limits};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::sync::{mpsc, oneshot};

use super::{Host, QUEUE, Start, gone, ready};
use crate::conversation::{Command, Lent, begin_empty, disk_trouble, now, touches};
use crate::ipc::{Done, Refusal};
use crate::launch::check_folder;
use crate::terminal::{Hold, TerminalRecord, agent, held, shell};

impl Host {
    /// A command about terminals, or about a conversation that is lent to one; anything else comes back.
    pub(super) fn terminals(
        &self,
        command: PylonToHost,
    ) -> ControlFlow<BoxFuture<'static, Result<Done, Refusal>>, PylonToHost> {
        if let PylonToHost::OpenTerminal(wish) = command {
            return ControlFlow::Break(
                self.carried_out(|host| async move { host.open_terminal(wish).await }),
            );
        }
        if let PylonToHost::CloseTerminal(CloseTerminal { terminal_id, .. }) = command {
            return ControlFlow::Break(self.carried_out(|host| async move {
                host.context.shelf.close(&terminal_id).await?;
                Ok(Done::default())
            }));
        }
        if let PylonToHost::ListTerminals(_) = command {
            let listing = |host: Self| async move { Ok(listed(host.context.shelf.list())) };
            return ControlFlow::Break(self.carried_out(listing));
        }
        match self.refuse_lent(&command) {
            Some(error) => ControlFlow::Break(ready(Err(error.into()))),
            None => ControlFlow::Continue(command),
        }
    }

    /// Carries something out even if nobody waits for it any more.
    pub(super) fn carried_out<F>(
        &self,
        work: impl FnOnce(Self) -> F + Send + 'static,
    ) -> BoxFuture<'static, Result<Done, Refusal>>
    where
        F: Future<Output = Result<Done, ApiError>> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let host = self.clone();
        self.context.tracker.spawn(async move {
            let outcome = work(host).await;
            // A client that left does not hear it.
            let _ = reply.send(outcome.map_err(Refusal::from));
        });
        async move { answer.await.unwrap_or_else(|_| Err(gone().into())) }.boxed()
    }

    /// Nothing that would make a second writer, or take a conversation away from under its terminal. A command that passes
    /// here while the conversation is being lent is refused by its task.
    fn refuse_lent(&self, command: &PylonToHost) -> Option<ApiError> {
        let holder = self.context.shelf.holder(touches(command)?);
        holder.map(|holder| held(&holder))
    }

    async fn open_terminal(&self, wish: OpenTerminal) -> Result<Done, ApiError> {
        let all = &self.context.shelf;
        if let Some(known) = all.known(&wish.terminal_id) {
            return Ok(listed(vec![known]));
        }
        if self.context.is_going_down() {
            return Err(gone());
        }
        let folder = PathBuf::from(wish.working_dir.as_str());
        check_folder(&folder).map_err(|error| error.to_api())?;
        if !wish.size.is_usable() {
            let (cols, rows) = (limits::MAX_TERMINAL_COLS, limits::MAX_TERMINAL_ROWS);
            let text = format!("a terminal has 2 to {cols} columns and 2 to {rows} rows");
            return Err(ApiError::new(ErrorCode::InvalidMessage, text, Retry::Never));
        }
        all.has_room()?;
        let mut record = TerminalRecord {
            terminal_id: wish.terminal_id.clone(),
            kind: wish.kind.clone(),
            working_dir: wish.working_dir.clone(),
            size: wish.size.clone(),
            created_at: now(),
            conversation: None,
            session: None,
        };
        let inherited = &self.context.settings.environment;
        let started = match wish.kind {
            TerminalKind::Shell => {
                let launch = shell(&wish.terminal_id, &folder, inherited);
                all.start(&record, &launch, None).await?
            }
            TerminalKind::Agent => {
                let cli = self.context.agent.find().await;
                let cli = cli.map_err(|error| error.to_api())?;
                let (hold, mut lent) = self.lend(&wish).await?;
                lent.has_begun = lent.has_begun && self.is_saved(&lent.session).await;
                lent.model = wish.model.or(lent.model);
                record.conversation = wish.session_id;
                record.session = Some(lent.session.clone());
                let prompt = wish.prompt.as_ref().map(Prompt::as_str);
                let id = &wish.terminal_id;
                let launch = agent(id, &folder, &cli, &lent, prompt, inherited);
                all.start(&record, &launch, Some(hold)).await?
            }
            TerminalKind::Unknown(word) => {
                let text = format!("a terminal is a `shell` or an `agent`, not {word:?}");
                return Err(ApiError::new(ErrorCode::InvalidMessage, text, Retry::Never));
            }
        };
        Ok(listed(vec![started]))
    }

    /// Holds a conversation and brings it to rest.
    async fn lend(&self, wish: &OpenTerminal) -> Result<(Hold<'_>, Lent), ApiError> {
        let Some(id) = &wish.session_id else {
            let text = "the agent's interface needs a conversation: name it in `sessionId`";
            let code = ErrorCode::InvalidMessage;
            return Err(ApiError::new(code, text.to_owned(), Retry::Never));
        };
        let hold = self.context.shelf.hold(id, &wish.terminal_id)?;
        let actor = self.actor_or_begin(id)?;
        let (to, lent) = oneshot::channel();
        actor.send(Command::Lend(to)).await.map_err(|_| gone())?;
        let lent = lent.await.map_err(|_| gone())??;
        let is_free = self.context.claim(&lent.session, id);
        if let Err(other) = is_free {
            let text = format!("conversation {other} works on the same session of the agent");
            return Err(ApiError::new(ErrorCode::Conflict, text, Retry::Later));
        }
        self.context.release(id);
        Ok((hold, lent))
    }

    /// Whether the agent has a session: one in which nobody said anything it never saved, and it would not go on with it.
    async fn is_saved(&self, session: &ClaudeSessionId) -> bool {
        let Some(config) = self.context.settings.config_folder() else {
            return true;
        };
        let Ok(session) = session.as_str().parse::<SessionId>() else {
            return true;
        };
        let look = move || SavedSessions::new(config).load_info(&session);
        let found = tokio::task::spawn_blocking(look).await;
        !matches!(found, Ok(Err(LoadError::NotFound(_))))
    }

    /// The task of a conversation; one that nobody has said anything in is begun.
    fn actor_or_begin(&self, id: &ConversationId) -> Result<mpsc::Sender<Command>, ApiError> {
        let mut actors = self.lock();
        if let Some(actor) = actors.get(id) {
            return Ok(actor.clone());
        }
        let book = begin_empty(&self.context, id).map_err(|error| {
            tracing::error!(conversation = %id, %error, "the log could not be begun");
            disk_trouble()
        })?;
        let (actor, inbox) = mpsc::channel(QUEUE);
        actors.insert(id.clone(), actor.clone());
        drop(actors);
        self.keep(id.clone(), inbox, Start::Open(Box::new(book)));
        Ok(actor)
    }
}

fn listed(terminals: Vec<KeptTerminal>) -> Done {
    Done {
        terminals: Some(terminals),
        ..Done::default()
    }
}
