//! Makes the store: in batches, as a Pylon takes in a past, and then one entry at a time, as it takes in what happens.

use std::path::Path;
use std::time::Instant;

use estelle_proto::events::{ClaudeEvent, TextComplete, UserMessage};
use estelle_proto::ipc::HostEvent;
use estelle_proto::{ChainHash, ConversationId, Epoch, Name, PathText, Seq, Timestamp};
use estelle_pylon::store::{NewWorkspace, Outcome as Taken, Store};
use serde_json::{Value, json};

use crate::{Outcome, quantiles, text};

/// Events of one transaction when there are many: what the host hands over at once.
const BATCH: u64 = 500;
/// Entries of a conversation like most.
const SHORT: u64 = 100;
/// Some day.
const NOON: i64 = 1_794_744_000_000;

/// The file beside the database that names the two conversations.
pub(crate) const NAMES: &str = "conversations.json";

pub(crate) async fn fill(folder: &Path, entries: u64, appends: u64) -> Outcome<Value> {
    let store = Store::open(folder)?;
    let long = conversation(&store, "long").await?;
    let short = conversation(&store, "short").await?;
    let names = json!({"long": long, "short": short, "entries": entries, "shortEntries": SHORT});
    std::fs::write(folder.join(NAMES), names.to_string())?;
    let begin = Instant::now();
    let mut next = 1;
    while next <= entries {
        let end = (next + BATCH - 1).min(entries);
        let events: Vec<HostEvent> = (next..=end)
            .map(|nth| event(&long, nth, entries))
            .collect::<Outcome<_>>()?;
        take(&store, events).await?;
        next = end + 1;
    }
    let filled = begin.elapsed();
    // Nothing here is searched for.
    let few: Vec<HostEvent> = (1..=SHORT)
        .map(|nth| event(&short, nth, u64::MAX))
        .collect::<Outcome<_>>()?;
    take(&store, few).await?;
    let mut times = Vec::new();
    for nth in SHORT + 1..=SHORT + appends {
        let event = event(&short, nth, u64::MAX)?;
        let begin = Instant::now();
        take(&store, vec![event]).await?;
        times.push(begin.elapsed());
    }
    let bytes = std::fs::metadata(store.path())?.len();
    store.close().await;
    #[expect(clippy::cast_precision_loss, reason = "they are few")]
    let rate = entries as f64 / filled.as_secs_f64();
    Ok(json!({"entries_per_s": rate, "append": quantiles(times), "bytes": bytes}))
}

async fn conversation(store: &Store, name: &str) -> Outcome<ConversationId> {
    let workspace = NewWorkspace {
        name: Name::parse(name)?,
        working_dir: PathText::parse("/srv/project")?,
        conversation_name: Name::parse(name)?,
        at: Timestamp(NOON),
    };
    let (_, conversation) = store.create_workspace(workspace).await?;
    Ok(conversation.conversation_id)
}

async fn take(store: &Store, events: Vec<HostEvent>) -> Outcome<()> {
    let taken = store.apply(events).await?;
    match taken.iter().find(|taken| **taken != Taken::Applied) {
        Some(refused) => Err(format!("an event was not taken: {refused:?}").into()),
        None => Ok(()),
    }
}

/// Questions and answers in turns.
fn event(id: &ConversationId, nth: u64, entries: u64) -> Outcome<HostEvent> {
    let text = text::of(nth, entries);
    let at = Timestamp(NOON + i64::try_from(nth)?);
    let event: ClaudeEvent = if nth.is_multiple_of(2) {
        TextComplete::new(text).into()
    } else {
        UserMessage::new(text, at).into()
    };
    Ok(HostEvent {
        seq: Some(Seq(nth)),
        epoch: Some(Epoch(1)),
        chain_hash: Some(ChainHash::parse(&format!("{nth:032x}"))?),
        timestamp: Some(at),
        ..HostEvent::new(id.clone(), event)
    })
}
