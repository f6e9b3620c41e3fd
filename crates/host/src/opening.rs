//! Opens the books of all conversations, several at a time.
//!
//! Proving and folding a log keeps one core busy, and logs have nothing to do with each other. What goes on in a
//! conversation is not begun here: whoever asked does so, with all of them at hand.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;

use estelle_proto::ConversationId;

use crate::conversation::{Book, LOG, OpenBookError, now};

/// More threads would wait for the disk.
const MOST_THREADS: usize = 4;

/// A conversation, and its book if it could be opened.
pub(crate) type Opened = (ConversationId, Result<Book, OpenBookError>);

/// Opens the books of all conversations in a folder.
pub(crate) fn open_all(folder: &Path) -> io::Result<Vec<Opened>> {
    let waiting = Mutex::new(logs(folder)?);
    let opened = Mutex::new(Vec::new());
    let open_next = || {
        while let Some(log) = pop(&waiting) {
            let book = open(&log.folder);
            let mut opened = opened.lock().unwrap_or_else(PoisonError::into_inner);
            opened.push((log.id, book));
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 1..threads.min(MOST_THREADS) {
            // Whatever a thread that cannot be started would have done is done by the others.
            let _ = thread::Builder::new().spawn_scoped(scope, open_next);
        }
        open_next();
    });
    Ok(opened.into_inner().unwrap_or_else(PoisonError::into_inner))
}

struct Waiting {
    id: ConversationId,
    folder: PathBuf,
    bytes: u64,
}

/// The logs in a folder, the longest last.
fn logs(folder: &Path) -> io::Result<Vec<Waiting>> {
    let mut logs = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(Ok(id)) = name.to_str().map(ConversationId::parse) else {
            continue;
        };
        let folder = entry.path();
        let bytes = match folder.join(LOG).metadata() {
            Ok(log) => log.len(),
            // A creation that did not finish; nobody was promised anything.
            Err(error) if is_absent(&error) => continue,
            // It is there, and whoever opens it finds out what is wrong.
            Err(_) => 0,
        };
        logs.push(Waiting { id, folder, bytes });
    }
    logs.sort_by_key(|log| log.bytes);
    Ok(logs)
}

pub(crate) fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// The longest log that is left: one that is begun last would be waited for alone.
fn pop(waiting: &Mutex<Vec<Waiting>>) -> Option<Waiting> {
    let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
    waiting.pop()
}

/// Opens the book of one conversation.
pub(crate) fn open(folder: &Path) -> Result<Book, OpenBookError> {
    let opened = Book::open(folder, now())?;
    if let Some(damage) = &opened.damage {
        tracing::warn!(folder = %folder.display(), ?damage, "a log was damaged");
    }
    Ok(opened.book)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use estelle_proto::{Epoch, Generation, Timestamp};
    use estelle_state::conversation::Change;

    use super::*;
    use crate::conversation::Beginning;

    #[test]
    fn every_conversation_is_opened_once_and_a_bad_one_holds_up_no_other() {
        let data = tempfile::tempdir().unwrap();
        let names: Vec<String> = (0..20).map(|nth| format!("conv-{nth:02}")).collect();
        for name in &names {
            let folder = data.path().join(name);
            fs::create_dir(&folder).unwrap();
            let beginning = Beginning {
                id: ConversationId::parse(name).unwrap(),
                epoch: Epoch(1),
                generation: Generation(1),
                settings: Change::default(),
                events: Vec::new(),
            };
            Book::begin(&folder, Timestamp(0), beginning).unwrap();
        }
        fs::write(data.path().join("conv-07").join(LOG), "no log\n").unwrap();
        fs::create_dir(data.path().join("unfinished")).unwrap();
        fs::write(data.path().join("a file"), "").unwrap();

        let mut opened = open_all(data.path()).unwrap();
        opened.sort_by(|one, other| one.0.cmp(&other.0));
        let found: Vec<_> = opened.iter().map(|(id, _)| id.as_str()).collect();
        assert_eq!(found, names);
        for (id, book) in &opened {
            match book {
                Ok(book) => assert_eq!(book.conversation().id(), id),
                Err(error) => assert_eq!(
                    (id.as_str(), error.to_string().is_empty()),
                    ("conv-07", false)
                ),
            }
        }
        assert!(opened[7].1.is_err());
    }

    #[test]
    fn the_longest_log_is_opened_first() {
        let data = tempfile::tempdir().unwrap();
        for (name, length) in [("short", 1), ("long", 300), ("middle", 20)] {
            fs::create_dir(data.path().join(name)).unwrap();
            fs::write(data.path().join(name).join(LOG), vec![b'x'; length]).unwrap();
        }
        let waiting = Mutex::new(logs(data.path()).unwrap());
        let order: Vec<_> = std::iter::from_fn(|| pop(&waiting)).collect();
        let order: Vec<_> = order.iter().map(|log| log.id.as_str()).collect();
        assert_eq!(order, ["long", "middle", "short"]);
    }
}
