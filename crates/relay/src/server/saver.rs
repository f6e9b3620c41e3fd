//! The task that writes the registry, so that a slow disk delays nobody but those who wait for it.

use std::sync::Arc;

use tokio::sync::mpsc;
use tracing::error;

use crate::machine::Effect;
use crate::metrics::Metrics;
use crate::registry::{RegistryFile, Version};

/// Versions that may wait to be written; people do not change devices faster than a disk writes.
const WAITING: usize = 64;

/// A version of the registry, and what depends on it.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) version: Version,
    pub(super) then: Vec<Effect>,
    pub(super) otherwise: Vec<Effect>,
}

/// What is to be done now.
#[derive(Debug)]
pub(super) struct Saved {
    pub(super) effects: Vec<Effect>,
}

/// The saver's work, and the two ends that the hub holds.
pub(super) fn saver(
    file: RegistryFile,
    metrics: Arc<Metrics>,
) -> (
    impl Future<Output = ()>,
    (mpsc::Sender<Job>, mpsc::Receiver<Saved>),
) {
    let (jobs, mut waiting) = mpsc::channel::<Job>(WAITING);
    let (done, saved) = mpsc::channel(WAITING);
    let file = Arc::new(file);
    let work = async move {
        while let Some(job) = waiting.recv().await {
            let file = file.clone();
            let version = job.version;
            let written = tokio::task::spawn_blocking(move || file.write(&version)).await;
            let effects = match written {
                Ok(Ok(())) => {
                    metrics.unsaved.set(0);
                    job.then
                }
                Ok(Err(error)) => {
                    metrics.save_failures_total.one();
                    metrics.unsaved.set(1);
                    let error: &dyn std::error::Error = &error;
                    error!(error, "the registry was not written");
                    job.otherwise
                }
                Err(error) => {
                    metrics.save_failures_total.one();
                    metrics.unsaved.set(1);
                    error!(%error, "bug: writing the registry panicked");
                    job.otherwise
                }
            };
            if done.send(Saved { effects }).await.is_err() {
                return;
            }
        }
    };
    (work, (jobs, saved))
}
