//! Somebody who watches the host itself, beside the Pylon: comes back after every death of it, at the cursors it has.

use std::sync::Arc;
use std::time::Duration;

use estelle_proto::ConversationId;

use super::board::{Board, Phase};
use crate::rig::Viewer;

/// How often a host that is away is tried.
const AGAIN: Duration = Duration::from_millis(50);
/// How long an attempt may take at first; twice as long after each that took longer.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// Watches until the round is over.
pub(super) async fn watch(mut viewer: Viewer, talks: Vec<ConversationId>, board: Arc<Board>) {
    let mut wait = FIRST_WAIT;
    while board.phase() != Phase::Over {
        match tokio::time::timeout(wait, attach(&mut viewer, &talks)).await {
            Ok(Ok(())) => {
                wait = FIRST_WAIT;
                while board.phase() != Phase::Over {
                    let lost = tokio::time::timeout(AGAIN, viewer.lost()).await;
                    if lost.is_ok() {
                        break;
                    }
                }
            }
            Ok(Err(_)) => tokio::time::sleep(AGAIN).await,
            Err(_) => wait = (wait * 2).min(LONGEST_WAIT),
        }
    }
}

async fn attach(viewer: &mut Viewer, talks: &[ConversationId]) -> anyhow::Result<()> {
    viewer.connect().await?;
    for id in talks {
        viewer.subscribe(id).await?;
    }
    Ok(())
}
