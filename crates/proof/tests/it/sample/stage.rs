//! Writes a history as a faultless host would have made it: every step goes to the log, the truth and the clients.

mod deciding;

use std::collections::BTreeMap;

use estelle_host::log::ChainHash as RecordHash;
use estelle_proof::history::{
    Client, Conversation, End, Fact, History, Life, Process, Role, Step, witness,
};
use estelle_proto::conversations::ConversationStatus;
use estelle_proto::events::{
    ClaudeEvent, StateChanged, TextComplete, TextDelta, ToolComplete, ToolInfo, TurnResult, Usage,
    UserMessage,
};
use estelle_proto::ipc::{
    HostEvent, HostToPylon, MessagePayload, PendingPermission, PylonToHost, RequestResult,
    SendMessage, SessionStatus, Snapshot, Subscribe, Subscribed,
};
use estelle_proto::{
    ChainHash, ClientMessageId, ConversationId, DeviceId, Epoch, Generation, Json, OnBusy,
    PathText, Prompt, RequestId, Seq, Timestamp, ToolUseId, WorkspaceId,
};
use estelle_sim::cli::truth::checksum;
use estelle_state::conversation::{
    Control, Durable, Entry, Message, MessageId, Record, RunExit, Seen, Stretch,
};
use serde_json::{Value, json};

/// A client, by its place.
#[derive(Clone, Copy)]
pub(crate) struct Who(pub(crate) usize);

/// A history that is being written.
pub(crate) struct Stage {
    rooms: Vec<Room>,
    people: Vec<Person>,
    killed: Vec<u32>,
    clock: i64,
}

/// One conversation.
struct Room {
    id: ConversationId,
    entries: Vec<Entry>,
    hash: RecordHash,
    seq: u64,
    last_hash: Option<ChainHash>,
    truth: Vec<Fact>,
    markers: Vec<String>,
    generation: u64,
    pid: u32,
    read: u64,
    calls: BTreeMap<String, (String, Value)>,
    open: Vec<PendingPermission>,
    working: bool,
}

struct Person {
    client: Client,
    device: DeviceId,
    /// Subscribed conversations.
    follows: Vec<usize>,
    cursors: BTreeMap<usize, (u64, ChainHash)>,
    requests: u32,
}

fn call_id(call: &str) -> ToolUseId {
    ToolUseId::parse(call).unwrap()
}

impl Stage {
    pub(crate) fn new(names: [&str; 2]) -> Self {
        let people = names.iter().zip(1..).map(|(name, device)| Person {
            client: Client::new(name),
            device: DeviceId(device),
            follows: Vec::new(),
            cursors: BTreeMap::new(),
            requests: 0,
        });
        Self {
            rooms: Vec::new(),
            people: people.collect(),
            killed: Vec::new(),
            clock: 1_000,
        }
    }

    /// A conversation begins.
    pub(crate) fn begin(&mut self, id: &str) -> usize {
        let id = ConversationId::parse(id).unwrap();
        self.rooms.push(Room {
            id: id.clone(),
            entries: Vec::new(),
            hash: RecordHash::EMPTY,
            seq: 0,
            last_hash: None,
            truth: Vec::new(),
            markers: Vec::new(),
            generation: 0,
            pid: 0,
            read: 0,
            calls: BTreeMap::new(),
            open: Vec::new(),
            working: false,
        });
        let room = self.rooms.len() - 1;
        let record = Record::Began {
            conversation_id: id,
            epoch: Epoch(1),
            generation: Generation(0),
        };
        self.append(room, record, Vec::new());
        room
    }

