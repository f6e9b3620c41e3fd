//! Reading a script out of a prompt, and writing it back as JSON.
//!
//! A step is told by its keys; unknown keys are refused, because a mistyped key in a test would otherwise change what
//! the test means in silence. Errors name the step. Tool inputs pass through as text, with their order of keys.

use std::collections::BTreeMap;

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};

use super::{
    Action, Answer, Gate, HttpError, MARKER, MAX_CHUNKS, MAX_STEPS, Mischief, Script, Step,
    ToolCall, ToolInput,
};

/// Longest pause between two deltas.
const MAX_DELAY_MS: u64 = 600_000;

type Fields = BTreeMap<String, Box<RawValue>>;

/// Why a script cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ParseScriptError {
    /// What follows the marker is not a JSON array.
    #[error("the script is not a JSON array of steps: {0}")]
    Json(#[source] serde_json::Error),
    /// A step has a key that is unknown there, or a value of the wrong type.
    #[error("step {index} cannot be read: {source}")]
    Step {
        /// The step, from 0.
        index: usize,
        /// What is wrong.
        #[source]
        source: serde_json::Error,
    },
    /// A script longer than anybody needs.
    #[error("the script has {0} steps, at most {MAX_STEPS} are allowed")]
    TooLong(usize),
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct AnswerFields {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    think: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    say: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    chunks: Option<usize>,
    #[serde(default, skip_serializing_if = "is_default")]
    delay_ms: u64,
    #[serde(default, skip_serializing_if = "is_default")]
    stamp: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stop: Option<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    drop: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    input: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tools: Vec<CallFields>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct CallFields {
    tool: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    input: Option<Box<RawValue>>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct HttpFields {
    http: u16,
    #[serde(default = "api_error")]
    etype: String,
    #[serde(default)]
    msg: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    times: Option<u32>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    hdr: BTreeMap<String, String>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn api_error() -> String {
    "api_error".to_owned()
}

impl Script {
    /// The last script in a prompt; `None` if there is none.
    ///
    /// A script inside a script (the prompt of a sub-agent) belongs to the outer one. A script that cannot be read ends
    /// the search, since where it ends is not known.
    pub fn find(prompt: &str) -> Option<Result<Self, ParseScriptError>> {
        let mut found = None;
        let mut rest = prompt;
        while let Some(at) = rest.find(MARKER) {
            rest = rest.get(at + MARKER.len()..).unwrap_or_default();
            if !rest.trim_start().starts_with('[') {
                continue;
            }
            let mut values =
                serde_json::Deserializer::from_str(rest).into_iter::<Vec<Box<RawValue>>>();
            match values.next() {
                Some(Ok(steps)) => {
                    rest = rest.get(values.byte_offset()..).unwrap_or_default();
                    found = Some(steps);
                }
                Some(Err(error)) => return Some(Err(ParseScriptError::Json(error))),
                None => return None,
            }
        }
        found.map(|steps| Self::from_steps(&steps))
    }

    /// Reads a script from its JSON array.
    pub fn from_json(json: &str) -> Result<Self, ParseScriptError> {
        let steps: Vec<Box<RawValue>> =
            serde_json::from_str(json).map_err(ParseScriptError::Json)?;
        Self::from_steps(&steps)
    }

    /// The JSON array.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|_| "[]".to_owned())
    }

    fn from_steps(steps: &[Box<RawValue>]) -> Result<Self, ParseScriptError> {
        if steps.len() > MAX_STEPS {
            return Err(ParseScriptError::TooLong(steps.len()));
        }
        let steps = steps.iter().enumerate().map(|(index, raw)| {
            Step::from_raw(raw).map_err(|source| ParseScriptError::Step { index, source })
        });
        Ok(Self {
            steps: steps.collect::<Result<_, _>>()?,
        })
    }
}

impl Step {
    fn from_raw(raw: &RawValue) -> Result<Self, serde_json::Error> {
        let mut fields: Fields = serde_json::from_str(raw.get())?;
        let gate = take_gate(&mut fields)?;
        Ok(Self {
            action: action(&fields)?,
            gate,
        })
    }

    fn fields(&self) -> Result<Fields, serde_json::Error> {
        let mut fields = match &self.action {
            Action::Answer(answer) => to_fields(&AnswerFields::from(answer))?,
            Action::Http(error) => to_fields(&HttpFields {
                http: error.status,
                etype: error.etype.clone(),
                msg: error.msg.clone(),
                times: error.times,
                hdr: error.headers.clone(),
            })?,
            Action::Malformed(raw) => one("malformed", raw)?,
            Action::Mischief(mischief) => mischief_fields(mischief)?,
        };
        if let Some(gate) = &self.gate {
            fields.insert("gate".to_owned(), to_raw_value(&gate.name)?);
            if gate.at > 0 {
                fields.insert("gate_at".to_owned(), to_raw_value(&gate.at)?);
            }
        }
        Ok(fields)
    }
}

fn take_gate(fields: &mut Fields) -> Result<Option<Gate>, serde_json::Error> {
    let at = fields.remove("gate_at");
    let Some(name) = fields.remove("gate") else {
        return match at {
            Some(_) => Err(serde_json::Error::custom("gate_at needs gate")),
            None => Ok(None),
        };
    };
    let name: String = named("gate", &name)?;
    if !Gate::is_name(&name) {
        return Err(serde_json::Error::custom(format!(
            "{name:?} is no gate name (letters, digits, '-', '_')"
        )));
    }
    let at = at.map_or(Ok(0), |at| named("gate_at", &at))?;
    Ok(Some(Gate { name, at }))
}

fn action(fields: &Fields) -> Result<Action, serde_json::Error> {
    let has = |key: &str| fields.contains_key(key);
    if has("http") {
        return http(of_fields(fields)?);
    }
    if ["say", "think", "tool", "tools"].into_iter().any(has) {
        return answer(of_fields(fields)?);
    }
    // Every other kind of step is a single key.
    let mut keys = fields.iter();
    let (Some((key, value)), None) = (keys.next(), keys.next()) else {
        let keys: Vec<&str> = fields.keys().map(String::as_str).collect();
        return Err(serde_json::Error::custom(format!(
            "no kind of step has the keys [{}]",
            keys.join(", ")
        )));
    };
    if key == "malformed" {
        return Ok(Action::Malformed(named(key, value)?));
    }
    mischief(key, value).map(Action::Mischief)
}

fn http(fields: HttpFields) -> Result<Action, serde_json::Error> {
    if !(400..=599).contains(&fields.http) {
        return Err(serde_json::Error::custom(format!(
            "http {} is no error status (400 to 599)",
            fields.http
        )));
    }
    Ok(Action::Http(HttpError {
        status: fields.http,
        etype: fields.etype,
        msg: fields.msg,
        times: fields.times,
        headers: fields.hdr,
    }))
}

fn answer(fields: AnswerFields) -> Result<Action, serde_json::Error> {
    if fields
        .chunks
        .is_some_and(|chunks| chunks == 0 || chunks > MAX_CHUNKS)
    {
        return Err(serde_json::Error::custom(format!(
            "chunks must be 1 to {MAX_CHUNKS}"
        )));
    }
    if fields.delay_ms > MAX_DELAY_MS {
        return Err(serde_json::Error::custom(format!(
            "delay_ms must be at most {MAX_DELAY_MS}"
        )));
    }
    if fields.input.is_some() && fields.tool.is_none() {
        return Err(serde_json::Error::custom("input needs tool"));
    }
    if fields.tool.is_some() && !fields.tools.is_empty() {
        return Err(serde_json::Error::custom(
            "a step has tool or tools, not both",
        ));
    }
    let single = fields.tool.map(|tool| CallFields {
        tool,
        input: fields.input,
    });
    let calls = single.into_iter().chain(fields.tools);
    Ok(Action::Answer(Answer {
        think: fields.think,
        say: fields.say,
        chunks: fields.chunks,
        delay_ms: fields.delay_ms,
        stamp: fields.stamp,
        stop: fields.stop,
        drop: fields.drop,
        calls: calls.map(call).collect::<Result<_, _>>()?,
    }))
}

fn call(fields: CallFields) -> Result<ToolCall, serde_json::Error> {
    let input = match fields.input {
        Some(input) if input.get().starts_with('{') => input,
        Some(_) => {
            return Err(serde_json::Error::custom(format!(
                "input of {} is not an object",
                fields.tool
            )));
        }
        None => RawValue::from_string("{}".to_owned())?,
    };
    Ok(ToolCall {
        name: fields.tool,
        input: ToolInput(input),
    })
}

fn mischief(key: &str, value: &RawValue) -> Result<Mischief, serde_json::Error> {
    Ok(match key {
        "stall_ms" => Mischief::Stall(Some(named(key, value)?)),
        "stall" => truth(key, value, Mischief::Stall(None))?,
        "crash" if value.get().starts_with('"') => Mischief::Signal(named(key, value)?),
        "crash" => Mischief::Exit(named(key, value)?),
        "garbage" => Mischief::Garbage(named(key, value)?),
        "invalid_utf8" => truth(key, value, Mischief::InvalidUtf8)?,
        "flood" => Mischief::Flood(named(key, value)?),
        "huge" => Mischief::Huge(named(key, value)?),
        "half_line" => Mischief::HalfLine(named(key, value)?),
        "ask" => {
            let request: Fields = named(key, value)?;
            if !request.contains_key("subtype") {
                return Err(serde_json::Error::custom("ask needs a subtype"));
            }
            Mischief::Ask(value.get().to_owned())
        }
        _ => return Err(serde_json::Error::custom(format!("unknown step {key:?}"))),
    })
}

fn mischief_fields(mischief: &Mischief) -> Result<Fields, serde_json::Error> {
    match mischief {
        Mischief::Stall(Some(ms)) => one("stall_ms", ms),
        Mischief::Stall(None) => one("stall", &true),
        Mischief::Exit(code) => one("crash", code),
        Mischief::Signal(name) => one("crash", name),
        Mischief::Garbage(text) => one("garbage", text),
        Mischief::InvalidUtf8 => one("invalid_utf8", &true),
        Mischief::Flood(count) => one("flood", count),
        Mischief::Huge(bytes) => one("huge", bytes),
        Mischief::HalfLine(text) => one("half_line", text),
        Mischief::Ask(request) => one("ask", &RawValue::from_string(request.clone())?),
    }
}

fn truth(key: &str, value: &RawValue, then: Mischief) -> Result<Mischief, serde_json::Error> {
    if named::<bool>(key, value)? {
        Ok(then)
    } else {
        Err(serde_json::Error::custom(format!("{key} takes true")))
    }
}

fn named<T: DeserializeOwned>(key: &str, value: &RawValue) -> Result<T, serde_json::Error> {
    serde_json::from_str(value.get())
        .map_err(|error| serde_json::Error::custom(format!("{key}: {error}")))
}

fn one<T: Serialize + ?Sized>(key: &str, value: &T) -> Result<Fields, serde_json::Error> {
    Ok(Fields::from([(key.to_owned(), to_raw_value(value)?)]))
}

fn of_fields<T: DeserializeOwned>(fields: &Fields) -> Result<T, serde_json::Error> {
    serde_json::from_str(&serde_json::to_string(fields)?)
}

fn to_fields<T: Serialize>(value: &T) -> Result<Fields, serde_json::Error> {
    serde_json::from_str(&serde_json::to_string(value)?)
}

impl From<&Answer> for AnswerFields {
    fn from(answer: &Answer) -> Self {
        let mut calls: Vec<CallFields> = answer
            .calls
            .iter()
            .map(|call| CallFields {
                tool: call.name.clone(),
                input: Some(call.input.0.clone()),
            })
            .collect();
        let single = if calls.len() == 1 { calls.pop() } else { None };
        let (tool, input) = single.map_or((None, None), |call| (Some(call.tool), call.input));
        Self {
            think: answer.think.clone(),
            say: answer.say.clone(),
            chunks: answer.chunks,
            delay_ms: answer.delay_ms,
            stamp: answer.stamp,
            stop: answer.stop.clone(),
            drop: answer.drop,
            tool,
            input,
            tools: calls,
        }
    }
}

impl Serialize for Step {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.fields()
            .map_err(serde::ser::Error::custom)?
            .serialize(serializer)
    }
}

impl Serialize for Script {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.steps.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Script {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let steps = Vec::<Box<RawValue>>::deserialize(deserializer)?;
        Self::from_steps(&steps).map_err(D::Error::custom)
    }
}
