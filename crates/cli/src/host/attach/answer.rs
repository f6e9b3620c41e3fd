//! What a typed line means to an open decision.
//!
//! The whole input of a call is shown before it is asked about. A permission is answered with yes, always or no and why;
//! a question with a number, several numbers, or words.

use estelle_claude::wire::Json;
use estelle_proto::ipc::{PermissionResponse, QuestionResponse};
use estelle_proto::{
    Answer, Choice, ClaudeEvent, ConversationId, DecisionKind, PermissionDecision, PylonToHost,
    Question, ToolUseId,
};

use crate::chat::piece::{Piece, Tone};
use crate::chat::view::tool;

/// A decision that waits for a person.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Open {
    pub(crate) call: ToolUseId,
    /// The hash of the input that is shown, which binds the answer to it; an older host says none.
    pub(crate) input_hash: Option<String>,
    pub(crate) matter: Matter,
}

/// What is to be decided.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Matter {
    Permission {
        kind: DecisionKind,
        tool: String,
        input: estelle_proto::Json,
        reason: Option<String>,
    },
    Questions {
        questions: Vec<Question>,
        answers: Vec<Choice>,
    },
}

/// What came of a line.
#[derive(Debug, PartialEq)]
pub(crate) enum Understood {
    /// Send this.
    Answer(Box<PylonToHost>),
    /// Another question of the same call follows.
    Next,
    /// Show this and ask again.
    Again(&'static str),
}

impl Open {
    /// The decision that an event asks for, if it asks for one.
    pub(crate) fn of(event: &ClaudeEvent) -> Option<Self> {
        if let ClaudeEvent::PermissionAsked(asked) = event {
            return Some(Self {
                call: asked.tool_use_id.clone(),
                input_hash: asked.input_hash.clone(),
                matter: Matter::Permission {
                    kind: asked.kind.clone().unwrap_or(DecisionKind::Permission),
                    tool: asked.tool_name.clone(),
                    input: asked.tool_input.clone(),
                    reason: asked.reason.clone(),
                },
            });
        }
        let ClaudeEvent::QuestionAsked(asked) = event else {
            return None;
        };
        Some(Self {
            call: asked.tool_use_id.clone(),
            input_hash: asked.input_hash.clone(),
            matter: Matter::Questions {
                questions: asked.questions.clone(),
                answers: Vec::new(),
            },
        })
    }

    /// All that is to be decided, for somebody who does not answer here.
    pub(crate) fn describe(&self) -> Vec<Piece> {
        match &self.matter {
            Matter::Permission {
                kind,
                tool,
                input,
                reason,
            } => permission(kind, tool, input, reason.as_deref()),
            Matter::Questions { questions, .. } => questions.iter().flat_map(question).collect(),
        }
    }

    pub(crate) fn prompt(&self) -> &'static str {
        match &self.matter {
            Matter::Permission { .. } => "Allow? y/a/n › ",
            Matter::Questions { .. } => "Answer › ",
        }
    }

    pub(crate) fn show(&self) -> Vec<Piece> {
        match &self.matter {
            Matter::Permission {
                kind,
                tool,
                input,
                reason,
            } => {
                let mut pieces = permission(kind, tool, input, reason.as_deref());
                pieces.extend(keys());
                pieces
            }
            Matter::Questions { questions, answers } => questions
                .get(answers.len())
                .map(question)
                .unwrap_or_default(),
        }
    }

    pub(crate) fn understand(&mut self, session: &ConversationId, line: &str) -> Understood {
        let line = line.trim();
        let (session, call) = (session.clone(), self.call.clone());
        let input_hash = self.input_hash.clone();
        match &mut self.matter {
            Matter::Permission { .. } => {
                let Some((decision, message)) = verdict(line) else {
                    return Understood::Again(
                        "Type y for yes, a for always in this conversation, or n (and why) for no.",
                    );
                };
                let response = PermissionResponse {
                    message,
                    input_hash,
                    ..PermissionResponse::new(session, call, decision)
                };
                Understood::Answer(Box::new(response.into()))
            }
            Matter::Questions { questions, answers } => {
                let Some(question) = questions.get(answers.len()) else {
                    return Understood::Again("There is nothing left to answer.");
                };
                let Some(choice) = choice(question, line) else {
                    return Understood::Again(
                        "Type the number of an option, or an answer of your own.",
                    );
                };
                answers.push(choice);
                if answers.len() < questions.len() {
                    return Understood::Next;
                }
                let answer = Answer::List(answers.clone());
                let response = QuestionResponse {
                    input_hash,
                    ..QuestionResponse::new(session, call, answer)
                };
                Understood::Answer(Box::new(response.into()))
            }
        }
    }
}