    /// Writes to the log, then tells everybody.
    fn append(&mut self, number: usize, record: Record, events: Vec<ClaudeEvent>) {
        self.clock += 1;
        let room = &mut self.rooms[number];
        let entry = Entry {
            at: Timestamp(self.clock),
            record,
            events: events.iter().cloned().map(Durable::from).collect(),
        };
        room.hash = room.hash.next(&serde_json::to_vec(&entry).unwrap());
        room.entries.push(entry);
        for (place, event) in events.into_iter().enumerate() {
            room.seq += 1;
            let hash = ChainHash::parse(&format!("{}.{place}", room.hash)).unwrap();
            room.last_hash = Some(hash.clone());
            let message = HostEvent {
                seq: Some(Seq(room.seq)),
                epoch: Some(Epoch(1)),
                chain_hash: Some(hash.clone()),
                ..HostEvent::new(room.id.clone(), event)
            };
            for person in self
                .people
                .iter_mut()
                .filter(|one| one.follows.contains(&number))
            {
                person.cursors.insert(number, (room.seq, hash.clone()));
                person.got(message.clone().into());
            }
        }
    }

    pub(crate) fn tell(&mut self, room: usize, fact: Fact) {
        self.rooms[room].truth.push(fact);
    }

    /// The CLI prints a line, which makes these events.
    fn print(&mut self, number: usize, line: Value, seen: Vec<Seen>, events: Vec<ClaudeEvent>) {
        assert!(witness(&line).len() <= events.len());
        let room = &mut self.rooms[number];
        let length = line.to_string().len() as u64 + 1;
        room.truth.push(Fact::Printed(line));
        let stretch = Stretch {
            generation: Generation(room.generation),
            from: room.read,
            to: room.read + length,
            hash: String::new(),
            open_from: room.read + length,
            reader: 1,
            seen,
        };
        room.read += length;
        self.append(number, Record::Read(stretch), events);
    }

    /// The end of the recording.
    pub(crate) fn finish(self) -> History {
        let processes = self.rooms.iter().flat_map(|room| {
            [Role::Shim, Role::Cli].map(|role| Process {
                pid: room.pid + u32::from(role == Role::Shim) * 1000,
                conversation: room.id.to_string(),
                generation: room.generation,
                role,
            })
        });
        History {
            processes: processes.collect(),
            conversations: self
                .rooms
                .into_iter()
                .map(|room| Conversation {
                    id: room.id,
                    lives: vec![Life::of(room.entries)],
                    truth: Some(room.truth),
                    markers: room.markers,
                })
                .collect(),
            clients: self
                .people
                .into_iter()
                .map(|person| person.client)
                .collect(),
            apps: Vec::new(),
            shelves: Vec::new(),
            killed: self.killed,
            end: End::AtRest,
        }
    }
}

/// Clients.
impl Stage {
    pub(crate) fn connect(&mut self, who: Who) {
        self.people[who.0].client.steps.push(Step::Connected);
    }

    pub(crate) fn lose(&mut self, who: Who) {
        let person = &mut self.people[who.0];
        person.client.steps.push(Step::Lost);
        person.follows.clear();
    }

    pub(crate) fn subscribe(&mut self, who: Who, room: usize) {
        self.subscribe_within(who, room, "");
    }

    /// Subscribes while a text is being written.
    pub(crate) fn subscribe_within(&mut self, who: Who, number: usize, partial: &str) {
        let room = &self.rooms[number];
        let person = &mut self.people[who.0];
        let cursor = person.cursors.get(&number).cloned();
        let last = cursor.as_ref().map_or(0, |(seq, _)| *seq);
        person.sent(Subscribe {
            epoch: cursor.is_some().then_some(Epoch(1)),
            seq: cursor.as_ref().map(|(seq, _)| Seq(*seq)),
            chain_hash: cursor.map(|(_, hash)| hash),
            ..Subscribe::new(room.id.clone())
        });
        person.got(Subscribed::new(room.id.clone(), Epoch(1), Seq(room.seq), false).into());
        let life = Life::of(room.entries.clone());
        for event in life.events().iter().filter(|event| event.seq.0 > last) {
            let hash = ChainHash::parse(&event.chain_hash).unwrap();
            person.cursors.insert(number, (event.seq.0, hash.clone()));
            let message = HostEvent {
                seq: Some(event.seq),
                epoch: Some(Epoch(1)),
                chain_hash: Some(hash),
                ..HostEvent::new(room.id.clone(), event.event.clone())
            };
            person.got(message.into());
        }
        let open = Some(room.open.clone()).filter(|open| !open.is_empty());
        let status = SessionStatus {
            pending_permissions: open,
            partial_text: Some(partial.to_owned()).filter(|text| !text.is_empty()),
            epoch: Some(Epoch(1)),
            seq: Some(Seq(room.seq)),
            ..SessionStatus::new(room.id.clone(), ConversationStatus::Idle)
        };
        let snapshot = Snapshot {
            chain_hash: room.last_hash.clone(),
            ..Snapshot::new(room.id.clone(), Epoch(1), Seq(room.seq), Box::new(status))
        };
        person.got(snapshot.into());
        person.follows.push(number);
    }

