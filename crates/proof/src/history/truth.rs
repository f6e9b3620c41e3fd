//! What the CLI really did: the simulator's own account of it, independent of everything that the host wrote.
//!
//! Reading it checks its own chain. [`witness`] says which durable events a printed line must make; it is written
//! anew here on purpose, so that it does not share a mistake with the host's translation.

use std::collections::BTreeSet;
use std::path::Path;

use estelle_proto::events::ClaudeEvent;
use estelle_sim::cli::truth::{self, TruthRecord};
use serde_json::Value;

pub use estelle_sim::cli::truth::ReadTruthError;

/// Something that the CLI did.
#[derive(Debug, Clone, PartialEq)]
pub enum Fact {
    /// A process began.
    Began {
        /// Its pid.
        pid: u32,
        /// Its start time in clock ticks after boot.
        start_ticks: u64,
    },
    /// It read a line.
    Read {
        /// The type of the line.
        kind: String,
        /// Its uuid, if it had one.
        uuid: Option<String>,
    },
    /// It printed a line that does not only stream.
    Printed(Value),
    /// It asks for an answer.
    Asked {
        /// The id of the request.
        request_id: String,
        /// The call it is about.
        tool_use_id: String,
        /// Which tool.
        tool: String,
        /// The checksum of its input.
        input: String,
    },
    /// It took an answer.
    Answered {
        /// The id of the request.
        request_id: String,
        /// What it was.
        answer: Answer,
    },
    /// A tool ran.
    Ran {
        /// Which call.
        tool_use_id: String,
        /// The checksum of its input.
        input: String,
    },
    /// A tool ran that had run before.
    RanAgain {
        /// Which call.
        tool_use_id: String,
    },
    /// The process ended by itself.
    Ended,
}

/// An answer as the CLI saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It was taken, with this word.
    Taken(String),
    /// Nothing was open under its id, so it had no effect.
    Stale,
}

/// Reads the truth file of the simulator. One that does not exist tells of nothing.
pub fn from_simulator(path: &Path) -> Result<Vec<Fact>, ReadTruthError> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let truth = truth::read(path)?;
    Ok(truth.records.iter().filter_map(fact).collect())
}

fn fact(record: &TruthRecord) -> Option<Fact> {
    let data: Value = serde_json::from_str(&record.data).ok()?;
    let text = |key: &str| data.get(key).and_then(Value::as_str).map(str::to_owned);
    match record.kind.as_str() {
        "start" => {
            let (pid, ticks) = record.generation.split_once('-')?;
            Some(Fact::Began {
                pid: pid.parse().ok()?,
                start_ticks: ticks.parse().ok()?,
            })
        }
        "stdin" => Some(Fact::Read {
            kind: text("type").unwrap_or_default(),
            uuid: text("uuid"),
        }),
        "stdout" => data.get("line").cloned().map(Fact::Printed),
        "ask" => Some(Fact::Asked {
            request_id: text("request_id")?,
            tool_use_id: text("tool_use_id")?,
            tool: text("tool")?,
            input: text("input_fnv")?,
        }),
        "answer" => Some(Fact::Answered {
            request_id: text("request_id")?,
            answer: text("behavior").map_or(Answer::Stale, Answer::Taken),
        }),
        "tool_run" => Some(Fact::Ran {
            tool_use_id: text("tool_use_id")?,
            input: text("input_fnv")?,
        }),
        "tool_rerun" => Some(Fact::RanAgain {
            tool_use_id: text("tool_use_id")?,
        }),
        "exit" => Some(Fact::Ended),
        _ => None,
    }
}

/// What a journal tells of one process, where nobody else does: what it asked, what it echoed, which tools came back.
pub fn from_journal(journal: &[u8], pid: u32, start_ticks: u64) -> Vec<Fact> {
    let mut facts = vec![Fact::Began { pid, start_ticks }];
    let mut answered = BTreeSet::new();
    for line in journal.split(|byte| *byte == b'\n') {
        let Ok(line) = serde_json::from_slice::<Value>(line) else {
            continue;
        };
        match line.get("type").and_then(Value::as_str) {
            Some("stream_event") => continue,
            Some("control_request") => facts.extend(asked(&line)),
            Some("control_response") => facts.extend(echoed(&line, &mut answered)),
            Some("user") => facts.extend(ran(&line)),
            Some(_) | None => {}
        }
        facts.push(Fact::Printed(line));
    }
    facts
}

