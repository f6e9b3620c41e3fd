//! One turn: the facts that live from its first message to its result.
//!
//! A turn belongs to the main conversation or to a sub-agent; both answer the same way, but only the main one streams,
//! echoes and ends in a `result`. What happens in a turn is in [`super::play`].

use super::json::{Json, obj};
use super::state::{Scope, Sim};

/// Who speaks in a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Voice {
    /// The conversation itself.
    Main,
    /// A sub-agent.
    Agent(AgentVoice),
}

/// A sub-agent as its lines name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AgentVoice {
    /// The call that started it.
    pub(crate) tool_use_id: String,
    /// Its id, also the id of its task.
    pub(crate) agent_id: String,
    /// Its type.
    pub(crate) kind: String,
    /// What it was asked for, in short.
    pub(crate) description: String,
    /// Whether the conversation goes on without it.
    pub(crate) behind: bool,
}

/// The moments a result reports.
#[derive(Debug, Default)]
pub(crate) struct Moments {
    /// When the first request was sent.
    pub(crate) requested: Option<u64>,
    /// When the first content came.
    pub(crate) first_content: Option<u64>,
    /// When the first block was complete.
    pub(crate) first_block: Option<u64>,
}

/// The facts of a turn.
#[derive(Debug)]
pub(crate) struct Turn {
    /// What aborts it.
    pub(crate) scope: Scope,
    /// Who speaks.
    pub(crate) voice: Voice,
    /// Uuids of its user messages.
    pub(crate) uuids: Vec<String>,
    /// How many of them started it; the others were folded in.
    pub(crate) first_messages: usize,
    /// Why it runs without a user message.
    pub(crate) origin: Option<Json>,
    /// When it started.
    pub(crate) started: u64,
    /// When it got on.
    pub(crate) moments: Moments,
    /// Finished model requests.
    pub(crate) requests: u64,
    /// User lines printed, each of which counts as a turn of the model.
    pub(crate) user_lines: u64,
    /// Refused tool calls.
    pub(crate) denials: Vec<Json>,
    /// Echoes that are due.
    pub(crate) echoes: Vec<Json>,
    /// Whether the first answer, which names the messages, has been printed.
    pub(crate) named: bool,
    /// The prompt's id in hook inputs.
    pub(crate) prompt_id: String,
    /// What the hooks for shown texts call the turn.
    pub(crate) display_id: String,
    /// The last stop reason.
    pub(crate) stop_reason: Option<String>,
    /// Tries of the current request after errors.
    pub(crate) retries: u32,
    /// The text of an answer that was cut off.
    pub(crate) cut_text: String,
    /// Tools a sub-agent has used.
    pub(crate) uses: usize,
}

impl Turn {
    /// A fresh turn.
    pub(crate) fn new(sim: &Sim, scope: Scope, voice: Voice, uuids: Vec<String>) -> Self {
        Self {
            scope,
            voice,
            first_messages: uuids.len(),
            uuids,
            origin: None,
            started: sim.now(),
            moments: Moments::default(),
            requests: 0,
            user_lines: 0,
            denials: Vec::new(),
            echoes: Vec::new(),
            named: false,
            prompt_id: sim.uuid(),
            display_id: sim.uuid(),
            stop_reason: None,
            retries: 0,
            cut_text: String::new(),
            uses: 0,
        }
    }

    /// Whether it is the conversation's own.
    pub(crate) fn is_main(&self) -> bool {
        self.voice == Voice::Main
    }

    /// The sub-agent that speaks, if one does.
    pub(crate) fn agent(&self) -> Option<&AgentVoice> {
        match &self.voice {
            Voice::Main => None,
            Voice::Agent(agent) => Some(agent),
        }
    }

    /// `parent_tool_use_id`.
    pub(crate) fn parent(&self) -> Json {
        self.agent().map(|agent| agent.tool_use_id.clone()).into()
    }

    /// Prints a line of a stream event, if the host wants them.
    pub(crate) fn event(&self, sim: &Sim, message_id: &str, event: Json, more: Json) {
        if !self.is_main() || !sim.setup().args.partial {
            return;
        }
        let mut line = obj! {
            "type" => "stream_event",
            "event" => event,
            "session_id" => sim.session_id(),
            "parent_tool_use_id" => Json::Null,
            "uuid" => sim.uuid(),
        };
        // What a stop abandoned comes last, everything else before the id of the message.
        let (late, early): (Vec<_>, Vec<_>) = more
            .into_fields()
            .into_iter()
            .partition(|(key, _)| key == "abandoned_blocks");
        for (key, value) in early {
            line.set(&key, value);
        }
        if sim.is_325() {
            line.set("api_message_id", message_id);
        }
        for (key, value) in late {
            line.set(&key, value);
        }
        sim.emit(&line);
    }

    /// Prints the echoes that are due.
    pub(crate) fn echo(&mut self, sim: &Sim) {
        for line in self.echoes.drain(..) {
            sim.emit(&line);
        }
    }

    /// Adds the uuids of the user messages once, to the first line that names them.
    pub(crate) fn name_messages(&self, line: Json) -> Json {
        let Some(last) = self.uuids.last() else {
            return line;
        };
        if self.named {
            return line;
        }
        line.with("user_message_uuid", last)
            .with("user_message_uuids", self.uuids.clone())
    }

    /// Prints a user line of the turn and keeps it in the transcript.
    pub(crate) fn user_line(&mut self, sim: &Sim, content: Json, more: Json) {
        let uuid = sim.uuid();
        let message = obj! { "role" => "user", "content" => content };
        let mut line = obj! {
            "type" => "user",
            "message" => &message,
            "parent_tool_use_id" => self.parent(),
            "agent_id" if sim.is_325() && !self.is_main() => self.agent().map(|agent| agent.agent_id.clone()),
            "session_id" => sim.session_id(),
            "uuid" => &uuid,
            "timestamp" => sim.with(|state| state.timestamp()),
        };
        for (key, value) in more.into_fields() {
            // A sub-agent's lines carry no structured result.
            if self.is_main() || key != "tool_use_result" {
                line.set(&key, value);
            }
        }
        if let Some(agent) = self.agent() {
            line.set("subagent_type", &agent.kind);
            line.set("task_description", &agent.description);
        }
        sim.emit(&line);
        if self.is_main() {
            sim.record("user", &uuid, message);
            self.user_lines += 1;
        }
    }
}