    fn publish(&mut self, number: usize, event: &ClaudeEvent) {
        let message = HostEvent::new(self.rooms[number].id.clone(), event.clone());
        for person in self
            .people
            .iter_mut()
            .filter(|one| one.follows.contains(&number))
        {
            person.got(message.clone().into());
        }
    }

    pub(crate) fn send(&mut self, who: Who, number: usize, id: &str, prompt: &str) {
        let client_message_id = ClientMessageId::parse(id).ok();
        let room = &self.rooms[number];
        let payload = MessagePayload {
            client_message_id: client_message_id.clone(),
            ..MessagePayload::new(
                Prompt::parse(prompt).unwrap(),
                PathText::parse("/w").unwrap(),
                WorkspaceId::parse("w").unwrap(),
            )
        };
        let person = &mut self.people[who.0];
        let request_id = person.request();
        person.sent(SendMessage {
            request_id: Some(request_id.clone()),
            ..SendMessage::new(room.id.clone(), payload)
        });
        let event = UserMessage {
            client_message_id: client_message_id.clone(),
            ..UserMessage::new(prompt.to_owned(), Timestamp(self.clock))
        };
        let message = Message {
            id: MessageId(id.to_owned()),
            content: prompt.to_owned(),
            on_busy: OnBusy::Inject,
            client_message_id,
            device_id: None,
            author: None,
        };
        let seq = Some(Seq(self.rooms[number].seq + 1));
        let mut events = vec![ClaudeEvent::UserMessage(event)];
        if !std::mem::replace(&mut self.rooms[number].working, true) {
            let works = StateChanged::new(ConversationStatus::Working);
            events.push(ClaudeEvent::State(works));
        }
        self.append(number, Record::Accepted(message), events);
        self.people[who.0].got(HostToPylon::RequestResult(RequestResult {
            request_id: Some(request_id),
            seq,
            ..RequestResult::default()
        }));
    }
}

/// The CLI.
impl Stage {
    /// A run begins.
    pub(crate) fn start(&mut self, number: usize, pid: u32) {
        let room = &mut self.rooms[number];
        room.generation += 1;
        room.pid = pid;
        room.read = 0;
        let generation = Generation(room.generation);
        room.truth.push(Fact::Began {
            pid,
            start_ticks: 7,
        });
        let intended = Record::Intended {
            generation,
            resume: None,
        };
        self.append(number, intended, Vec::new());
        let started = Record::Started {
            generation,
            pid,
            start_ticks: 7,
        };
        self.append(number, started, Vec::new());
        let greeting = Record::Requested {
            generation,
            request_id: format!("greeting-{pid}"),
            control: Control::Initialize,
        };
        self.append(number, greeting, Vec::new());
    }

    /// Somebody kills the CLI.
    pub(crate) fn kill(&mut self, number: usize) {
        // The line it was about to print.
        self.tell(number, Fact::Printed(json!({"type": "system"})));
        let room = &self.rooms[number];
        self.killed.push(room.pid);
        let ended = Record::Ended {
            generation: Generation(room.generation),
            exit: RunExit::Signal {
                signal: 9,
                stderr: String::new(),
            },
            interrupted: Vec::new(),
            dropped: Vec::new(),
        };
        self.append(number, ended, Vec::new());
    }

