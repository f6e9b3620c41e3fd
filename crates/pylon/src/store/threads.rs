//! The threads of the store: one that writes, a few that read, and the handle that gives them work.
//!
//! A write is a job: one transaction on the writer's thread, whole or not at all, in the order of arrival. A read is a
//! job on whichever reader is free, and sees one moment of the database. Between jobs the writer clears away what was
//! discarded. Nothing here knows what the jobs are about.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use rusqlite::{Connection, Transaction, TransactionBehavior};
use tokio::sync::mpsc::error::TryRecvError;
use tokio::sync::{mpsc, oneshot};

use super::open::{self, DATABASE, OpenError, Taken};
use super::{StoreError, sweep};

/// Reads that run at once: a long search and an export leave one for pages.
const READERS: usize = 3;
/// Jobs that wait before whoever brings the next has to wait as well.
const QUEUE: usize = 256;

type WriteJob = Box<dyn FnOnce(&mut Desk) + Send>;
type ReadJob = Box<dyn FnOnce(&mut Connection) + Send>;

/// How a write is made to last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    /// It came from the host and can be fetched from there again: a power failure may undo it, with its cursor.
    FromHost,
    /// It exists nowhere else: on the disk before it is acknowledged.
    Own,
}

/// The pylon's memory. A cheap handle; the database is closed when the last one is gone.
#[derive(Debug, Clone)]
pub struct Store {
    writer: mpsc::Sender<ToWriter>,
    readers: mpsc::Sender<ToReader>,
    path: Arc<PathBuf>,
}

/// What the thread behind a channel is told.
enum Told<Job> {
    Do(Job),
    Close(oneshot::Sender<()>),
}

type ToWriter = Told<WriteJob>;
type ToReader = Told<ReadJob>;

/// What the writer's thread works on.
pub(super) struct Desk {
    connection: Connection,
    keeping: Keep,
    may_sweep: bool,
}

impl Store {
    /// Opens the store in a folder, making both if need be. Blocks; refuses a folder that another pylon uses and a
    /// database of a newer build.
    pub fn open(folder: &Path) -> Result<Self, OpenError> {
        let taken = open::take(folder)?;
        let path = folder.join(DATABASE);
        let desk = Desk {
            connection: open::writer(&path)?,
            keeping: Keep::Own,
            // What an earlier process left discarded.
            may_sweep: true,
        };
        let (writer, jobs) = mpsc::channel(QUEUE);
        let (readers, reads) = mpsc::channel::<ToReader>(QUEUE);
        let reads = Arc::new(Mutex::new(reads));
        for number in 1..=READERS {
            let connection = open::reader(&path)?;
            let reads = Arc::clone(&reads);
            named(format!("store-read-{number}"), move || {
                read_all(connection, &reads);
            })?;
        }
        named("store-write".to_owned(), move || {
            write_all(desk, jobs, taken);
        })?;
        let path = Arc::new(path);
        Ok(Self {
            writer,
            readers,
            path,
        })
    }

    /// Where the database is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Finishes the jobs that wait and closes the database. Later calls fail.
    pub async fn close(self) {
        // The writer is last, so that it is the one that tidies up behind itself.
        for _ in 0..READERS {
            close(&self.readers).await;
        }
        close(&self.writer).await;
    }

