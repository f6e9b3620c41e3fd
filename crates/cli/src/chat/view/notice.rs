//! What the CLI says about itself: turns, modes, retries, background work, notices.

use estelle_claude::wire::event::{RateLimitEvent, RateLimitStatus};
use estelle_claude::wire::system::{
    ApiRetry, CompactBoundary, CompactResult, InformationalLevel, Init, Status, StatusWord,
    SystemMessage, TaskNotification, TaskNotificationStatus, TaskStarted, TaskStatus,
};
use estelle_claude::wire::{Body, Malformed};

use super::View;
use crate::chat::clean;
use crate::chat::piece::{Piece, Tone};

/// Characters of a line that is no message which are shown.
const SAMPLE: usize = 80;
/// Characters of a remark that are shown.
const REMARK: usize = 400;

impl View {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the other lines are for programs, not for people"
    )]
    pub(super) fn on_system(&mut self, system: &SystemMessage) -> Vec<Piece> {
        match system {
            SystemMessage::Init(init) => self.on_init(init),
            SystemMessage::Status(status) => self.on_status(status),
            SystemMessage::ThinkingTokens(tokens) => {
                vec![Piece::status(format!(
                    "… thinking, about {} tokens",
                    tokens.estimated_tokens
                ))]
            }
            SystemMessage::TaskStarted(task) => self.on_task_started(task),
            SystemMessage::TaskProgress(task) => {
                let doing = task
                    .description
                    .iter()
                    .map(|doing| Piece::status(format!("… {doing}")));
                doing.collect()
            }
            SystemMessage::TaskUpdated(task) => {
                let over = [
                    TaskStatus::Completed,
                    TaskStatus::Failed,
                    TaskStatus::Killed,
                ];
                if task
                    .patch
                    .status
                    .as_ref()
                    .is_some_and(|status| over.contains(status))
                {
                    self.tasks.remove(&task.task_id);
                }
                Vec::new()
            }
            SystemMessage::TaskNotification(task) => self.on_task_ended(task),
            SystemMessage::BackgroundTasksChanged(changed) => {
                let tasks = changed.tasks.iter();
                let named = tasks.map(|task| {
                    (
                        task.task_id.clone(),
                        task.description.clone().unwrap_or_default(),
                    )
                });
                self.tasks = named.collect();
                Vec::new()
            }
            SystemMessage::CompactBoundary(boundary) => {
                // The result of such a turn repeats an earlier text.
                self.turn.answered = true;
                vec![Piece::line(Tone::Dim, compacted(boundary))]
            }
            other => remark(other),
        }
    }

    fn on_init(&mut self, init: &Init) -> Vec<Piece> {
        self.facts.session_id = Some(init.session_id.clone());
        if init.model.is_some() {
            self.facts.model.clone_from(&init.model);
        }
        if let Some(mode) = &init.permission_mode {
            self.facts.mode = Some(mode.to_string());
        }
        let by_itself = !self.turn.open && !self.turn.expected;
        self.turn.open = true;
        self.turn.expected = false;
        if by_itself {
            return vec![
                Piece::Gap,
                Piece::line(Tone::Dim, "⧗ The conversation goes on by itself."),
            ];
        }
        Vec::new()
    }

    fn on_status(&mut self, status: &Status) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mode = status.permission_mode.as_ref().map(ToString::to_string);
        if mode.is_some() && mode != self.facts.mode {
            let text = format!("Permission mode: {}", mode.as_deref().unwrap_or_default());
            pieces.push(Piece::line(Tone::Dim, text));
            self.facts.mode = mode;
        }
        match &status.status {
            Some(StatusWord::Requesting) => pieces.push(Piece::status("… waiting for the model")),
            Some(StatusWord::Compacting) => {
                pieces.push(Piece::line(
                    Tone::Dim,
                    "Summing up the conversation, which may take a while.",
                ));
            }
            Some(_) | None => {}
        }
        if status.compact_result == Some(CompactResult::Failed) {
            let reason = status
                .compact_error
                .as_deref()
                .unwrap_or("no reason was given");
            pieces.push(Piece::line(
                Tone::Bad,
                format!("The conversation could not be summed up: {reason}"),
            ));
        }
        pieces
    }

    fn on_task_started(&mut self, task: &TaskStarted) -> Vec<Piece> {
        let description = task
            .description
            .clone()
            .unwrap_or_else(|| task.task_id.clone());
        let is_command = task.task_type.as_deref() == Some("local_bash");
        // A command that takes long is announced as well, though the turn waits for it.
        let call = task.tool_use_id.as_ref().and_then(|id| self.tools.get(id));
        let mut pieces = Vec::new();
        if is_command && call.is_none_or(|call| call.in_background) {
            pieces.push(Piece::line(
                Tone::Dim,
                format!("⧗ In the background: {description}"),
            ));
        }
        self.tasks.insert(task.task_id.clone(), description);
        pieces
    }

    fn on_task_ended(&mut self, task: &TaskNotification) -> Vec<Piece> {
        let known = self.tasks.remove(&task.task_id);
        // A sub-agent that was waited for has no output of its own; its result follows.
        if task.output_file.as_deref().is_none_or(str::is_empty) || task.ambient == Some(true) {
            return Vec::new();
        }
        let (tone, ended) = match task.status {
            TaskNotificationStatus::Completed => (Tone::Good, "finished"),
            TaskNotificationStatus::Failed => (Tone::Bad, "failed"),
            TaskNotificationStatus::Stopped => (Tone::Dim, "was stopped"),
            TaskNotificationStatus::Unknown(_) | _ => (Tone::Dim, "ended"),
        };
        let name = task
            .summary
            .clone()
            .or(known)
            .unwrap_or_else(|| task.task_id.clone());
        vec![
            Piece::Gap,
            Piece::spans([
                (tone, &format!("⧗ Background work {ended}: ")),
                (Tone::Plain, &name),
            ]),
        ]
    }
}

