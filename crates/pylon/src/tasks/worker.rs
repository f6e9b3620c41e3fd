//! The worker of a workspace: what it does next. Pure.
//!
//! It takes the first task that waits, has it carried out in a conversation, notes how that went, and takes the next one.
//! What it must remember is in [`Worker`], which the store keeps; everything else it finds out anew before each step, so
//! that it goes on in the same place whoever was killed. Each step can be done twice.
//!
//! A failure that is none of the task (a limit, a login, a server that is overloaded) makes it rest and try again; the
//! task stays. It goes by the machine-readable cause, never by words.

use std::collections::BTreeMap;

use estelle_proto::history::HistoryMessage;
use estelle_proto::workspaces::{RestCause, TaskStatus, WorkerRest};
use estelle_proto::{
    Cause, ClientMessageId, ConversationId, ConversationStatus, IsoTime, Prompt, Seq, Timestamp,
    WorkspaceId,
};
use serde::{Deserialize, Serialize};

use super::task::{self, Task};

/// How long it rests the first time, when it can be expected to be over soon.
const SHORT_REST: i64 = 60_000;
/// How long it rests the first time, when a person or a new day may be needed.
const LONG_REST: i64 = 15 * 60_000;
/// It looks again at least this often.
const LONGEST_REST: i64 = 60 * 60_000;

/// After the reset of a limit, so that two clocks that differ a little do not matter.
const AFTER_RESET: i64 = 15_000;

/// What an agent with a worktree of its own is told about it.
const APART: &str = " You work in a git worktree of your own, on a branch of its own: commit your work there, and leave \
                     other branches and folders alone.";
/// Tasks that were put back and whose places are remembered.
const MOST_PLACES: usize = 100;

/// What is remembered of a worker.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Worker {
    /// Whether it goes on to the next task by itself.
    pub on: bool,
    /// Where it works.
    pub conversation: Option<ConversationId>,
    /// The task it is at.
    pub job: Option<Job>,
    /// Why it does nothing.
    pub rest: Option<Rest>,
    /// The file of a task whose process died; it is tried once more.
    pub died: Option<String>,
    /// Whether each task gets a git worktree and a conversation of its own, unless it says otherwise.
    pub apart: bool,
    /// Where tasks were begun that were put back: there they go on.
    pub places: BTreeMap<String, ConversationId>,
}

/// A task that was taken.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// Its file.
    pub file: String,
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// When it was taken.
    pub at: Timestamp,
    /// The name of the message that carries it to the agent. The same name runs once.
    pub message: ClientMessageId,
    /// What the agent is told. The same name must come with the same text, whatever becomes of the file.
    pub prompt: Prompt,
    /// The number of that message in the conversation, once it was accepted.
    pub seq: Option<Seq>,
    /// Somebody wants it to be stopped.
    pub stop: bool,
    /// The agent was told to stop.
    pub stopped: bool,
    /// Whether it has a worktree and a conversation of its own.
    #[serde(default)]
    pub apart: bool,
    /// That conversation, once it was chosen.
    #[serde(default)]
    pub conversation: Option<ConversationId>,
}

/// Why and until when it does nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Rest {
    /// Why, for programs.
    pub cause: RestCause,
    /// Why, for people.
    pub message: String,
    /// When it tries again; none if it waits for a person.
    pub until: Option<Timestamp>,
    /// How often it rested in a row.
    pub times: u32,
}

impl From<&Rest> for WorkerRest {
    fn from(rest: &Rest) -> Self {
        Self {
            until: rest.until.map(IsoTime::from).map(|time| time.to_string()),
            ..Self::new(rest.cause.clone(), rest.message.clone())
        }
    }
}

/// How the turn of a job is, as far as the store knows.
#[derive(Debug, Clone, PartialEq)]
pub enum Turn {
    /// The message is not in the history.
    Unseen,
    /// It is not over.
    UnderWay,
    /// It is over.
    Over(End),
    /// The conversation is gone.
    Gone,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    /// Well.
    Done,
    /// Not well, and that is the task's own fault.
    Failed(String),
    /// Somebody stopped it.
    Stopped,
    /// The process died.
    Died(String),
    /// Not well, and every other task would fare the same.
    Unavailable(RestCause, String),
}

