//! The one owner of the process: waits for its end, and brings it about when asked.
//!
//! Ending goes from gentle to certain, each step with its time: the input was ended or the session told to
//! end, then the terminate signal, then the kill signal.

use tokio::sync::watch;
use tokio::time::timeout;

use crate::transport::{Exit, Grace, Process, Stop, WhenDropped};

/// How far the caller wants to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ending {
    /// The process ends when it likes.
    Natural,
    /// It was asked to end and gets its time.
    Asked,
    /// The last handle was dropped.
    Dropped,
    /// It must end, whoever else could attach to it.
    Aborted,
}

/// Waits for the process to end, and sees to it when asked; gives nothing for one that is left to run.
pub(crate) async fn run(
    process: &mut dyn Process,
    grace: Grace,
    mut ending: watch::Receiver<Ending>,
) -> Option<Exit> {
    let exit = wait_until(process, &mut ending, Ending::Asked).await;
    if exit.is_some() {
        return exit;
    }
    if process.when_dropped() == WhenDropped::LetRun && *ending.borrow() == Ending::Dropped {
        return None;
    }
    let asked = wait_until(process, &mut ending, Ending::Dropped);
    if let Ok(Some(exit)) = timeout(grace.ask, asked).await {
        return Some(exit);
    }
    Some(end(process, grace).await)
}

async fn end(process: &mut dyn Process, grace: Grace) -> Exit {
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
