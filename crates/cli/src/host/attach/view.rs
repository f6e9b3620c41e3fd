//! The events of a conversation as pieces for a terminal.
//!
//! Remembers the text that was streamed, so that the complete text is not shown a second time.

use estelle_claude::wire::question::ASK_USER_QUESTION;
use estelle_proto::events::{TextComplete, TextDelta, ToolComplete, TurnResult};
use estelle_proto::plan::ApiRetry;
use estelle_proto::{ClaudeEvent, IsoTime, LimitStatus, PlanLimit};

use super::answer::call;
use crate::chat::piece::{Piece, Tone};
use crate::chat::view::tool;

/// Lines of a call that are shown in the record.
const CALL_LINES: usize = tool::CALL_LINES;

/// What has to be remembered to show the next event.
#[derive(Debug, Default)]
pub(crate) struct View {
    /// The text that is being written, as far as it was shown.
    streamed: String,
    /// Its length as the host counts it.
    length: u64,
}

impl View {
    /// The text that is being written already; what of it was not seen is shown.
    pub(crate) fn caught_up(&mut self, partial: &str) -> Vec<Piece> {
        let news = partial.strip_prefix(self.streamed.as_str());
        let Some(news) = news.filter(|news| !news.is_empty()) else {
            return Vec::new();
        };
        partial.clone_into(&mut self.streamed);
        self.length = units(partial);
        vec![Piece::flow(news)]
    }

    pub(crate) fn event(&mut self, event: &ClaudeEvent) -> Vec<Piece> {
        match event {
            ClaudeEvent::Text(delta) => self.text(delta),
            ClaudeEvent::TextComplete(text) => self.complete(text),
            ClaudeEvent::UserMessage(message) => {
                let lines = message.content.lines();
                let lines = lines.map(|line| Piece::spans([(Tone::Ask, "› "), (Tone::Plain, line)]));
                std::iter::once(Piece::Gap).chain(lines).collect()
            }
            // The questions themselves follow.
            ClaudeEvent::ToolInfo(info) if info.tool_name == ASK_USER_QUESTION => Vec::new(),
            ClaudeEvent::ToolInfo(info) => {
                let head = Piece::spans([(Tone::Good, "● "), (Tone::Strong, &info.tool_name)]);
                let mut pieces = vec![Piece::Gap, head];
                let lines = call(&info.tool_name, &info.input, CALL_LINES).into_iter();
                pieces.extend(lines.map(|line| line.indented("  ")));
                pieces
            }
            ClaudeEvent::ToolComplete(done) => complete(done),
            ClaudeEvent::StateUpdate(update) => {
                let activity = &update.state;
                let tool = activity.tool_name.as_ref().map(|tool| format!(" {tool}"));
                let status = format!("… {}{}", activity.activity, tool.unwrap_or_default());
                // Only somebody who just came is told what is being written already.
                let is_first = update.open.is_some();
                let partial = is_first.then(|| self.caught_up(&update.partial_text));
                let mut pieces = partial.unwrap_or_default();
                pieces.push(Piece::status(status));
                pieces
            }
            ClaudeEvent::Result(result) => turn(result),
            ClaudeEvent::Aborted(_) => {
                self.forget();
                remark(event)
            }
            ClaudeEvent::Init(_)
            | ClaudeEvent::Error(_)
            | ClaudeEvent::Task(_)
            | ClaudeEvent::Paused(_)
            | ClaudeEvent::Resumed(_)
            | ClaudeEvent::IdleWarning(_)
            | ClaudeEvent::SessionReset(_)
            | ClaudeEvent::Rewound(_)
            | ClaudeEvent::JournalDamage(_)
            | ClaudeEvent::Remark(_)
            | ClaudeEvent::Limits(_)
            | ClaudeEvent::ApiRetry(_)
            // Decisions are shown as what they ask, and states by the prompt.
            | ClaudeEvent::PermissionAsked(_)
            | ClaudeEvent::QuestionAsked(_)
            | ClaudeEvent::DecisionAnswered(_)
            | ClaudeEvent::State(_)
            // Thoughts are for those who want to unfold them.
            | ClaudeEvent::Thinking(_)
            | ClaudeEvent::Waiting(_)
            | ClaudeEvent::MessageCancelled(_)
            | ClaudeEvent::ThinkingComplete(_)
            | ClaudeEvent::Unknown(_) => remark(event),
        }
    }

    fn text(&mut self, delta: &TextDelta) -> Vec<Piece> {
        // What sub-agents write is told by their results.
        if delta.parent_tool_use_id.is_some() {
            return Vec::new();
        }
        let at = delta.at.unwrap_or(self.length);
        if at == 0 && !self.streamed.is_empty() {
            self.forget();
        }
        if at != self.length {
            return Vec::new();
        }
        let begins = self.streamed.is_empty();
        self.streamed.push_str(&delta.content);
        self.length += units(&delta.content);
        let gap = begins.then_some(Piece::Gap);
        gap.into_iter()
            .chain([Piece::flow(&delta.content)])
            .collect()
    }

