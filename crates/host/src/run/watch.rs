//! Wakes readers when something happens in their run's folder: one kernel watch for all runs.
//!
//! A wake-up is a hint, never a fact: whoever is woken looks for himself. Hints can be lost when the kernel's queue
//! overflows, so all are woken then, and every reader looks now and then anyway: more often when its bell is silent, because
//! the kernel has no watch left for it.

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
///
/// The kernel gives each user a number of watches, which others may have used up. Nobody is refused anything for that: its
/// bell is silent then, and its listener looks for itself more often.
#[derive(Debug)]
pub struct RunWatch {
    begin: fn() -> io::Result<Inotify>,
    kernel: Mutex<Option<Kernel>>,
}

/// What the kernel tells.
#[derive(Debug)]
struct Kernel {
    watches: Watches,
    readers: Readers,
    _task: AbortOnDropHandle<()>,
}

/// Rings when something happens in a folder.
#[derive(Debug)]
pub struct Bell {
    notify: Arc<Notify>,
    silent: bool,
}

impl Bell {
    /// Waits for the next ring.
    pub async fn notified(&self) {
        self.notify.notified().await;
    }

    /// Whether nobody will ring it.
    pub fn is_silent(&self) -> bool {
        self.silent
    }
}

impl Default for RunWatch {
    fn default() -> Self {
        Self::beginning_with(Inotify::init)
    }
}

impl RunWatch {
    fn beginning_with(begin: fn() -> io::Result<Inotify>) -> Self {
        Self {
            begin,
            kernel: Mutex::new(None),
        }
    }

    /// One that the kernel refuses.
    #[cfg(test)]
    pub(crate) fn refused() -> Self {
        Self::beginning_with(|| Err(io::ErrorKind::QuotaExceeded.into()))
    }

    /// Watches a folder for as long as the returned bell is held. Arm first, then look: nothing is missed. A bell is for
    /// one listener; several for the same folder are all rung. Needs a tokio runtime.
    pub fn watch(&self, folder: &Path) -> Bell {
        let notify = Arc::new(Notify::new());
        let armed = self.arm(folder, &notify);
        if let Err(error) = &armed {
            tracing::warn!(
                %error, folder = %folder.display(),
                "a run cannot be watched and is looked at once a second; raise fs.inotify.max_user_instances or \
                 fs.inotify.max_user_watches if this stays"
            );
        }
        let silent = armed.is_err();
        Bell { notify, silent }
    }

    fn arm(&self, folder: &Path, notify: &Arc<Notify>) -> io::Result<()> {
        let mut kernel = self.kernel.lock().unwrap_or_else(PoisonError::into_inner);
        let kernel = match &mut *kernel {
            Some(kernel) => kernel,
            // What was used up may be free again.
            none => none.insert(Kernel::over((self.begin)()?)?),
        };
        kernel.arm(folder, notify)
    }
}

impl Kernel {
    fn over(inotify: Inotify) -> io::Result<Self> {
        let watches = inotify.watches();
        let events = inotify.into_event_stream(vec![0; EVENT_BUFFER])?;
        let readers: Readers = Arc::default();
        let task = TaskTracker::new().spawn(pass_on(events, Arc::clone(&readers)));
        Ok(Self {
            watches,
            readers,
            _task: AbortOnDropHandle::new(task),
        })
    }

    fn arm(&mut self, folder: &Path, notify: &Arc<Notify>) -> io::Result<()> {
        let mask = WatchMask::MODIFY | WatchMask::MOVED_TO | WatchMask::CREATE;
        let watches = &mut self.watches;
        let descriptor = watches.add(folder, mask)?;
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        readers
            .entry(descriptor)
            .or_default()
            .push(Arc::downgrade(notify));
        // Folders that nobody reads any more are let go of here, where both are at hand anyway.
        readers.retain(|descriptor, bells| {
            bells.retain(|bell| bell.strong_count() > 0);
            if bells.is_empty() {
                // A folder that is gone has lost its watch already.
                let _ = watches.remove(descriptor.clone());
            }
            !bells.is_empty()
        });
        Ok(())
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
        let watch = RunWatch::default();
        let bells = [(); 2].map(|()| watch.watch(folder.path()));
        std::fs::write(folder.path().join("file"), "").unwrap();
        for bell in &bells {
            let woken = tokio::time::timeout(PATIENCE, bell.notified()).await;
            woken.expect("every bell is rung");
        }
    }

    #[tokio::test]
    async fn one_hint_wakes_a_listener_once() {
        let folder = tempfile::tempdir().unwrap();
        let watch = RunWatch::default();
        let bell = watch.watch(folder.path());
        let (woken, ()) = tokio::join!(bell.notified().map(|()| true), async {
            std::fs::create_dir(folder.path().join("inner")).unwrap();
        });
        assert!(woken);
        assert_eq!(bell.notified().now_or_never(), None);
    }

    #[tokio::test]
    async fn a_folder_that_nobody_reads_is_let_go_of() {
        let folder = tempfile::tempdir().unwrap();
        let watch = RunWatch::default();
        let inner = folder.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        drop(watch.watch(&inner));
        let _bell = watch.watch(folder.path());
        let kernel = watch.kernel.lock().unwrap();
        let readers = &kernel.as_ref().unwrap().readers;
        assert_eq!(readers.lock().unwrap().len(), 1);
    }

    #[tokio::test]
    async fn a_bell_that_nobody_rings_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let watch = RunWatch::default();
        assert!(!watch.watch(folder.path()).is_silent());
        // The kernel refuses this one for another reason, in the same way.
        assert!(watch.watch(&folder.path().join("nowhere")).is_silent());
        assert!(RunWatch::refused().watch(folder.path()).is_silent());
    }
}
