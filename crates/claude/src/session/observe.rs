//! What a message means for the question whether the work is over.

use super::quiet::Seen;
use crate::wire::system::{SessionState, TaskStatus};
use crate::wire::{Body, Message, ResultMessage, SystemMessage};

/// Reads a message for [`super::quiet::Quiet`].
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the vendor's list is open and most of it is beside the point"
)]
pub(super) fn seen(message: &Message) -> Seen {
    match &message.body {
        Body::Result(result) => {
            let queued = match result {
                ResultMessage::Success(result) => result.queued_turn_count,
                ResultMessage::Error(result) => result.queued_turn_count,
            };
            Seen::Result {
                queued: queued.unwrap_or_default(),
                answered: result.user_message_uuids().to_vec(),
            }
        }
        Body::System(system) => seen_system(system),
        _ => Seen::Other,
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the vendor's list is open and most of it is beside the point"
)]
fn seen_system(system: &SystemMessage) -> Seen {
    match system {
        SystemMessage::Init(_) => Seen::TurnStarted,
        // Watchers and housekeeping may never end; nobody waits for them.
        SystemMessage::TaskStarted(task)
            if task.ambient == Some(true) || task.skip_transcript == Some(true) =>
        {
            Seen::Other
        }
        SystemMessage::TaskStarted(task) => Seen::TaskStarted(task.task_id.clone()),
        SystemMessage::TaskNotification(task) => Seen::TaskEnded(task.task_id.clone()),
        SystemMessage::TaskUpdated(task) if is_over(task.patch.status.as_ref()) => {
            Seen::TaskEnded(task.task_id.clone())
        }
        SystemMessage::BackgroundTasksChanged(changed) => Seen::BackgroundTasks(
            changed
                .tasks
                .iter()
                .filter(|task| task.ambient != Some(true))
                .map(|task| task.task_id.clone())
                .collect(),
        ),
        SystemMessage::SessionStateChanged(changed) if changed.state == SessionState::Idle => {
            Seen::StateIdle
        }
        SystemMessage::SessionStateChanged(_) => Seen::StateBusy,
        _ => Seen::Other,
    }
}

fn is_over(status: Option<&TaskStatus>) -> bool {
    matches!(
        status,
        Some(TaskStatus::Completed | TaskStatus::Failed | TaskStatus::Killed)
    )
}