fn permission(
    kind: &DecisionKind,
    name: &str,
    input: &estelle_proto::Json,
    reason: Option<&str>,
) -> Vec<Piece> {
    let (asks, what) = match kind {
        DecisionKind::Plan => ("It asks to begin with this plan.", ""),
        DecisionKind::Trust => (
            "It asks to load the files of this folder that steer it.",
            "",
        ),
        DecisionKind::Elicitation | DecisionKind::Dialog => ("It wants to know something: ", name),
        DecisionKind::Permission | DecisionKind::Question | DecisionKind::Unknown(_) => {
            ("It asks to use ", name)
        }
    };
    let head = Piece::spans([(Tone::Ask, "? "), (Tone::Plain, asks), (Tone::Strong, what)]);
    let mut pieces = vec![Piece::Gap, head];
    pieces.extend(
        call(name, input, usize::MAX)
            .into_iter()
            .map(|line| line.indented("  │ ")),
    );
    pieces.extend(reason.map(|reason| Piece::line(Tone::Dim, format!("  Why it asks: {reason}"))));
    pieces
}

/// What can be typed.
fn keys() -> impl Iterator<Item = Piece> {
    [
        ("  y  ", "yes, this once"),
        (
            "  a  ",
            "yes, and this tool from now on in this conversation",
        ),
        ("  n  ", "no (n and why, for the model to read)"),
    ]
    .into_iter()
    .map(|(key, meaning)| Piece::spans([(Tone::Strong, key), (Tone::Plain, meaning)]))
}

/// The lines of a call; at most so many.
pub(crate) fn call(name: &str, input: &estelle_proto::Json, most: usize) -> Vec<Piece> {
    let input = Json::parse(input.get()).unwrap_or_else(|_| serde_json::Value::Null.into());
    let call = tool::call(name, &input);
    let mut lines = Vec::new();
    if !call.headline.is_empty() {
        lines.push(Piece::line(Tone::Strong, &call.headline));
    }
    lines.extend(call.body);
    let (mut lines, missing) = tool::cut(lines, most);
    if missing > 0 {
        lines.push(Piece::line(Tone::Dim, tool::more(missing)));
    }
    lines
}

fn question(question: &Question) -> Vec<Piece> {
    let mut pieces = vec![
        Piece::Gap,
        Piece::spans([(Tone::Ask, "? "), (Tone::Strong, &question.question)]),
    ];
    for (index, option) in question.options.iter().enumerate() {
        let number = format!("  {}  ", index + 1);
        let about = format!("  {}", option.description);
        pieces.push(Piece::spans([
            (Tone::Strong, &number),
            (Tone::Plain, &option.label),
            (Tone::Dim, &about),
        ]));
    }
    if question.multi_select {
        pieces.push(Piece::line(Tone::Dim, "  several numbers choose several"));
    }
    pieces
}

fn verdict(line: &str) -> Option<(PermissionDecision, Option<String>)> {
    let lower = line.to_ascii_lowercase();
    match lower.as_str() {
        "y" | "yes" => return Some((PermissionDecision::Allow, None)),
        "a" | "always" => return Some((PermissionDecision::AllowAll, None)),
        _ => {}
    }
    let end = lower
        .find(|c: char| !c.is_alphanumeric())
        .unwrap_or(lower.len());
    if !matches!(&lower[..end], "n" | "no") {
        return None;
    }
    // Lower-casing ASCII keeps every offset.
    let why = line[end..]
        .trim_start_matches([' ', ',', ':', '.', '-'])
        .trim();
    Some((
        PermissionDecision::Deny,
        (!why.is_empty()).then(|| why.to_owned()),
    ))
}

/// What a line answers to a question; nothing if that is unclear.
pub(crate) fn choice(question: &Question, line: &str) -> Option<Choice> {
    if line.is_empty() {
        return None;
    }
    let numbers = line.split([' ', ',']).filter(|word| !word.is_empty());
    let numbers: Result<Vec<usize>, _> = numbers.map(str::parse).collect();
    let Ok(numbers) = numbers else {
        return Some(Choice::One(line.to_owned()));
    };
    let label = |number: usize| {
        let option = question.options.get(number.checked_sub(1)?)?;
        Some(option.label.clone())
    };
    let labels: Option<Vec<String>> = numbers.into_iter().map(label).collect();
    match labels?.as_slice() {
        [one] => Some(Choice::One(one.clone())),
        several if question.multi_select => Some(Choice::Several(several.to_vec())),
        _ => None,
    }
}