/// What is known before a step.
#[derive(Debug)]
pub struct Facts<'a> {
    /// The time.
    pub now: Timestamp,
    /// Whether the host is there.
    pub is_host_up: bool,
    /// Whether the conversation it works in does something.
    pub is_busy: bool,
    /// All tasks.
    pub tasks: &'a [Task],
    /// How the turn of its job is.
    pub turn: Turn,
}

/// What is done next.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Nothing, until something happens or that time comes.
    Wait(Option<Timestamp>),
    /// Nothing any more.
    TurnOff,
    /// Takes this task.
    Take(Box<Task>),
    /// Notes in the file that it runs, and hands it to the agent.
    Send,
    /// Tells the agent to stop.
    Stop,
    /// Notes how it went.
    Finish(TaskStatus, Option<String>),
    /// Puts the task back, as it was before.
    GiveBack(Back),
}

/// Why a task is put back.
#[derive(Debug, Clone, PartialEq)]
pub enum Back {
    /// A person stopped the worker.
    Stopped,
    /// A person stopped the turn or took the conversation away: the worker does not go on by itself.
    Interrupted(String),
    /// It is tried again later.
    Later(RestCause, String),
    /// Its process died; it is tried once more at once.
    Again,
}

impl Worker {
    /// What is done next.
    pub fn next(&self, facts: &Facts<'_>) -> Step {
        // Whoever wants a task to be stopped does not wait until a rest is over.
        let is_told = self.job.as_ref().is_some_and(|job| job.stop);
        let rest = self.rest.as_ref().and_then(|rest| rest.until);
        if let Some(until) = rest.filter(|until| !is_told && *until > facts.now) {
            return Step::Wait(Some(until));
        }
        match &self.job {
            Some(job) => self.go_on(job, facts),
            None if !self.on => Step::TurnOff,
            None => match task::first_waiting(facts.tasks) {
                None => Step::TurnOff,
                Some(_) if !facts.is_host_up || facts.is_busy => Step::Wait(None),
                Some(task) => Step::Take(Box::new(task.clone())),
            },
        }
    }

    fn go_on(&self, job: &Job, facts: &Facts<'_>) -> Step {
        match &facts.turn {
            Turn::Gone if job.stop => Step::GiveBack(Back::Stopped),
            Turn::Gone => {
                let why = "the conversation in which it worked was deleted";
                Step::GiveBack(Back::Interrupted(why.to_owned()))
            }
            Turn::Over(End::Done) => Step::Finish(TaskStatus::Done, None),
            // Whatever a turn ends with that was told to end.
            Turn::Over(_) if job.stop => Step::GiveBack(Back::Stopped),
            Turn::Over(End::Failed(why)) => Step::Finish(TaskStatus::Failed, Some(why.clone())),
            Turn::Over(End::Stopped) => {
                let why = "a person stopped the agent";
                Step::GiveBack(Back::Interrupted(why.to_owned()))
            }
            Turn::Over(End::Died(why)) if self.died.as_ref() == Some(&job.file) => {
                Step::Finish(TaskStatus::Failed, Some(why.clone()))
            }
            Turn::Over(End::Died(_)) => Step::GiveBack(Back::Again),
            Turn::Over(End::Unavailable(cause, why)) => {
                Step::GiveBack(Back::Later(cause.clone(), why.clone()))
            }
            Turn::Unseen | Turn::UnderWay if !facts.is_host_up => Step::Wait(None),
            // It may be there and not be seen yet; the same message again changes nothing.
            Turn::Unseen => Step::Send,
            Turn::UnderWay if job.stop && !job.stopped => Step::Stop,
            Turn::UnderWay => Step::Wait(None),
        }
    }

    /// Whether a task is to have a worktree of its own.
    pub fn keeps_apart(&self, task: &Task) -> bool {
        task.worktree.unwrap_or(self.apart)
    }

