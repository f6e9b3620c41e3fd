//! What people see of a conversation, as transcripts: what happens on the left, what comes of it on the right.
//!
//! A transcript is written line by line as `deed => outcome`. The outcome is what is published, then the state of
//! things after it if that matters: where messages are, and what is due.

mod decisions;
mod endings;
mod messages;
mod sessions;

use estelle_proto::decisions::{DecisionKind, PermissionDecision};
use estelle_proto::events::{ClaudeEvent, ErrorEvent, ToolComplete};
use estelle_proto::{ClientId, ClientMessageId, DeviceId, OnBusy, PermissionMode};

use super::*;
use crate::decisions::RefuseAnswer;
use estelle_proto::runs::PauseReason;

/// A conversation that is told what happens in short words.
struct Stage {
    live: Conversation,
    time: i64,
}

impl Stage {
    fn new() -> Self {
        let id = ConversationId::parse("conv-1").expect("an id");
        let (live, _) = Conversation::begin(Timestamp(0), id, Epoch(1), Generation(0));
        Self { live, time: 0 }
    }

    /// One with a run that has taken message `m0` in an open turn.
    fn in_a_turn() -> Self {
        let mut stage = Self::new();
        for deed in ["send m0", "due", "started", "due", "turn", "took m0"] {
            stage.deed(deed);
        }
        stage
    }

    fn now(&mut self) -> Timestamp {
        self.time += 1;
        Timestamp(self.time)
    }

    /// Does what a line says, and tells what came of it.
    fn deed(&mut self, deed: &str) -> String {
        let (word, name) = deed.split_once(' ').unwrap_or((deed, ""));
        let at = self.now();
        let live = &mut self.live;
        let entries: Vec<Entry> = match word {
            "send" => accept(live, at, name, OnBusy::Inject),
            "queue" => accept(live, at, name, OnBusy::Queue),
            "barge" => accept(live, at, name, OnBusy::Interrupt),
            "take" => {
                let by = Some(DeviceId(7));
                live.cancel(at, &client_id(name), by).into_iter().collect()
            }
            "resume" => live.want(at).into_iter().collect(),
            "stop" => {
                live.stop(at, Some(DeviceId(7)), |_| "denied".to_owned())
                    .entries
            }
            "allow" => {
                let key = self.key(name);
                let answer = self.live.answer(
                    at,
                    &key,
                    Some(DeviceId(7)),
                    PermissionDecision::Allow,
                    "yes".to_owned(),
                );
                match answer {
                    Ok(entry) => vec![entry],
                    Err(refused) => return format!("refused: {refused}"),
                }
            }
            "pause" => live
                .stop_run(
                    at,
                    StopReason::Paused {
                        reason: PauseReason::IdleTimeout,
                        idle_minutes: 30,
                    },
                )
                .into_iter()
                .collect(),
            "forget" => live
                .stop_run(at, StopReason::NewSession)
                .into_iter()
                .collect(),
            "cancel" => {
                let message = MessageId(name.to_owned());
                let control = Control::Cancel { message };
                let entry = live.request(at, format!("cancel {name}"), control);
                entry.into_iter().collect()
            }
            "greet" => {
                let entry = live.request(at, "greeting".to_owned(), Control::Initialize);
                entry.into_iter().collect()
            }
            "due" => self.do_due(at),
            "started" => live.started(at, 1, 1).into_iter().collect(),
            "crash" => self.end(at, RunExit::Unknown),
            "exit" => {
                let stderr = String::new();
                self.end(at, RunExit::Code { code: 0, stderr })
            }
            _ => self.read(at, word, name),
        };
        published(&entries)
    }

    fn key(&self, name: &str) -> DecisionKey {
        let id = ToolUseId::parse(name).expect("an id");
        let found = self.live.find_decision(&id);
        found.unwrap_or(DecisionKey {
            generation: Generation(1),
            tool_use_id: id,
        })
    }

    fn do_due(&mut self, at: Timestamp) -> Vec<Entry> {
        let live = &mut self.live;
        let entry = match live.due() {
            Some(Due::Start) => live.intend(at),
            Some(Due::Hand(message)) => {
                let id = message.id.clone();
                live.hand(at, id)
            }
            Some(Due::Judge(key)) => {
                let key = key.clone();
                live.show(at, &key, "no rule".to_owned())
            }
            Some(Due::Interrupt) => live.make_way(at),
            Some(Due::Act(key)) => {
                let key = key.clone();
                live.acted(at, &key)
            }
            Some(Due::Call(..)) | None => None,
        };
        entry.into_iter().collect()
    }

    fn end(&mut self, at: Timestamp, exit: RunExit) -> Vec<Entry> {
        let entry = self.live.ended_run(at, exit, |_| false);
        entry.into_iter().collect()
    }

