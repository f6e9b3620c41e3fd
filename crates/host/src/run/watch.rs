//! Wakes readers when something happens in their run's folder: one kernel watch for all runs.
//!
//! A wake-up is a hint, never a fact: whoever is woken looks for himself. Hints can be lost when the kernel's queue
//! overflows, so all are woken then, and every reader looks once a second anyway.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use futures_util::StreamExt;
use inotify::{EventMask, Inotify, WatchDescriptor, WatchMask, Watches};
use tokio::sync::Notify;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

/// Room for some hundred events per read.
const EVENT_BUFFER: usize = 16 * 1024;

type Readers = Arc<Mutex<HashMap<WatchDescriptor, Weak<Notify>>>>;

/// The watch over the folders of all runs.
#[derive(Debug)]
pub struct RunWatch {
    watches: Mutex<Watches>,
    readers: Readers,
    _task: AbortOnDropHandle<()>,
}

impl RunWatch {
    /// Starts to watch. Needs a tokio runtime.
    pub fn new() -> io::Result<Self> {
        let inotify = Inotify::init()?;
        let watches = inotify.watches();
        let events = inotify.into_event_stream(vec![0; EVENT_BUFFER])?;
        let readers: Readers = Arc::default();
        let task = TaskTracker::new().spawn(pass_on(events, Arc::clone(&readers)));
        Ok(Self {
            watches: Mutex::new(watches),
            readers,
            _task: AbortOnDropHandle::new(task),
        })
    }

    /// Watches a folder for as long as the returned bell is held. Arm first, then look: nothing is missed.
    pub fn watch(&self, folder: &Path) -> io::Result<Arc<Notify>> {
        let bell = Arc::new(Notify::new());
        let mask = WatchMask::MODIFY | WatchMask::MOVED_TO | WatchMask::CREATE;
        let mut watches = self.watches.lock().unwrap_or_else(PoisonError::into_inner);
        let descriptor = watches.add(folder, mask)?;
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        readers.insert(descriptor, Arc::downgrade(&bell));
        // Folders that nobody reads any more are let go of here, where both locks are held anyway.
        let idle: Vec<_> = readers
            .iter()
            .filter(|(_, bell)| bell.strong_count() == 0)
            .map(|(descriptor, _)| descriptor.clone())
            .collect();
        for descriptor in idle {
            readers.remove(&descriptor);
            // A folder that is gone has lost its watch already.
            let _ = watches.remove(descriptor);
        }
        Ok(bell)
    }
}

async fn pass_on(mut events: inotify::EventStream<Vec<u8>>, readers: Readers) {
    while let Some(event) = events.next().await {
        let readers = readers.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Ok(event) if !event.mask.contains(EventMask::Q_OVERFLOW) => {
                if let Some(bell) = readers.get(&event.wd).and_then(Weak::upgrade) {
                    bell.notify_waiters();
                    bell.notify_one();
                }
            }
            // Lost hints, or a failure to read them: everybody looks.
            Ok(_) | Err(_) => {
                for bell in readers.values().filter_map(Weak::upgrade) {
                    bell.notify_waiters();
                    bell.notify_one();
                }
            }
        }
    }
}