    /// Runs a job on the writer's desk.
    pub(super) async fn at_desk<T, E>(
        &self,
        work: impl FnOnce(&mut Desk) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let job: WriteJob = Box::new(move |desk| {
            // Whoever asked may have gone; the job is done all the same.
            let _ = reply.send(work(desk));
        });
        let sent = self.writer.send(Told::Do(job)).await;
        sent.map_err(|_| StoreError::Closed)?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    /// Runs a job as one transaction of the writer.
    pub(super) async fn write<T, E>(
        &self,
        keep: Keep,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + From<rusqlite::Error> + Send + 'static,
    {
        self.at_desk(move |desk| desk.transact(keep, work)).await
    }

    /// Runs a job on a reader, in one transaction: it sees one moment.
    pub(super) async fn read<T, E>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + From<rusqlite::Error> + Send + 'static,
    {
        self.at_reader(move |connection| in_one_moment(connection, work))
            .await
    }

    /// Runs a job on a reader that makes its own transaction, or none.
    pub(super) async fn at_reader<T, E>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let job: ReadJob = Box::new(move |connection| {
            let _ = reply.send(work(connection));
        });
        self.readers
            .send(Told::Do(job))
            .await
            .map_err(|_| StoreError::Closed)?;
        answer.await.map_err(|_| StoreError::Closed)?
    }
}

/// Tells one thread to close its connection, and waits until it has. One that is gone has closed as well.
async fn close<Job>(threads: &mpsc::Sender<Told<Job>>) {
    let (closed, done) = oneshot::channel();
    if threads.send(Told::Close(closed)).await.is_ok() {
        let _ = done.await;
    }
}

fn in_one_moment<T, E: From<rusqlite::Error>>(
    connection: &mut Connection,
    work: impl FnOnce(&Connection) -> Result<T, E>,
) -> Result<T, E> {
    let moment = connection.transaction()?;
    work(&moment)
}

impl Desk {
    /// The work as one transaction, undone if it fails.
    pub(super) fn transact<T, E: From<rusqlite::Error>>(
        &mut self,
        keep: Keep,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        if self.keeping != keep {
            let level = match keep {
                Keep::FromHost => "NORMAL",
                Keep::Own => "FULL",
            };
            self.connection.pragma_update(None, "synchronous", level)?;
            self.keeping = keep;
        }
        let behaviour = TransactionBehavior::Immediate;
        let transaction = self.connection.transaction_with_behavior(behaviour)?;
        let done = work(&transaction)?;
        transaction.commit()?;
        // Cheap to look, and only a write can have discarded something.
        self.may_sweep = true;
        Ok(done)
    }

    /// The connection itself, for what is no transaction.
    pub(super) fn connection(&mut self) -> &mut Connection {
        &mut self.connection
    }

    /// Clears a little of what was discarded away.
    fn sweep(&mut self) {
        match self.transact(Keep::FromHost, |transaction| sweep::some(transaction)) {
            Ok(sweep::Left::Nothing) => self.may_sweep = false,
            Ok(sweep::Left::More) => {}
            Err(error) => {
                // Nothing is lost by leaving it; the next write looks again.
                tracing::warn!(%error, "cannot clear away what was discarded");
                self.may_sweep = false;
            }
        }
    }
}

fn named(name: String, body: impl FnOnce() + Send + 'static) -> Result<(), OpenError> {
    let spawned = thread::Builder::new().name(name).spawn(body);
    spawned
        .map(|_| ())
        .map_err(|source| OpenError::Thread { source })
}

fn write_all(mut desk: Desk, mut jobs: mpsc::Receiver<ToWriter>, taken: Taken) {
    let mut closed = None;
    while let Some(message) = next(&mut desk, &mut jobs) {
        match message {
            Told::Do(job) => guarded(|| job(&mut desk)),
            Told::Close(reply) => {
                closed = Some(reply);
                break;
            }
        }
    }
    if let Err(error) = desk
        .connection
        .pragma_update(None, "wal_checkpoint", "TRUNCATE")
    {
        tracing::warn!(%error, "cannot empty the WAL at the end");
    }
    drop(desk);
    drop(taken);
    if let Some(reply) = closed {
        // Nobody may be waiting any more.
        let _ = reply.send(());
    }
}

/// The next message; while none is there, what was discarded is cleared away.
fn next(desk: &mut Desk, jobs: &mut mpsc::Receiver<ToWriter>) -> Option<ToWriter> {
    while desk.may_sweep {
        match jobs.try_recv() {
            Ok(message) => return Some(message),
            Err(TryRecvError::Empty) => desk.sweep(),
            Err(TryRecvError::Disconnected) => return None,
        }
    }
    jobs.blocking_recv()
}

fn read_all(mut connection: Connection, reads: &Mutex<mpsc::Receiver<ToReader>>) {
    loop {
        // The lock is held while waiting: one reader waits for work, the others for the lock.
        let told = reads
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .blocking_recv();
        match told {
            Some(Told::Do(job)) => guarded(|| job(&mut connection)),
            Some(Told::Close(reply)) => {
                drop(connection);
                // Nobody may be waiting any more.
                let _ = reply.send(());
                return;
            }
            None => return,
        }
    }
}

/// A panic in a job is a bug of that job; the thread goes on, and whoever waits is told that nothing came.
fn guarded(job: impl FnOnce()) {
    if catch_unwind(AssertUnwindSafe(job)).is_err() {
        tracing::error!("bug: a job of the store panicked");
    }
}

#[cfg(test)]
#[path = "threads_tests.rs"]
mod tests;