    /// What the CLI prints.
    fn read(&mut self, at: Timestamp, word: &str, name: &str) -> Vec<Entry> {
        let message = MessageId(name.to_owned());
        let mut events = Vec::new();
        let seen = match word {
            "turn" => Some(Seen::TurnBegan {
                session: session(name),
            }),
            "greeted" => Some(Seen::Response {
                request_id: "greeting".to_owned(),
                digest: String::new(),
                error: None,
                cancelled: false,
            }),
            "took" => Some(Seen::Taken { message }),
            "gone" => Some(Seen::ResumeFailed),
            "dropped" => Some(Seen::Dropped { message }),
            "cancelled" => Some(Seen::Response {
                request_id: format!("cancel {name}"),
                digest: String::new(),
                error: None,
                cancelled: true,
            }),
            "ended" => Some(Seen::TurnEnded {
                totals: Totals {
                    cost: 0.25,
                    ..Totals::default()
                },
                messages: Vec::new(),
                failed: false,
            }),
            "calls" => Some(Seen::Called {
                request_id: name.to_owned(),
                server: "desk".to_owned(),
                message: Json::of("a call").expect("JSON"),
            }),
            "asks" => Some(Seen::Asked(Box::new(request(name)))),
            "withdraws" => Some(Seen::Withdrew {
                request_id: format!("about {name}"),
            }),
            "fails" => {
                let error = ClaudeEvent::Error(ErrorEvent::new("failed".to_owned()));
                events.push(error.into());
                None
            }
            "returned" => {
                let done = ToolComplete {
                    tool_use_id: ToolUseId::parse(name).ok(),
                    ..ToolComplete::new("Bash".to_owned(), true, String::new())
                };
                events.push(ClaudeEvent::ToolComplete(done).into());
                None
            }
            other => panic!("what is {other}?"),
        };
        let generation = self.live.last_generation();
        let stretch = Stretch {
            generation,
            from: 0,
            to: 0,
            hash: String::new(),
            open_from: 0,
            reader: 1,
            seen: seen.into_iter().collect(),
        };
        let (entry, suspicion) = self.live.read(at, stretch, events, str::to_owned);
        assert_eq!(suspicion, None);
        vec![entry]
    }

    fn places(&self) -> String {
        let tracked = self.live.messages().iter();
        let places = tracked.map(|one| format!("{} {:?}", one.message.id.0, one.place));
        places.collect::<Vec<_>>().join(", ")
    }

    fn queued(&self) -> Vec<&str> {
        let queued = self.live.queued();
        queued.map(|message| message.id.0.as_str()).collect()
    }

    fn due(&self) -> &'static str {
        match self.live.due() {
            None => "nothing",
            Some(Due::Start) => "start",
            Some(Due::Judge(_)) => "judge",
            Some(Due::Hand(_)) => "hand",
            Some(Due::Call(..)) => "call",
            Some(Due::Act(_)) => "act",
            Some(Due::Interrupt) => "interrupt",
        }
    }
}

fn accept(live: &mut Conversation, at: Timestamp, id: &str, on_busy: OnBusy) -> Vec<Entry> {
    let message = Message {
        id: MessageId(id.to_owned()),
        content: format!("text of {id}"),
        on_busy,
        client_message_id: Some(client_id(id)),
        device_id: None,
        author: None,
    };
    live.accept(at, message).expect("it is taken").entries
}

/// A session by its number, the first one if there is none.
fn session(number: &str) -> ClaudeSessionId {
    let number = if number.is_empty() { "1" } else { number };
    ClaudeSessionId::parse(&format!("00000000-0000-4000-8000-00000000000{number}")).expect("an id")
}

fn client_id(name: &str) -> ClientMessageId {
    ClientMessageId::parse(name).expect("an id")
}

fn request(name: &str) -> Request {
    Request {
        request_id: format!("about {name}"),
        tool_use_id: ToolUseId::parse(name).expect("an id"),
        kind: DecisionKind::Permission,
        tool_name: "Bash".to_owned(),
        input: Json::parse("{}").expect("JSON"),
        input_hash: "hash".to_owned(),
        questions: Vec::new(),
        parent_tool_use_id: None,
    }
}

/// The kinds of the events, in order; a change of state with what it is now.
fn published(entries: &[Entry]) -> String {
    let events = entries.iter().flat_map(|entry| &entry.events);
    let words = events.map(|durable| {
        if let ClaudeEvent::State(state) = &durable.event {
            return state.state.as_str().to_owned();
        }
        let event = serde_json::to_value(&durable.event).expect("JSON");
        event["type"].as_str().unwrap_or_default().to_owned()
    });
    words.collect::<Vec<_>>().join(", ")
}

/// Plays a transcript and compares every line.
fn check(stage: &mut Stage, transcript: &str) {
    let lines = transcript.lines().map(str::trim);
    for line in lines.filter(|line| !line.is_empty()) {
        let (deed, expected) = line.split_once("=>").expect("a line of a transcript");
        let found = stage.deed(deed.trim());
        assert_eq!(found, expected.trim(), "{line}");
    }
}

fn message_of(id: &str) -> Message {
    Message {
        id: MessageId(id.to_owned()),
        content: String::new(),
        on_busy: OnBusy::Inject,
        client_message_id: None,
        device_id: None,
        author: None,
    }
}