fn asked(line: &Value) -> Option<Fact> {
    let request = line.get("request")?;
    (text_of(request, "subtype")? == "can_use_tool").then_some(())?;
    Some(Fact::Asked {
        request_id: text_of(line, "request_id")?,
        tool_use_id: text_of(request, "tool_use_id")?,
        tool: text_of(request, "tool_name")?,
        input: String::new(),
    })
}

/// The echo of an answer; a second one had no effect.
fn echoed(line: &Value, answered: &mut BTreeSet<String>) -> Option<Fact> {
    let response = line.get("response")?;
    let request_id = text_of(response, "request_id")?;
    let behavior = response
        .get("response")
        .and_then(|body| text_of(body, "behavior"))?;
    let answer = if answered.insert(request_id.clone()) {
        Answer::Taken(behavior)
    } else {
        Answer::Stale
    };
    Some(Fact::Answered { request_id, answer })
}

/// Tools that came back without an error have run.
fn ran(line: &Value) -> Vec<Fact> {
    let returned = witness(line).into_iter();
    returned
        .filter_map(|witness| match witness {
            Witness::Return { id, failed: false } => Some(Fact::Ran {
                tool_use_id: id,
                input: String::new(),
            }),
            Witness::Return { .. }
            | Witness::Text { .. }
            | Witness::Call { .. }
            | Witness::Outcome { .. } => None,
        })
        .collect()
}

/// What both a printed line and a durable event tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Witness {
    /// A text is complete.
    Text {
        /// The text.
        text: String,
        /// The call of the sub-agent that wrote it.
        parent: Option<String>,
    },
    /// A tool was called.
    Call {
        /// Which call.
        id: String,
        /// Which tool.
        tool: String,
        /// With what.
        input: String,
    },
    /// A tool came back.
    Return {
        /// Which call.
        id: String,
        /// Whether it failed.
        failed: bool,
    },
    /// A turn ended.
    Outcome {
        /// How.
        subtype: String,
    },
}

/// The durable events that a printed line must make.
pub fn witness(line: &Value) -> Vec<Witness> {
    let parent = text_of(line, "parent_tool_use_id");
    let content = line.pointer("/message/content").and_then(Value::as_array);
    let blocks = || content.into_iter().flatten();
    match line.get("type").and_then(Value::as_str) {
        Some("assistant") => blocks()
            .filter_map(|block| said(block, parent.as_ref()))
            .collect(),
        Some("user") => blocks().filter_map(returned).collect(),
        Some("result") => vec![Witness::Outcome {
            subtype: text_of(line, "subtype").unwrap_or_default(),
        }],
        Some(_) | None => Vec::new(),
    }
}

fn said(block: &Value, parent: Option<&String>) -> Option<Witness> {
    match block.get("type").and_then(Value::as_str)? {
        "text" => Some(Witness::Text {
            text: text_of(block, "text")?,
            parent: parent.cloned(),
        }),
        "tool_use" => Some(Witness::Call {
            id: text_of(block, "id")?,
            tool: text_of(block, "name")?,
            input: block.get("input")?.to_string(),
        }),
        _ => None,
    }
}

fn returned(block: &Value) -> Option<Witness> {
    if text_of(block, "type")? != "tool_result" {
        return None;
    }
    let failed = block.get("is_error").and_then(Value::as_bool);
    Some(Witness::Return {
        id: text_of(block, "tool_use_id")?,
        failed: failed.unwrap_or_default(),
    })
}

fn text_of(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).map(str::to_owned)
}

impl Witness {
    /// What an event tells, if it is of the kinds that come from the CLI's lines.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the other events are the host's own"
    )]
    pub fn of(event: &ClaudeEvent) -> Option<Self> {
        match event {
            ClaudeEvent::TextComplete(event) => Some(Self::Text {
                text: event.text.clone(),
                parent: event.parent_tool_use_id.as_ref().map(ToString::to_string),
            }),
            ClaudeEvent::ToolInfo(event) => Some(Self::Call {
                id: event.tool_use_id.as_ref()?.to_string(),
                tool: event.tool_name.clone(),
                input: event.input.decode::<Value>().ok()?.to_string(),
            }),
            ClaudeEvent::ToolComplete(event) => Some(Self::Return {
                id: event.tool_use_id.as_ref()?.to_string(),
                failed: !event.success,
            }),
            ClaudeEvent::Result(event) => Some(Self::Outcome {
                subtype: event.subtype.clone(),
            }),
            _ => None,
        }
    }
}
