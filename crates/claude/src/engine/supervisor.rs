//! The one owner of the process: waits for its end, and brings it about when asked.
//!
//! Ending goes from gentle to certain, each step with its time: the input was ended or the session told to
//! end, then the terminate signal, then the kill signal.

use tokio::sync::watch;
use tokio::time::timeout;

use crate::transport::{Exit, Grace, Process, Stop};

/// How far the caller wants to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ending {
    /// The process ends when it likes.
    Natural,
    /// It was asked to end and gets its time.
    Asked,
    /// Nobody is interested any more.
    Abandoned,
}

/// Waits for the process to end.
pub(crate) async fn run(
    process: &mut dyn Process,
    grace: Grace,
    mut ending: watch::Receiver<Ending>,
) -> Exit {
    if let Some(exit) = wait_until(process, &mut ending, Ending::Asked).await {
        return exit;
    }
    let asked = wait_until(process, &mut ending, Ending::Abandoned);
    if let Ok(Some(exit)) = timeout(grace.ask, asked).await {
        return exit;
    }
    process.stop(Stop::Terminate);
    if let Ok(exit) = timeout(grace.terminate, process.wait()).await {
        return exit;
    }
    process.stop(Stop::Kill);
    process.wait().await
}

/// Waits for the end of the process, or until the caller wants at least `level`.
async fn wait_until(
    process: &mut dyn Process,
    ending: &mut watch::Receiver<Ending>,
    level: Ending,
) -> Option<Exit> {
    tokio::select! {
        biased;
        // The end itself comes first: what happened is worth more than what is wanted.
        exit = process.wait() => Some(exit),
        // A sender that is gone wants the process gone as well.
        _ = ending.wait_for(|wanted| *wanted >= level) => None,
    }
}
