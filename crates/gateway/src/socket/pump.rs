//! Between one client and its session: the state first, then what the client missed, then everything that happens.

use std::time::Duration;

use estelle_proto::events::ClaudeEvent;
use estelle_proto::ipc::{HostEvent, Touch};
use estelle_proto::{ConversationId, Epoch, ErrorCode, Seq};
use estelle_pylon::desk::{Beginning, Item};
use estelle_pylon::store::{HistoryPage, PageFrom, PageQuery};
use futures_util::StreamExt as _;
use hyper::StatusCode;
use serde::Serialize;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior};
use tokio_tungstenite::tungstenite::Message;

use super::standing::{Known, Standing};
use super::up::{self, Up, refused};
use super::{Ending, Since, Socket, log, send};
use crate::failure::Failure;
use crate::lens::{Down, Lens};
use crate::operations::Caller;
use crate::shape::SessionState;

/// How often a client is asked whether it is there.
const PING: Duration = Duration::from_secs(20);
/// How long it may say nothing at all.
const SILENCE: Duration = Duration::from_mins(1);
/// What a client may have said without its being carried out yet.
const UNDONE: usize = 16;
/// The most that is told again; who missed more reads it as messages.
const REPLAY: usize = 2000;

/// A message with its place in the log.
#[derive(Debug, Serialize)]
struct Frame<'a> {
    #[serde(flatten)]
    down: &'a Down,
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<Seq>,
    #[serde(skip_serializing_if = "Option::is_none")]
    epoch: Option<Epoch>,
}

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
        let mut ping = tokio::time::interval_at(Instant::now() + PING, PING);
        ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut heard = Instant::now();
        loop {
            tokio::select! {
                item = items.recv() => {
                    let Some(item) = item else {
                        return Ok(Ending::Again);
                    };
                    self.items(item, &mut items, beginning.head).await?;
                }
                Some(down) = told.recv() => self.tell(&down, None).await?,
                message = self.socket.next() => {
                    heard = Instant::now();
                    self.heard(message.transpose(), &undone).await?;
                }
                _ = ping.tick() => {
                    if heard.elapsed() > SILENCE {
                        return Ok(Ending::Gone);
                    }
                    send(self.socket, Message::Ping(bytes::Bytes::new())).await?;
                    // A process that ends in good order says nothing about it.
                    if self.standing.is_quiet() {
                        self.tell_status(None).await?;
                    }
                }
            }
        }
    }

    /// A client that looks is activity. The host is told in passing: nobody waits for it.
    fn touch(&self) {
        let (host, id) = (self.caller.shell.parts.host.clone(), self.session.clone());
        self.caller.shell.tasks.spawn(async move {
            // A host that is away has no idle processes to stop either.
            let _ = host.request(Touch::new(id)).await;
        });
    }

    /// The state, what was missed, what is being written, what waits for a person.
    async fn begin(&mut self, beginning: &Beginning, since: Since) -> Result<(), Ending> {
        self.tell_status(Some(beginning.head)).await?;
        self.replay(beginning, since).await?;
        for event in &beginning.under_way {
            self.show(event, None).await?;
        }
        Ok(())
    }

    async fn replay(&mut self, beginning: &Beginning, since: Since) -> Result<(), Ending> {
        let newest = PageFrom::Newest { offset: 0 };
        if let Some(page) = self.page(newest, beginning).await {
            page.messages
                .iter()
                .for_each(|entry| self.lens.recall(entry));
        }
        let Some(mut after) = since.after.map(Seq) else {
            return Ok(());
        };
        let is_stale = since
            .epoch
            .is_some_and(|epoch| beginning.epoch != Some(Epoch(epoch)));
        if is_stale || after > beginning.head {
            return self
                .complain(ErrorCode::StaleCursor, "the history began anew")
                .await;
        }
        let mut told = 0;
        while after < beginning.head {
            let Some(page) = self.page(PageFrom::After(after), beginning).await else {
                return Err(Ending::Again);
            };
            for entry in &page.messages {
                let seq = seq_of(entry);
                if seq.is_some_and(|seq| seq > beginning.head) {
                    return Ok(());
                }
                if let Some(down) = self.lens.replay(entry) {
                    self.tell(&down, seq).await?;
                }
                after = seq.unwrap_or(after).max(after);
            }
            told += page.messages.len();
            if !page.has_more || page.messages.is_empty() {
                return Ok(());
            }
            if told > REPLAY {
                let text = "too much was missed: read the messages";
                return self.complain(ErrorCode::TooLarge, text).await;
            }
        }
        Ok(())
    }

    async fn page(&mut self, from: PageFrom, beginning: &Beginning) -> Option<HistoryPage> {
        let query = PageQuery {
            conversation_id: self.session.clone(),
            workspace_id: None,
            limit: estelle_proto::limits::MAX_HISTORY_PAGE,
            from,
            epoch: beginning.epoch,
        };
        self.caller.shell.parts.store.page(query).await.ok()
    }

    async fn complain(&mut self, code: ErrorCode, text: &str) -> Result<(), Ending> {
        let failure = Failure::new(StatusCode::CONFLICT, code.as_str(), text);
        self.tell(&refused(failure, None), None).await
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
            self.tell_status(None).await?;
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
            Known::Status(status) => self.tell_state(status, None).await.map(|()| false),
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
    async fn tell_status(&mut self, seq: Option<Seq>) -> Result<(), Ending> {
        let Ok(known) = self.caller.session().await else {
            return Err(Ending::UnknownSession);
        };
        let host = self.caller.status(&self.session).await;
        let status = SessionState::of(&known.conversation.status, host.as_ref());
        self.standing
            .learn(&known.conversation.status, host.as_ref());
        self.tell_state(status, seq).await
    }

    async fn tell_state(&mut self, status: SessionState, seq: Option<Seq>) -> Result<(), Ending> {
        if self.status == Some(status) {
            return Ok(());
        }
        self.status = Some(status);
        self.tell(&Down::StatusChange { status }, seq).await
    }

    async fn tell(&mut self, down: &Down, seq: Option<Seq>) -> Result<(), Ending> {
        let epoch = self.epoch.filter(|_| seq.is_some());
        let frame = Frame { down, seq, epoch };
        match serde_json::to_string(&frame) {
            Ok(text) => send(self.socket, Message::text(text)).await,
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
            let text = "the message is not one of this interface";
            return self.complain(ErrorCode::InvalidMessage, text).await;
        };
        if undone.try_send(message).is_err() {
            let text = "too much waits already; say it again later";
            return self.complain(ErrorCode::RateLimited, text).await;
        }
        Ok(())
    }
}

/// The number of an entry.
fn seq_of(entry: &estelle_proto::HistoryMessage) -> Option<Seq> {
    crate::shape::Message::of(entry.clone()).map(|message| Seq(message.seq))
}
