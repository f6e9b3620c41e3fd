//! Between one client and its session: the state first, then what the client missed, then that this was all, then
//! everything that happens.

use std::time::Duration;

use estelle_proto::events::ClaudeEvent;
use estelle_proto::ipc::{HostEvent, Touch};
use estelle_proto::{ConversationId, Epoch, ErrorCode, Seq};
use estelle_pylon::desk::{Beginning, Item};
use futures_util::{FutureExt as _, StreamExt as _};
use hyper::StatusCode;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior};
use tokio_tungstenite::tungstenite::Message;

use super::standing::{Known, Standing};
use super::up::{self, Up, refused};
use super::{Ending, Socket, log, send};
use crate::failure::Failure;
use crate::lens::{Down, Lens};
use crate::missed::{self, Frame, Head, Missed, Since, Stale};
use crate::operations::Caller;
use crate::shape::SessionState;

/// How long the host may take to say how a process is.
const HOST_TIME: Duration = Duration::from_secs(2);
/// What a client may have said without its being carried out yet.
const UNDONE: usize = 16;
/// The most that is told again; who missed more reads it as events, at its own pace.
const REPLAY: usize = 2000;

struct Pump<'a> {
    caller: &'a Caller,
    socket: &'a mut Socket,
    session: ConversationId,
    lens: Lens,
    status: Option<SessionState>,
    standing: Standing,
    epoch: Option<Epoch>,
}

/// Serves a client until one side ends it.
pub(super) async fn run(caller: &Caller, socket: &mut Socket, since: Since) -> Ending {
    let Ok(known) = caller.session().await else {
        return Ending::UnknownSession;
    };
    let session = known.conversation.conversation_id;
    let Ok(watch) = caller.shell.parts.desk.watch(session.clone()).await else {
        return Ending::UnknownSession;
    };
    let pump = Pump {
        caller,
        socket,
        lens: Lens::new(session.clone()),
        session,
        status: None,
        standing: Standing::new(watch.beginning.status.clone()),
        epoch: watch.beginning.epoch,
    };
    let (Ok(ending) | Err(ending)) = pump.serve(watch.beginning, watch.items, since).await;
    ending
}