    /// The conversation in which it works.
    pub fn place(&self) -> Option<&ConversationId> {
        match &self.job {
            Some(job) if job.apart => job.conversation.as_ref(),
            Some(_) | None => self.conversation.as_ref(),
        }
    }

    /// Takes a task. The text is what the agent is told. Tells whether it fits a message.
    pub fn take(
        &mut self,
        workspace: &WorkspaceId,
        task: &Task,
        text: &str,
        at: Timestamp,
    ) -> bool {
        let file = format!("{}/{}", super::folder::FOLDER, task.file);
        let prompt = prompt(task, text, &file, "");
        self.take_with(workspace, task, prompt, at)
    }

    /// The same for a task with a worktree of its own, from which its file is seen under this path.
    pub fn take_apart(
        &mut self,
        workspace: &WorkspaceId,
        task: &Task,
        text: &str,
        file: &str,
        at: Timestamp,
    ) -> bool {
        let prompt = prompt(task, text, file, APART);
        let is_taken = self.take_with(workspace, task, prompt, at);
        if let Some(job) = self.job.as_mut().filter(|_| is_taken) {
            job.apart = true;
            job.conversation = self.places.get(&task.file).cloned();
        }
        is_taken
    }

    fn take_with(
        &mut self,
        workspace: &WorkspaceId,
        task: &Task,
        prompt: Option<Prompt>,
        at: Timestamp,
    ) -> bool {
        let message = message_id(workspace, &task.file, at);
        let (Some(message), Some(prompt)) = (message, prompt) else {
            return false;
        };
        self.rest = self.rest.take().map(|rest| Rest {
            until: None,
            ..rest
        });
        self.job = Some(Job {
            file: task.file.clone(),
            id: task.id.clone(),
            title: task.title.clone(),
            at,
            message,
            prompt,
            seq: None,
            stop: false,
            stopped: false,
            apart: false,
            conversation: None,
        });
        true
    }

    /// The task is over.
    pub fn finish(&mut self) {
        if let Some(job) = self.job.take() {
            self.places.remove(&job.file);
        }
        self.rest = None;
        self.died = None;
    }

    /// The task is put back.
    pub fn give_back(&mut self, why: Back, now: Timestamp) {
        let job = self.job.take();
        if let Some(job) = &job
            && let Some(place) = &job.conversation
        {
            if self.places.len() >= MOST_PLACES {
                self.places.clear();
            }
            self.places.insert(job.file.clone(), place.clone());
        }
        let file = job.map(|job| job.file);
        match why {
            Back::Stopped => {
                self.on = false;
                self.rest = None;
            }
            Back::Interrupted(message) => {
                self.on = false;
                self.rest = Some(Rest {
                    cause: RestCause::Stopped,
                    message,
                    until: None,
                    times: 0,
                });
            }
            Back::Later(cause, message) => self.lie_down(cause, message, now),
            Back::Again => self.died = file,
        }
    }

    /// Rests, longer each time.
    pub fn lie_down(&mut self, cause: RestCause, message: String, now: Timestamp) {
        let times = self.rest.as_ref().map_or(0, |rest| rest.times);
        let first = match cause {
            RestCause::Unavailable | RestCause::Files | RestCause::Taken => SHORT_REST,
            RestCause::UsageLimit
            | RestCause::Budget
            | RestCause::Authentication
            | RestCause::Agent
            | RestCause::Stopped
            | RestCause::Unknown(_) => LONG_REST,
        };
        let pause = first.saturating_mul(1 << times.min(10)).min(LONGEST_REST);
        self.rest = Some(Rest {
            cause,
            message,
            until: Some(Timestamp(now.0.saturating_add(pause))),
            times: times.saturating_add(1),
        });
    }

    /// It is known when the plan allows work again: it rests until then, and neither shorter nor longer.
    pub fn rest_until_reset(&mut self, resets_at: Timestamp, now: Timestamp) {
        if let Some(rest) = self.rest.as_mut().filter(|_| resets_at > now) {
            rest.until = Some(Timestamp(resets_at.0.saturating_add(AFTER_RESET)));
        }
    }

