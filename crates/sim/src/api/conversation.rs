//! What a request for a message is about: a main turn with its script, or one of the CLI's side requests.
//!
//! Everything is read from the request. The script is the one in the newest prompt of a person; tool results, reminders
//! and texts that the CLI writes in the user's name are no prompts. The number of assistant messages after that prompt
//! is the number of responses already given. It decides nothing about the reply.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use crate::script::{ParseScriptError, Script};

/// What a request for a message is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A turn of a conversation or of a sub-agent: the script answers.
    Turn,
    /// A summary of the conversation for compaction.
    Summary,
    /// A question beside the conversation.
    SideQuestion,
    /// A title for the conversation.
    Title,
    /// A probe for quota or for the key: one token is asked for.
    Probe,
}

/// One request for a message, understood.
#[derive(Debug)]
pub(super) struct Conversation {
    pub(super) kind: Kind,
    /// The script of the newest prompt; `None` if the prompt has none.
    pub(super) script: Option<Result<Script, ParseScriptError>>,
    /// Assistant messages since that prompt.
    pub(super) answered: usize,
    /// Tells this prompt in this conversation from any other.
    pub(super) key: u64,
    /// All messages of the request.
    pub(super) messages: usize,
}

/// How texts begin that the CLI sends in the user's name: they neither are prompts nor end a script.
const NOT_PROMPTS: [&str; 13] = [
    "<task-notification",
    "<local-command-",
    "<command-name>",
    "<command-message>",
    "<bash-",
    "[Request interrupted by user",
    "Stop hook feedback:",
    "This session is being continued from a previous conversation",
    "Output token limit hit",
    "Your response was cut off",
    "Your response above was stopped by a safety classifier",
    "Continue from where you left off",
    "[SYSTEM NOTIFICATION",
];
const REMINDER: (&str, &str) = ("<system-reminder>", "</system-reminder>");
/// How the CLI introduces a message that a person sent while a tool ran, in a message of the role `system`.
const WHILE_WORKING: &str = "The user sent a new message while you were working";

impl Conversation {
    /// Reads a request body.
    pub(super) fn read(body: &Value, session: Option<&str>) -> Self {
        let empty = Vec::new();
        let messages = body
            .get("messages")
            .and_then(Value::as_array)
            .unwrap_or(&empty);
        let kind = kind(body, messages);
        let mut read = Self {
            kind,
            script: None,
            answered: 0,
            key: 0,
            messages: messages.len(),
        };
        for (index, message) in messages.iter().enumerate().rev() {
            if role(message) == "assistant" {
                read.answered += 1;
            }
            let Some(prompt) = prompt(message) else {
                continue;
            };
            read.script = Script::find(&prompt.text);
            if read.script.is_some() || !prompt.amid_turn {
                let mut hasher = DefaultHasher::new();
                (session, index, &prompt.text).hash(&mut hasher);
                read.key = hasher.finish();
                break;
            }
        }
        read
    }
}

/// What a person wrote in one message.
struct Prompt {
    text: String,
    /// It was sent while a turn was running, so without a script of its own it leaves the running one alone.
    amid_turn: bool,
}

fn role(message: &Value) -> &str {
    message
        .get("role")
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// The text blocks of a message's content, which may be a bare string.
fn texts(content: &Value) -> Vec<&str> {
    match content {
        Value::String(text) => vec![text],
        Value::Array(blocks) => blocks
            .iter()
            .filter_map(|block| block.get("text").and_then(Value::as_str))
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
    }
}

fn prompt(message: &Value) -> Option<Prompt> {
    let content = message.get("content")?;
    let texts = texts(content);
    match role(message) {
        "system" => {
            let text = texts
                .into_iter()
                .find(|text| text.starts_with(WHILE_WORKING))?;
            Some(Prompt {
                text: text.to_owned(),
                amid_turn: true,
            })
        }
        "user" => {
            let parts: Vec<String> = texts
                .into_iter()
                .map(without_reminders)
                .filter(|text| is_prompt(text))
                .collect();
            let is_result =
                |block: &Value| block.get("type").and_then(Value::as_str) == Some("tool_result");
            let amid_turn = content
                .as_array()
                .is_some_and(|blocks| blocks.iter().any(is_result));
            (!parts.is_empty()).then(|| Prompt {
                text: parts.join("\n"),
                amid_turn,
            })
        }
        _ => None,
    }
}

fn is_prompt(text: &str) -> bool {
    let text = text.trim();
    !text.is_empty() && !NOT_PROMPTS.iter().any(|start| text.starts_with(start))
}

fn without_reminders(text: &str) -> String {
    let (open, close) = REMINDER;
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(open) {
        kept.push_str(before);
        rest = after.split_once(close).map_or("", |(_, behind)| behind);
    }
    kept.push_str(rest);
    kept
}

fn kind(body: &Value, messages: &[Value]) -> Kind {
    if body.get("max_tokens").and_then(Value::as_u64) == Some(1) {
        return Kind::Probe;
    }
    let last = messages
        .iter()
        .rev()
        .find(|message| role(message) == "user");
    let newest = last
        .and_then(|message| message.get("content"))
        .map(texts)
        .unwrap_or_default();
    let says = |start: &str| {
        newest
            .iter()
            .any(|text| text.trim_start().starts_with(start))
    };
    if says("CRITICAL: Respond with TEXT ONLY") {
        return Kind::Summary;
    }
    if newest
        .iter()
        .any(|text| text.contains("This is a side question from the user"))
    {
        return Kind::SideQuestion;
    }
    let has_tools = body
        .get("tools")
        .and_then(Value::as_array)
        .is_some_and(|tools| !tools.is_empty());
    let system = body.get("system").map(texts).unwrap_or_default();
    if !has_tools
        && system
            .iter()
            .any(|text| text.to_lowercase().contains("title"))
    {
        return Kind::Title;
    }
    Kind::Turn
}
