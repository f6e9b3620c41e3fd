//! A conversation with its log, and the names of what happens in it.
//!
//! Names come from small pools, so that what is generated often meets what is there.

use std::sync::atomic::{AtomicI64, Ordering};

use estelle_proto::decisions::DecisionKind;
use estelle_proto::{
    ClaudeSessionId, ClientMessageId, ConversationId, Epoch, Generation, Json, OnBusy, Timestamp,
    ToolUseId,
};
use estelle_state::conversation::{
    Conversation, Durable, Entry, Message, MessageId, Outline, Request, Seen, Stretch, Suspicion,
};
use estelle_state::decisions::DecisionKey;

/// The generation of what the host asks itself.
pub(super) const HOST: Generation = Generation(0);

/// A conversation and the log it wrote.
#[derive(Debug, Clone)]
pub(super) struct World {
    pub(super) live: Conversation,
    pub(super) log: Vec<Entry>,
    read_to: u64,
}

/// A time after all others.
pub(super) fn now() -> Timestamp {
    static CLOCK: AtomicI64 = AtomicI64::new(1);
    Timestamp(CLOCK.fetch_add(1, Ordering::Relaxed))
}

impl World {
    pub(super) fn new() -> Self {
        let id = ConversationId::parse("conv-1").expect("an id");
        let (live, entry) = Conversation::begin(now(), id, Epoch(1), Generation(0));
        Self {
            live,
            log: vec![entry],
            read_to: 0,
        }
    }

    pub(super) fn write(&mut self, entries: impl IntoIterator<Item = Entry>) {
        self.log.extend(entries);
    }

    /// The generation of the run, or one that never was.
    pub(super) fn generation(&self) -> Generation {
        self.live.run().map_or(Generation(99), |run| run.generation)
    }

    /// The CLI of a generation prints something.
    pub(super) fn read(
        &mut self,
        generation: Generation,
        seen: Vec<Seen>,
        events: Vec<Durable>,
    ) -> Option<Suspicion> {
        let from = self.read_to;
        self.read_to += 10;
        let stretch = Stretch {
            generation,
            from,
            to: self.read_to,
            hash: "00".to_owned(),
            open_from: self.read_to,
            reader: 1,
            seen,
        };
        let (entry, suspicion) = self.live.read(now(), stretch, events, str::to_owned);
        self.write([entry]);
        suspicion
    }

    /// The same machine, told by the log without reading more of it than a host does that starts.
    pub(super) fn outlined(&self) -> Conversation {
        let mut lines = self
            .log
            .iter()
            .map(|entry| serde_json::to_vec(entry).expect("JSON"));
        let first = lines.next().expect("a line");
        let first = Outline::parse(&first).expect("an entry");
        let mut conversation = Conversation::from_outline(&first).expect("a beginning");
        for line in lines {
            let outline = Outline::parse(&line).expect("an entry");
            conversation.apply_outline(&outline).expect("events");
        }
        conversation
    }

    /// The same machine, told by the log as it is on the disk.
    pub(super) fn replayed(&self) -> Conversation {
        let stored = self.log.iter().map(|entry| {
            let line = serde_json::to_string(entry).expect("JSON");
            serde_json::from_str::<Entry>(&line).expect("an entry")
        });
        Conversation::replay(stored).expect("a beginning")
    }
}

pub(super) fn message_id(number: u8) -> MessageId {
    MessageId(format!("message-{number}"))
}

/// The id that the device of the sender gave it.
pub(super) fn client_id(number: u8) -> ClientMessageId {
    ClientMessageId::parse(&format!("client-{number}")).expect("an id")
}

pub(super) fn message(number: u8, text: u8, on_busy: OnBusy) -> Message {
    Message {
        id: message_id(number),
        content: format!("text {text}"),
        on_busy,
        client_message_id: Some(client_id(number)),
        device_id: None,
        author: None,
    }
}

pub(super) fn session(number: u8) -> ClaudeSessionId {
    let text = format!("00000000-0000-4000-8000-00000000000{}", number % 10);
    ClaudeSessionId::parse(&text).expect("an id")
}

pub(super) fn call_id(number: u8) -> ToolUseId {
    ToolUseId::parse(&format!("toolu_{number}")).expect("an id")
}

pub(super) fn key(generation: Generation, number: u8) -> DecisionKey {
    DecisionKey {
        generation,
        tool_use_id: call_id(number),
    }
}

/// A request about a call; `twin` tells two requests about the same call apart.
pub(super) fn request(number: u8, twin: u8, kind: DecisionKind) -> Request {
    Request {
        request_id: request_id(number, twin),
        tool_use_id: call_id(number),
        kind,
        tool_name: "Bash".to_owned(),
        input: Json::parse("{}").expect("JSON"),
        input_hash: format!("hash-{number}"),
        questions: Vec::new(),
        parent_tool_use_id: None,
    }
}

pub(super) fn request_id(number: u8, twin: u8) -> String {
    format!("request-{number}-{twin}")
}

/// The line that answers a request.
pub(super) fn line(request: &str) -> String {
    format!("answer to {request}")
}