    pub(crate) fn hand(&mut self, number: usize, id: &str) {
        let handed = Record::Handed {
            generation: Generation(self.rooms[number].generation),
            message: MessageId(id.to_owned()),
        };
        self.append(number, handed, Vec::new());
        let uuid = Some(id.to_owned());
        let kind = "user".to_owned();
        self.tell(number, Fact::Read { kind, uuid });
    }

    pub(crate) fn pieces(&mut self, number: usize, pieces: &[&str]) {
        self.pieces_from(number, 0, pieces);
    }

    pub(crate) fn pieces_from(&mut self, number: usize, mut at: u64, pieces: &[&str]) {
        for piece in pieces {
            let event = TextDelta {
                generation: Some(Generation(self.rooms[number].generation)),
                block: Some(0),
                at: Some(at),
                ..TextDelta::new((*piece).to_owned())
            };
            at += piece.encode_utf16().count() as u64;
            self.publish(number, &ClaudeEvent::Text(event));
        }
    }

    pub(crate) fn says(&mut self, number: usize, text: &str, parent: Option<&str>) {
        let line = json!({
            "type": "assistant",
            "parent_tool_use_id": parent,
            "message": {"content": [{"type": "text", "text": text}]},
        });
        let event = TextComplete {
            parent_tool_use_id: parent.map(call_id),
            ..TextComplete::new(text.to_owned())
        };
        self.print(
            number,
            line,
            Vec::new(),
            vec![ClaudeEvent::TextComplete(event)],
        );
    }

    pub(crate) fn result(&mut self, number: usize) {
        let line = json!({"type": "result", "subtype": "success"});
        let event = TurnResult::new("success".to_owned(), 1, 0.0, 1, Usage::new(0, 0, 0, 0));
        self.rooms[number].working = false;
        let rests = StateChanged::new(ConversationStatus::Idle);
        let events = vec![ClaudeEvent::Result(event), ClaudeEvent::State(rests)];
        self.print(number, line, Vec::new(), events);
    }

    pub(crate) fn calls(&mut self, number: usize, call: &str, tool: &str, input: Value) {
        let line = json!({
            "type": "assistant",
            "message": {"content": [{"type": "tool_use", "id": call, "name": tool, "input": &input}]},
        });
        let event = ToolInfo {
            tool_use_id: Some(call_id(call)),
            ..ToolInfo::new(tool.to_owned(), Json::of(&input).unwrap())
        };
        self.rooms[number]
            .calls
            .insert(call.to_owned(), (tool.to_owned(), input));
        self.print(number, line, Vec::new(), vec![ClaudeEvent::ToolInfo(event)]);
    }

    pub(crate) fn returns(&mut self, number: usize, call: &str, failed: bool) {
        let line = json!({
            "type": "user",
            "message": {"content": [{"type": "tool_result", "tool_use_id": call, "is_error": failed}]},
        });
        let event = ToolComplete {
            tool_use_id: Some(call_id(call)),
            ..ToolComplete::new("tool".to_owned(), !failed, String::new())
        };
        self.print(
            number,
            line,
            Vec::new(),
            vec![ClaudeEvent::ToolComplete(event)],
        );
    }

    pub(crate) fn runs(&mut self, number: usize, call: &str) {
        let room = &mut self.rooms[number];
        let input = checksum(room.calls[call].1.to_string().as_bytes());
        room.truth.push(Fact::Ran {
            tool_use_id: call.to_owned(),
            input,
        });
        room.markers.push(call.to_owned());
    }
}

impl Person {
    fn got(&mut self, message: HostToPylon) {
        self.client.steps.push(Step::Got(Box::new(message)));
    }

    fn sent(&mut self, command: impl Into<PylonToHost>) {
        self.client.steps.push(Step::Sent(Box::new(command.into())));
    }

    fn request(&mut self) -> RequestId {
        self.requests += 1;
        RequestId::parse(&format!("{}-{}", self.client.name, self.requests)).unwrap()
    }
}