    fn complete(&mut self, text: &TextComplete) -> Vec<Piece> {
        if text.parent_tool_use_id.is_some() {
            return Vec::new();
        }
        let shown = std::mem::take(&mut self.streamed);
        self.length = 0;
        let flow = |text: &str| vec![Piece::flow(text), Piece::flow("\n")];
        match text.text.strip_prefix(&shown) {
            _ if shown.is_empty() => {
                let mut pieces = vec![Piece::Gap];
                pieces.extend(flow(&text.text));
                pieces
            }
            Some(rest) => flow(rest),
            None => {
                let mut pieces = vec![Piece::Gap];
                pieces.extend(flow(&text.text));
                pieces
            }
        }
    }

    fn forget(&mut self) {
        self.streamed.clear();
        self.length = 0;
    }
}

fn units(text: &str) -> u64 {
    text.chars().map(|c| c.len_utf16() as u64).sum()
}

/// What one line can tell.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the caller names every kind of event; the rest are shown elsewhere"
)]
fn remark(event: &ClaudeEvent) -> Vec<Piece> {
    let (tone, text) = match event {
        ClaudeEvent::Init(init) => (Tone::Dim, format!("model {}", init.model)),
        ClaudeEvent::Error(error) => (Tone::Bad, format!("✗ {}", error.error)),
        ClaudeEvent::Aborted(aborted) => (
            Tone::Bad,
            format!("The turn was broken off ({}).", aborted.reason),
        ),
        ClaudeEvent::Task(task) => {
            let about = task.summary.as_deref().unwrap_or(&task.task_id);
            (
                Tone::Dim,
                format!("background task {}: {about}", task.status),
            )
        }
        ClaudeEvent::Paused(paused) => (
            Tone::Dim,
            format!("The process was stopped ({}).", paused.reason),
        ),
        ClaudeEvent::Resumed(resumed) if resumed.resumed_with_history => {
            (Tone::Dim, "The process runs again.".to_owned())
        }
        ClaudeEvent::Resumed(_) => {
            let text = "The process runs again, without what was said before.";
            (Tone::Bad, text.to_owned())
        }
        ClaudeEvent::IdleWarning(warning) => {
            let seconds = warning.seconds_left;
            let text =
                format!("The process is stopped in {seconds} seconds unless something happens.");
            (Tone::Dim, text)
        }
        ClaudeEvent::ApiRetry(retry) => (Tone::Dim, retried(retry)),
        ClaudeEvent::Limits(told) => return told.limits.iter().filter_map(limit).collect(),
        ClaudeEvent::SessionReset(reset) => (
            Tone::Dim,
            format!("──── a new session ({}) ────", reset.reason),
        ),
        ClaudeEvent::Rewound(rewound) => (
            Tone::Dim,
            format!("──── rewound to before entry {} ────", rewound.before_seq),
        ),
        ClaudeEvent::Remark(said) => (Tone::Dim, said.text.clone()),
        ClaudeEvent::JournalDamage(damage) => {
            let bytes = damage.to.saturating_sub(damage.from);
            (
                Tone::Bad,
                format!("{bytes} bytes of what the agent printed could not be read."),
            )
        }
        _ => return Vec::new(),
    };
    vec![Piece::line(tone, text)]
}

fn retried(retry: &ApiRetry) -> String {
    let status = retry.api_status;
    let why = status.map_or_else(
        || retry.cause.to_string(),
        |status| format!("{status}, {}", retry.cause),
    );
    let tries = retry.max_retries.map(|most| format!(" of {most}"));
    let wait = retry
        .delay_ms
        .map(|wait| format!(" in {} s", wait.div_ceil(1000)));
    format!(
        "The API failed ({why}); try {}{} follows{}.",
        retry.attempt,
        tries.unwrap_or_default(),
        wait.unwrap_or_default()
    )
}

/// A window that refuses requests or is about to.
fn limit(limit: &PlanLimit) -> Option<Piece> {
    let (tone, how) = match limit.status {
        LimitStatus::Rejected => (Tone::Bad, "is used up"),
        LimitStatus::AllowedWarning => (Tone::Dim, "is nearly used up"),
        LimitStatus::Allowed | LimitStatus::Unknown(_) => return None,
    };
    let name = limit.window.replace('_', " ");
    let until = limit
        .resets_at
        .map(|at| format!("; it begins anew at {}", IsoTime::from(at)));
    Some(Piece::line(
        tone,
        format!("The {name} limit {how}{}.", until.unwrap_or_default()),
    ))
}

fn complete(done: &ToolComplete) -> Vec<Piece> {
    let text = match &done.error {
        Some(error) if !done.success => error,
        Some(_) | None => &done.result,
    };
    let lines = tool::result(&done.tool_name, text, !done.success);
    lines
        .into_iter()
        .map(|line| line.indented("  ⎿ "))
        .collect()
}

fn turn(result: &TurnResult) -> Vec<Piece> {
    let seconds = result.duration_ms / 1000;
    let tenths = result.duration_ms % 1000 / 100;
    let text = format!(
        "{} · {seconds}.{tenths} s · ${:.4}",
        result.subtype, result.total_cost_usd
    );
    vec![Piece::Gap, Piece::line(Tone::Dim, text), Piece::Gap]
}