impl Pump<'_> {
    async fn serve(
        mut self,
        beginning: Beginning,
        mut items: mpsc::Receiver<Item>,
        since: Since,
    ) -> Result<Ending, Ending> {
        self.touch();
        self.begin(&beginning, since).await?;
        let (undone, said) = mpsc::channel(UNDONE);
        let (tell, mut told) = mpsc::channel(UNDONE);
        let worker = up::carry_out(self.caller.clone(), said, tell);
        self.caller.shell.tasks.spawn(worker);
        let patience = self.caller.shell.config.patience;
        let mut ping = tokio::time::interval_at(Instant::now() + patience.ping, patience.ping);
        ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // Since when it is asked whether the client is there, without a word of it.
        let mut asked = None;
        let stop = self.caller.shell.stop.clone();
        loop {
            tokio::select! {
                () = stop.cancelled() => {
                    // What has happened until now is told: the end of the processes, perhaps.
                    if let Ok(item) = items.try_recv() {
                        self.items(item, &mut items, beginning.head).await?;
                    }
                    return Ok(Ending::GoingAway);
                }
                item = items.recv() => {
                    let Some(item) = item else {
                        return Ok(Ending::Again);
                    };
                    self.items(item, &mut items, beginning.head).await?;
                }
                Some(down) = told.recv() => self.tell(&down, None).await?,
                message = self.socket.next() => {
                    asked = None;
                    self.heard(message.transpose(), &undone).await?;
                }
                _ = ping.tick() => {
                    if asked.is_some_and(|asked: Instant| asked.elapsed() > patience.silence) {
                        // What was not read yet, because there was so much to tell, is a word too.
                        let Some(message) = self.socket.next().now_or_never() else {
                            return Ok(Ending::Gone);
                        };
                        asked = None;
                        self.heard(message.transpose(), &undone).await?;
                    }
                    self.send(Message::Ping(bytes::Bytes::new())).await?;
                    asked.get_or_insert_with(Instant::now);
                    // A process that ends in good order says nothing about it.
                    if self.standing.is_quiet() {
                        self.tell_status().await?;
                    }
                }
            }
        }
    }

    /// A client that looks is activity. The host is told in passing: nobody waits for it.
    fn touch(&self) {
        let (parts, id) = (self.caller.shell.parts.clone(), self.session.clone());
        self.caller.shell.tasks.spawn(async move {
            // A host that is away has no idle processes to stop either.
            let _ = parts.host.request(Touch::new(id.clone())).await;
            if let Err(error) = parts.store.touch(id, crate::operations::now()).await {
                tracing::error!(%error, "the store failed");
            }
        });
    }

    /// The state, what was missed, what is being written, what waits for a person; then that this was all of it. What
    /// comes before the missed has no place in the log: a connection that breaks there begins where the last one ended.
    async fn begin(&mut self, beginning: &Beginning, since: Since) -> Result<(), Ending> {
        self.tell_status().await?;
        let place = self.replay(beginning, since).await?;
        for event in &beginning.under_way {
            self.show(event, None).await?;
        }
        self.tell(&Down::CaughtUp {}, place).await
    }

    /// Tells what was missed, and says up to where the client now has everything; nothing if it has not.
    async fn replay(&mut self, beginning: &Beginning, since: Since) -> Result<Option<Seq>, Ending> {
        let store = self.caller.shell.parts.store.clone();
        let head = Head {
            seq: beginning.head,
            epoch: beginning.epoch,
        };
        let recalled = missed::recall(&store, &self.session, &mut self.lens).await;
        recalled.map_err(|_| Ending::Again)?;
        let missed = Missed::since(&store, self.session.clone(), since, head).await;
        let mut missed = match missed {
            Ok(Some(missed)) => missed,
            Ok(None) => return Ok(Some(head.seq)),
            Err(Stale) => {
                let text = "the history began anew";
                self.complain(ErrorCode::StaleCursor, text).await?;
                return Ok(Some(head.seq));
            }
        };
        let mut entries = 0;
        loop {
            let page = missed.next(&mut self.lens).await;
            let page = page.map_err(|_| Ending::Again)?;
            for (down, seq) in &page.told {
                self.tell(down, Some(*seq)).await?;
            }
            entries += page.entries;
            if !page.has_more {
                return Ok(Some(head.seq));
            }
            if entries > REPLAY {
                let text = "too much was missed: read the rest as events";
                self.complain(ErrorCode::TooLarge, text).await?;
                return Ok(None);
            }
        }
    }

    async fn complain(&mut self, code: ErrorCode, text: &str) -> Result<(), Ending> {
        self.refuse(code, text, None).await
    }

    /// Says that something is not done. Whoever said it under an id finds that id in it.
    async fn refuse(
        &mut self,
        code: ErrorCode,
        text: &str,
        about: Option<String>,
    ) -> Result<(), Ending> {
        let failure = Failure::new(StatusCode::CONFLICT, code.as_str(), text);
        self.tell(&refused(failure, about), None).await
    }

    /// All that waits. The host is asked how the process is when that cannot be known from what happened.
    async fn items(
        &mut self,
        first: Item,
        more: &mut mpsc::Receiver<Item>,
        head: Seq,
    ) -> Result<(), Ending> {
        let mut next = Some(first);
        let mut is_unclear = false;
        while let Some(item) = next {
            match item {
                Item::Event(event) => is_unclear |= self.happened(&event, head).await?,
                Item::Status(status) => is_unclear |= self.standing.is_another(&status),
                Item::Shutdown(notice) => self.tell(&notice.into(), None).await?,
            }
            next = more.try_recv().ok();
        }
        if is_unclear {
            self.tell_status().await?;
        }
        Ok(())
    }

    /// Tells what happened. Says whether the host has to be asked how the process is.
    async fn happened(&mut self, event: &HostEvent, head: Seq) -> Result<bool, Ending> {
        self.epoch = event.epoch.or(self.epoch);
        // What came before the beginning was told from the store.
        if event.seq.is_some_and(|seq| seq <= head) {
            return Ok(false);
        }
        self.show(&event.event, event.seq).await?;
        match self.standing.after(&event.event) {
            Known::Status(status) => self.tell_state(status).await.map(|()| false),
            Known::Unchanged => Ok(false),
            Known::Unclear => Ok(true),
        }
    }

    async fn show(&mut self, event: &ClaudeEvent, seq: Option<Seq>) -> Result<(), Ending> {
        if let ClaudeEvent::StateUpdate(update) = event
            && let Some(open) = &update.open
        {
            for down in self.lens.catch_up(open) {
                self.tell(&down, seq).await?;
            }
        }
        if let Some(down) = self.lens.event(event) {
            self.tell(&down, seq).await?;
        }
        Ok(())
    }

    /// Tells how the process is, if that is another one than before.
    async fn tell_status(&mut self) -> Result<(), Ending> {
        let Ok(known) = self.caller.session().await else {
            return Err(Ending::UnknownSession);
        };
        // A host that says nothing for so long is as good as away: what is known without it is told.
        let host = tokio::time::timeout(HOST_TIME, self.caller.status(&self.session)).await;
        let host = host.ok().flatten();
        let ended = self.caller.life(&self.session).await.ended;
        let status = SessionState::of(&known.conversation.status, host.as_ref(), ended);
        self.standing
            .learn(&known.conversation.status, host.as_ref());
        self.tell_state(status).await
    }

    async fn tell_state(&mut self, status: SessionState) -> Result<(), Ending> {
        if self.status == Some(status) {
            return Ok(());
        }
        self.status = Some(status);
        self.tell(&Down::StatusChange { status }, None).await
    }

    async fn send(&mut self, message: Message) -> Result<(), Ending> {
        send(self.socket, message, self.caller.shell.config.patience).await
    }

    async fn tell(&mut self, down: &Down, seq: Option<Seq>) -> Result<(), Ending> {
        let frame = Frame::new(down, seq, self.epoch);
        match serde_json::to_string(&frame) {
            Ok(text) => self.send(Message::text(text)).await,
            Err(error) => {
                tracing::error!(%error, "bug: a message cannot be written");
                Ok(())
            }
        }
    }

    async fn heard(
        &mut self,
        message: Result<Option<Message>, tokio_tungstenite::tungstenite::Error>,
        undone: &mpsc::Sender<Up>,
    ) -> Result<(), Ending> {
        let text = match message {
            Ok(Some(Message::Text(text))) => text,
            Ok(Some(Message::Ping(_) | Message::Pong(_))) => return Ok(()),
            Ok(Some(Message::Binary(_))) => {
                return self
                    .complain(ErrorCode::InvalidMessage, "messages are text")
                    .await;
            }
            Ok(Some(Message::Close(_) | Message::Frame(_)) | None) => return Err(Ending::Gone),
            Err(error) => {
                log(&error);
                return Err(Ending::Gone);
            }
        };
        let Ok(message) = serde_json::from_str::<Up>(&text) else {
            let words = "the message is not one of this interface";
            let about = up::about(&text);
            return self.refuse(ErrorCode::InvalidMessage, words, about).await;
        };
        if undone.try_send(message).is_err() {
            let words = "too much waits already; say it again later";
            let about = up::about(&text);
            return self.refuse(ErrorCode::RateLimited, words, about).await;
        }
        Ok(())
    }
}