    /// Whether somebody has to look after it.
    pub fn is_asleep(&self) -> bool {
        !self.on && self.job.is_none()
    }
}

/// The name of the message that carries a task: the same for the same attempt at it.
fn message_id(workspace: &WorkspaceId, file: &str, at: Timestamp) -> Option<ClientMessageId> {
    let name = format!("{workspace}/{file}/{}", at.0);
    let hash = blake3::hash(name.as_bytes()).to_hex();
    ClientMessageId::parse(&format!("task-{}", &hash[..32])).ok()
}

/// What the agent is told. The last is what is to be known about its place.
fn prompt(task: &Task, text: &str, file: &str, place: &str) -> Option<Prompt> {
    let told = format!(
        "Carry out the task of the file {file}, step by step, and check what you did. If a part of it is done already, \
         go on from there.{place} Its front matter is kept by Estelle: leave it alone, unless the task cannot be carried out; \
         then set `status: failed` there and say why in `error:`.\n\n# {}\n\n{text}",
        task.title
    );
    let short = || {
        Prompt::parse(&format!(
            "Read the file {file}, which is long, and carry out the task in it, step by step.{place} Leave its front matter alone."
        ))
    };
    Prompt::parse(&told).or_else(|_| short()).ok()
}

/// How a turn ended, told by the entries of the history behind its message; none if it is not over.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "other entries tell nothing about the end"
)]
pub fn end_of<'a>(
    entries: impl Iterator<Item = &'a HistoryMessage>,
    status: &ConversationStatus,
) -> Option<End> {
    let mut told = None;
    let mut error = None;
    for entry in entries {
        match entry {
            // A turn that was broken off may still end with a result that says no more than that.
            HistoryMessage::TurnResult(result)
                if result.cause.is_some() && matches!(told, Some(Told::Aborted(_))) => {}
            HistoryMessage::TurnResult(result) => told = Some(Told::Result(result.cause.clone())),
            HistoryMessage::Aborted(aborted) => told = Some(Told::Aborted(aborted.reason.clone())),
            HistoryMessage::Error(failure) => error = Some(failure.content.clone()),
            HistoryMessage::System(remark) if remark.subtype.as_deref() == Some("cancelled") => {
                told = Some(Told::Aborted("user".to_owned()));
            }
            _ => {}
        }
    }
    if *status != ConversationStatus::Idle {
        return None;
    }
    let why = || {
        error
            .clone()
            .unwrap_or_else(|| "the turn failed".to_owned())
    };
    match told {
        Some(Told::Result(None)) => Some(End::Done),
        Some(Told::Result(Some(cause))) => Some(match rest_of(&cause) {
            Some(rest) => End::Unavailable(rest, why()),
            None => End::Failed(why()),
        }),
        Some(Told::Aborted(reason)) if reason == "user" => Some(End::Stopped),
        Some(Told::Aborted(_)) => Some(End::Died(why())),
        // Nothing but an error: the agent could not even be started.
        None => error.map(|why| End::Unavailable(RestCause::Agent, why)),
    }
}

#[derive(Debug)]
enum Told {
    Result(Option<Cause>),
    Aborted(String),
}

/// Why every other task would fail in the same way; none for what is the task's own.
fn rest_of(cause: &Cause) -> Option<RestCause> {
    match cause {
        Cause::UsageLimit | Cause::RateLimit | Cause::Billing => Some(RestCause::UsageLimit),
        Cause::Unauthorized => Some(RestCause::Authentication),
        Cause::Overloaded | Cause::Server | Cause::Network => Some(RestCause::Unavailable),
        Cause::InvalidRequest
        | Cause::ModelNotFound
        | Cause::Budget
        | Cause::MaxTurns
        | Cause::Aborted
        | Cause::Other
        | Cause::Unknown(_) => None,
    }
}

#[cfg(test)]
#[path = "worker_tests.rs"]
mod tests;
