//! The queue of user messages: what is due, what is merged, what is folded into a running turn, what is taken back.

use super::json::{Json, obj};
use super::state::{Abort, Queued, Sim, State};
use super::turn::Turn;

/// What is due.
pub(crate) enum Due {
    /// User messages that become one turn.
    Prompt(Vec<Queued>),
    /// A background task has ended; its `origin`.
    Notice(Json),
    /// Nothing more will come.
    Leave,
}

/// The next thing to do, if there is one.
pub(crate) fn due(state: &mut State) -> Option<Due> {
    let ready = state.mcp.iter().all(super::mcp::McpServer::is_settled);
    if state.inbox.ending && state.setup.version.is_325() {
        return Some(Due::Leave);
    }
    if ready && !state.inbox.queue.is_empty() {
        return Some(Due::Prompt(take_batch(state)));
    }
    if state.inbox.ending {
        return Some(Due::Leave);
    }
    if let Some(notice) = state.inbox.notices.pop_front() {
        return Some(Due::Notice(notice));
    }
    may_leave(state).then_some(Due::Leave)
}

/// Once the input has ended the process waits for background work; 2.1.197 not for ever for a command.
fn may_leave(state: &mut State) -> bool {
    let Some(closed_at) = state.inbox.closed else {
        return false;
    };
    let running = |agents: bool| {
        let mut tasks = state.tasks.iter();
        tasks.any(|task| task.runs_behind() && task.is_agent() == agents)
    };
    if running(true) {
        return false;
    }
    if !running(false) {
        return state.inbox.queue.is_empty();
    }
    if state.setup.version.is_325() {
        return false;
    }
    let due = closed_at + state.scaled(super::tasks::LEAVE_AFTER_MS);
    state.wake_at(due);
    state.now >= due
}

/// Takes the messages that become one turn: all that wait, but a slash command or one without a query stays alone.
fn take_batch(state: &mut State) -> Vec<Queued> {
    let mut batch: Vec<Queued> = Vec::new();
    while let Some(next) = state.inbox.queue.front() {
        let alone = !next.query || text_of(&next.content).starts_with('/');
        if alone && !batch.is_empty() {
            break;
        }
        let Some(next) = state.inbox.queue.pop_front() else {
            break;
        };
        batch.push(next);
        if alone {
            break;
        }
    }
    batch
}

/// The words of a message.
pub(crate) fn text_of(content: &Json) -> String {
    match content {
        Json::Text(text) => text.clone(),
        Json::List(blocks) => {
            let texts: Vec<&str> = blocks
                .iter()
                .filter_map(|block| block.text("text"))
                .collect();
            texts.join("\n")
        }
        Json::Null | Json::Bool(_) | Json::Int(_) | Json::Float(_) | Json::Object(_) => {
            String::new()
        }
    }
}

/// Makes one message of a batch, prints that it started, and prepares its echo.
pub(crate) fn merge(sim: &Sim, turn: &mut Turn, batch: &[Queued]) -> Json {
    let content = match batch {
        [only] => only.content.clone(),
        several => {
            let texts: Vec<String> = several
                .iter()
                .map(|message| text_of(&message.content))
                .collect();
            texts.join("\n").into()
        }
    };
    let replay = sim.setup().args.replay;
    if let Some((last, earlier)) = batch.split_last() {
        for message in earlier
            .iter()
            .filter(|message| replay && message.uuid.is_some())
        {
            sim.emit(&sim.echo_line(&message.content, message.uuid.as_ref(), None));
        }
        for message in batch {
            sim.print_lifecycle(message.uuid.as_ref(), "started");
        }
        if replay {
            turn.echoes
                .push(sim.echo_line(&content, last.uuid.as_ref(), Some(last.at)));
        }
        let uuid = last.uuid.clone().unwrap_or_else(|| sim.uuid());
        sim.record(
            "user",
            &uuid,
            obj! { "role" => "user", "content" => &content },
        );
        // Every uuid of the batch is remembered on disk, so that none of them runs again after a resume.
        for message in earlier {
            if let Some(uuid) = &message.uuid {
                sim.record_seen(uuid);
            }
        }
    }
    content
}

/// Folds what came in while tools ran into the turn.
pub(crate) fn fold(sim: &Sim, turn: &mut Turn) {
    let folded: Vec<Queued> = sim.with(|state| {
        let (fold, keep) = std::mem::take(&mut state.inbox.queue)
            .into_iter()
            .partition(|message| message.query && !text_of(&message.content).starts_with('/'));
        state.inbox.queue = keep;
        let fold: std::collections::VecDeque<Queued> = fold;
        fold.into()
    });
    for message in folded {
        if sim.setup().args.replay {
            sim.emit(&sim.echo_queued(&message));
        }
        let uuid = message.uuid.clone().unwrap_or_else(|| sim.uuid());
        sim.record(
            "user",
            &uuid,
            obj! { "role" => "user", "content" => &message.content },
        );
        sim.print_lifecycle(message.uuid.as_ref(), "started");
        if let Some(uuid) = message.uuid {
            sim.with(|state| state.work.turn_uuids.push(uuid.clone()));
            turn.uuids.push(uuid);
        }
    }
}

impl Sim {
    /// Takes a user message from the host.
    pub(crate) fn take_user(&self, line: &Json) {
        let uuid = line.text("uuid").map(str::to_owned);
        let content = line
            .at(&["message", "content"])
            .cloned()
            .unwrap_or_default();
        if let Some(uuid) = &uuid {
            let fresh = self.with(|state| state.chat.seen.insert(uuid.clone()));
            if !fresh {
                self.refuse_duplicate(line, &content, uuid);
                return;
            }
        }
        let idle = self.with(|state| state.work.turn.is_none() && state.inbox.queue.is_empty());
        if idle {
            self.print_state("running");
        }
        self.print_lifecycle(uuid.as_ref(), "queued");
        let now = line.text("priority") == Some("now");
        self.with(|state| {
            let message = Queued {
                uuid,
                content,
                query: !matches!(line.get("shouldQuery"), Some(Json::Bool(false))),
                at: state.now,
            };
            if now {
                state.inbox.queue.push_front(message);
                if state.work.tools_running {
                    state.work.ends_after_tools = true;
                } else if let Some(scope) = state.work.turn {
                    let aborted = &mut state.work.aborted;
                    aborted.entry(scope).or_insert(Abort::Superseded);
                }
            } else {
                state.inbox.queue.push_back(message);
            }
        });
    }

    /// A message that was taken before is echoed and otherwise ignored.
    fn refuse_duplicate(&self, line: &Json, content: &Json, uuid: &String) {
        if self.setup().args.replay {
            let mut echo = self.echo_line(content, Some(uuid), None);
            if let Some(message) = line.get("message") {
                echo.set("message", message);
            }
            self.emit(&echo);
        }
        let (from_disk, running) = self.with(|state| {
            (
                state.chat.resumed.contains(uuid),
                state.work.turn_uuids.contains(uuid),
            )
        });
        if from_disk && !running {
            self.print_lifecycle(Some(uuid), "completed");
        }
    }

    /// Takes a queued message back.
    pub(crate) fn unqueue(&self, uuid: &str) -> bool {
        let found = self.with(|state| {
            let before = state.inbox.queue.len();
            state
                .inbox
                .queue
                .retain(|message| message.uuid.as_deref() != Some(uuid));
            state.inbox.queue.len() < before
        });
        if found {
            self.print_lifecycle(Some(&uuid.to_owned()), "cancelled");
        }
        found
    }
}