/// System lines that need nothing but themselves.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the other lines are for programs, not for people"
)]
fn remark(system: &SystemMessage) -> Vec<Piece> {
    match system {
        SystemMessage::ApiRetry(retry) => vec![Piece::line(Tone::Dim, retrying(retry))],
        SystemMessage::LocalCommandOutput(output) => vec![Piece::Gap, Piece::flow(&output.content)],
        SystemMessage::Notification(notice) => {
            vec![Piece::line(Tone::Dim, clean::clip(&notice.text, REMARK))]
        }
        SystemMessage::Informational(notice) => {
            let warns = notice.level == Some(InformationalLevel::Warning);
            let text = clean::clip(&notice.content, REMARK);
            vec![Piece::line(if warns { Tone::Bad } else { Tone::Dim }, text)]
        }
        SystemMessage::PermissionDenied(denied) => {
            let reason = denied
                .message
                .as_deref()
                .or(denied.decision_reason.as_deref())
                .unwrap_or("by a rule");
            vec![Piece::line(
                Tone::Bad,
                format!(
                    "✗ {} was refused without asking: {reason}",
                    denied.tool_name
                ),
            )]
        }
        SystemMessage::ModelRefusalFallback(refusal) => vec![Piece::line(
            Tone::Dim,
            format!(
                "{} refused; {} goes on",
                refusal.original_model, refusal.fallback_model
            ),
        )],
        SystemMessage::ModelRefusalNoFallback(refusal) => {
            let reason = refusal.content.as_deref().unwrap_or("no reason was given");
            vec![Piece::line(
                Tone::Bad,
                format!("{} refused: {reason}", refusal.original_model),
            )]
        }
        SystemMessage::SessionWritesLost(lost) => vec![Piece::line(
            Tone::Bad,
            format!(
                "The CLI could not save the conversation ({}): is the disk full?",
                lost.error_code
            ),
        )],
        SystemMessage::WorkerShuttingDown(end) => {
            vec![Piece::line(
                Tone::Bad,
                format!("The CLI is shutting down: {}", end.reason),
            )]
        }
        _ => Vec::new(),
    }
}

/// Lines that are neither about the conversation nor of type `system`.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the other lines are for programs, not for people"
)]
pub(super) fn other(body: &Body) -> Vec<Piece> {
    match body {
        Body::ToolProgress(progress) => {
            let seconds = progress.elapsed_time_seconds.unwrap_or_default();
            vec![Piece::status(format!(
                "… {} has been running for {seconds:.0} s",
                progress.tool_name
            ))]
        }
        Body::RateLimitEvent(event) => limit(event),
        Body::AuthStatus(status) => {
            let said = status
                .output
                .iter()
                .flatten()
                .map(|line| Piece::line(Tone::Dim, line));
            let failed = status
                .error
                .iter()
                .map(|error| Piece::line(Tone::Bad, format!("Sign-in failed: {error}")));
            said.chain(failed).collect()
        }
        Body::ConversationReset(_) => vec![Piece::line(Tone::Dim, "A new conversation begins.")],
        _ => Vec::new(),
    }
}

/// A line that is no message at all: what is wrong with it, and how it begins.
pub(crate) fn unreadable(line: &str, malformed: &Malformed) -> Piece {
    let sample = clean::clip(line, SAMPLE);
    let what = if sample.is_empty() {
        malformed.to_string()
    } else {
        sample
    };
    Piece::line(
        Tone::Dim,
        format!("The CLI printed a line that is no message: {what}"),
    )
}

fn retrying(retry: &ApiRetry) -> String {
    let status = retry
        .error_status
        .map_or_else(|| "no answer".to_owned(), |status| status.to_string());
    let error = retry
        .error
        .as_ref()
        .map_or(String::new(), |error| format!(", {error}"));
    let most = retry
        .max_retries
        .map_or(String::new(), |most| format!(" of {most}"));
    let delay = retry.retry_delay_ms.unwrap_or_default() / 1000.0;
    format!(
        "The API failed ({status}{error}); try {}{most} follows in {delay:.1} s.",
        retry.attempt
    )
}

fn compacted(boundary: &CompactBoundary) -> String {
    let metadata = &boundary.compact_metadata;
    match (metadata.pre_tokens, metadata.post_tokens) {
        (Some(before), Some(after)) => {
            format!("The conversation so far was summed up: {before} tokens became {after}.")
        }
        _ => "The conversation so far was summed up.".to_owned(),
    }
}

fn limit(event: &RateLimitEvent) -> Vec<Piece> {
    let info = &event.rate_limit_info;
    let name = info
        .rate_limit_type
        .as_ref()
        .map_or("plan", |kind| kind.as_str())
        .replace('_', " ");
    match info.status {
        RateLimitStatus::Rejected => {
            vec![Piece::line(
                Tone::Bad,
                format!("The {name} limit is used up: wait until it resets."),
            )]
        }
        RateLimitStatus::AllowedWarning => vec![Piece::line(
            Tone::Dim,
            format!("The {name} limit is nearly used up."),
        )],
        RateLimitStatus::Allowed | RateLimitStatus::Unknown(_) | _ => Vec::new(),
    }
}
