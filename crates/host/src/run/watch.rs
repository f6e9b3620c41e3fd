//! Wakes readers when something happens in their run's folder: one kernel watch for all runs.
//!
//! A wake-up is a hint, never a fact: whoever is woken looks for himself. Hints can be lost when the kernel's queue
//! overflows, so all are woken then, and every reader looks now and then anyway.

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

/// The bells of each folder. Each has one listener: ringing it wakes that one or, if it is busy, keeps it from sleeping.
type Readers = Arc<Mutex<HashMap<WatchDescriptor, Vec<Weak<Notify>>>>>;

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

    /// Watches a folder for as long as the returned bell is held. Arm first, then look: nothing is missed. A bell is for
    /// one listener; several for the same folder are all rung.
    pub fn watch(&self, folder: &Path) -> io::Result<Arc<Notify>> {
        let bell = Arc::new(Notify::new());
        let mask = WatchMask::MODIFY | WatchMask::MOVED_TO | WatchMask::CREATE;
        let mut watches = self.watches.lock().unwrap_or_else(PoisonError::into_inner);
        let descriptor = watches.add(folder, mask)?;
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        readers
            .entry(descriptor)
            .or_default()
            .push(Arc::downgrade(&bell));
        // Folders that nobody reads any more are let go of here, where both locks are held anyway.
        readers.retain(|descriptor, bells| {
            bells.retain(|bell| bell.strong_count() > 0);
            if bells.is_empty() {
                // A folder that is gone has lost its watch already.
                let _ = watches.remove(descriptor.clone());
            }
            !bells.is_empty()
        });
        Ok(bell)
    }
}

async fn pass_on(mut events: inotify::EventStream<Vec<u8>>, readers: Readers) {
    while let Some(event) = events.next().await {
        let readers = readers.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Ok(event) if !event.mask.contains(EventMask::Q_OVERFLOW) => {
                ring(readers.get(&event.wd).into_iter().flatten());
            }
            // Lost hints, or a failure to read them: everybody looks.
            Ok(_) | Err(_) => ring(readers.values().flatten()),
        }
    }
}

fn ring<'a>(bells: impl Iterator<Item = &'a Weak<Notify>>) {
    for bell in bells.filter_map(Weak::upgrade) {
        bell.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures_util::FutureExt;

    use super::*;

    /// A hint takes microseconds; one that was lost never comes.
    const PATIENCE: Duration = Duration::from_secs(10);

    #[tokio::test]
    async fn every_listener_of_a_folder_is_woken() {
        let folder = tempfile::tempdir().unwrap();
        let watch = RunWatch::new().unwrap();
        let bells = [(); 2].map(|()| watch.watch(folder.path()).unwrap());
        std::fs::write(folder.path().join("file"), "").unwrap();
        for bell in &bells {
            let woken = tokio::time::timeout(PATIENCE, bell.notified()).await;
            woken.expect("every bell is rung");
        }
    }

    #[tokio::test]
    async fn one_hint_wakes_a_listener_once() {
        let folder = tempfile::tempdir().unwrap();
        let watch = RunWatch::new().unwrap();
        let bell = watch.watch(folder.path()).unwrap();
        let (woken, ()) = tokio::join!(bell.notified().map(|()| true), async {
            std::fs::create_dir(folder.path().join("inner")).unwrap();
        });
        assert!(woken);
        assert_eq!(bell.notified().now_or_never(), None);
    }

    #[tokio::test]
    async fn a_folder_that_nobody_reads_is_let_go_of() {
        let folder = tempfile::tempdir().unwrap();
        let watch = RunWatch::new().unwrap();
        let inner = folder.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        drop(watch.watch(&inner).unwrap());
        let _bell = watch.watch(folder.path()).unwrap();
        assert_eq!(watch.readers.lock().unwrap().len(), 1);
    }
}
