//! What a client missed since its cursor, page by page: the entries of the history, and among them, at its place, what
//! became of the process, which is no entry. The WebSocket tells it before what happens, `events` over REST.

use std::collections::VecDeque;

use estelle_proto::events::ClaudeEvent;
use estelle_proto::limits::MAX_HISTORY_PAGE;
use estelle_proto::{ConversationId, Epoch, HistoryMessage, Seq};
use estelle_pylon::store::{HistoryPage, PageFrom, PageQuery, Store};
use serde::Serialize;

use crate::lens::{Down, Lens};

/// Where a client was.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Since {
    pub(crate) after: Option<u64>,
    pub(crate) epoch: Option<u64>,
}

/// A message with its place in the log.
#[derive(Debug, Serialize)]
pub(crate) struct Frame<'a> {
    #[serde(flatten)]
    pub(crate) down: &'a Down,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) seq: Option<Seq>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) epoch: Option<Epoch>,
}

impl<'a> Frame<'a> {
    /// What has no place belongs to no epoch either.
    pub(crate) fn new(down: &'a Down, seq: Option<Seq>, epoch: Option<Epoch>) -> Self {
        let epoch = epoch.filter(|_| seq.is_some());
        Self { down, seq, epoch }
    }
}

/// The history began anew: the cursor means nothing there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stale;

/// The store does not give what is asked of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unreadable;

/// The end of what is told: everything up to it is in the store.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Head {
    pub(crate) seq: Seq,
    pub(crate) epoch: Option<Epoch>,
}

/// A page of what was missed.
#[derive(Debug, Default)]
pub(crate) struct Page {
    /// In order, each with its place.
    pub(crate) told: Vec<(Down, Seq)>,
    /// How many entries it is made of.
    pub(crate) entries: usize,
    pub(crate) has_more: bool,
}

/// What was missed, as far as it was not read yet.
#[derive(Debug)]
pub(crate) struct Missed<'a> {
    store: &'a Store,
    session: ConversationId,
    head: Head,
    after: Seq,
    lives: VecDeque<(Seq, ClaudeEvent)>,
}

impl<'a> Missed<'a> {
    /// What came after a cursor; nothing if there is no cursor.
    pub(crate) async fn since(
        store: &'a Store,
        session: ConversationId,
        since: Since,
        head: Head,
    ) -> Result<Option<Self>, Stale> {
        let Some(after) = since.after.map(Seq) else {
            return Ok(None);
        };
        let is_other = |epoch| head.epoch != Some(Epoch(epoch));
        if since.epoch.is_some_and(is_other) || after > head.seq {
            return Err(Stale);
        }
        let lives = store.lifecycle(session.clone(), after, head.seq).await;
        Ok(Some(Self {
            store,
            session,
            head,
            after,
            lives: lives.unwrap_or_default().into(),
        }))
    }

    /// Up to where it was read.
    pub(crate) fn place(&self) -> Seq {
        self.after
    }

    /// Reads on.
    pub(crate) async fn next(&mut self, lens: &mut Lens) -> Result<Page, Unreadable> {
        let from = PageFrom::After(self.after);
        let page = page(self.store, &self.session, from, self.head.epoch).await?;
        let mut told = Vec::new();
        let mut is_over = !page.has_more || page.messages.is_empty();
        for entry in &page.messages {
            let seq = seq_of(entry);
            if seq.is_some_and(|seq| seq > self.head.seq) {
                is_over = true;
                break;
            }
            let mut is_told = false;
            while let Some((at, event)) = self.lives.pop_front_if(|(at, _)| seq >= Some(*at)) {
                told.extend(lens.event(&event).map(|down| (down, at)));
                is_told |= seq == Some(at);
            }
            let place = seq.unwrap_or(self.after).max(self.after);
            if !is_told && let Some(down) = lens.replay(entry) {
                told.push((down, place));
            }
            self.after = place;
        }
        if is_over {
            for (at, event) in self.lives.drain(..) {
                told.extend(lens.event(&event).map(|down| (down, at)));
            }
            self.after = self.head.seq;
        }
        Ok(Page {
            told,
            entries: page.messages.len(),
            has_more: !is_over,
        })
    }
}

/// Reads the newest entries for the names in them, which what follows goes by. They also say where the history ends.
pub(crate) async fn recall(
    store: &Store,
    session: &ConversationId,
    lens: &mut Lens,
) -> Result<Head, Unreadable> {
    let page = page(store, session, PageFrom::Newest { offset: 0 }, None).await?;
    page.messages.iter().for_each(|entry| lens.recall(entry));
    Ok(Head {
        seq: page.head_seq,
        epoch: page.epoch,
    })
}

async fn page(
    store: &Store,
    session: &ConversationId,
    from: PageFrom,
    epoch: Option<Epoch>,
) -> Result<HistoryPage, Unreadable> {
    let query = PageQuery {
        conversation_id: session.clone(),
        workspace_id: None,
        limit: MAX_HISTORY_PAGE,
        from,
        epoch,
    };
    store.page(query).await.map_err(|_| Unreadable)
}

/// The number of an entry.
fn seq_of(entry: &HistoryMessage) -> Option<Seq> {
    crate::shape::Message::of(entry.clone()).map(|message| Seq(message.seq))
}
