//! `Message`: one line of the stream, typed, with the line itself beside it.
//!
//! Parsing cannot fail: what is not JSON becomes `Body::Malformed`, what this version does not know or cannot read
//! becomes `Unknown`, and every oddity is listed in `diagnostics`. The raw line is always there, unchanged.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::assistant::AssistantMessage;
use super::control::{ControlCancelRequest, ControlRequest, ControlResponse};
use super::cursor::Cursor;
use super::diagnostic::{Diagnostic, Diagnostics};
use super::event::{
    ActiveGoal, AuthStatus, CommandLifecycle, ConversationReset, KeepAlive, PromptSuggestion,
    RateLimitEvent, ToolProgress, ToolUseSummary, UpdateEnvironmentVariables,
};
use super::extra::Unknown;
use super::lenient::{Wire, member};
use super::result::{ResultErrorKind, ResultMessage};
use super::stream::StreamEventMessage;
use super::system::SystemMessage;
use super::user::UserMessage;
use crate::framing::Damage;
use crate::line::Line;

/// One line of the stream.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// What the line says.
    pub body: Body,
    /// The line as it came.
    pub line: Line,
    /// Parts of the line that could not be read as their type.
    pub diagnostics: Vec<Diagnostic>,
}

/// What a line says, by its `type`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Body {
    /// A finished block of the model's answer.
    Assistant(Box<AssistantMessage>),
    /// A message of the user, or a tool's result.
    User(Box<UserMessage>),
    /// The CLI's echo of a user message (`--replay-user-messages`).
    UserReplay(Box<UserMessage>),
    /// The end of a turn.
    Result(ResultMessage),
    /// The CLI speaks about itself.
    System(SystemMessage),
    /// A piece of the answer while it is being written.
    StreamEvent(Box<StreamEventMessage>),
    /// A tool is still running.
    ToolProgress(Box<ToolProgress>),
    /// Progress of a sign-in.
    AuthStatus(Box<AuthStatus>),
    /// A short account of several tool calls.
    ToolUseSummary(Box<ToolUseSummary>),
    /// A plan limit changed or was hit.
    RateLimitEvent(Box<RateLimitEvent>),
    /// A prompt the user may want next.
    PromptSuggestion(Box<PromptSuggestion>),
    /// The conversation starts afresh under another id.
    ConversationReset(Box<ConversationReset>),
    /// The goal the session works towards changed.
    ActiveGoal(Box<ActiveGoal>),
    /// What became of a user message.
    CommandLifecycle(Box<CommandLifecycle>),
    /// A request to the other side.
    ControlRequest(Box<ControlRequest>),
    /// An answer to a request.
    ControlResponse(Box<ControlResponse>),
    /// A request is withdrawn.
    ControlCancelRequest(ControlCancelRequest),
    /// The peer is there.
    KeepAlive(KeepAlive),
    /// Variables for the environment of the running CLI (host to CLI).
    UpdateEnvironmentVariables(UpdateEnvironmentVariables),
    /// A JSON object of a type this version does not know, or that lacks what its type requires.
    Unknown(Unknown),
    /// Not a JSON object at all.
    Malformed(Malformed),
}

/// Why a line is no message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Malformed {
    /// There is nothing but white space.
    Blank,
    /// The text is not JSON.
    NotJson,
    /// The text is JSON, but not an object.
    NotAnObject,
    /// It is not even a line of text.
    Damaged(Damage),
}

impl Malformed {
    /// A word for it: `blank`, `not-json`, `not-an-object`, `invalid-utf8`, `too-long`, `half-line`.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Blank => "blank",
            Self::NotJson => "not-json",
            Self::NotAnObject => "not-an-object",
            Self::Damaged(Damage::InvalidUtf8 { .. }) => "invalid-utf8",
            Self::Damaged(Damage::TooLong { .. }) => "too-long",
            Self::Damaged(Damage::HalfLine { .. }) => "half-line",
        }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Message {
    /// Reads a line. Never fails: see the module documentation.
    pub fn parse(line: Line) -> Self {
        let mut diagnostics = Diagnostics::default();
        let body = Body::parse(line.as_str(), &mut diagnostics);
        Self {
            body,
            line,
            diagnostics: diagnostics.into_vec(),
        }
    }

    /// A part of the stream that is no line of text; its raw line is empty.
    pub fn damaged(damage: Damage) -> Self {
        Self {
            body: Body::Malformed(Malformed::Damaged(damage)),
            line: Line::default(),
            diagnostics: Vec::new(),
        }
    }

    /// The line as it came.
    pub fn raw(&self) -> &str {
        self.line.as_str()
    }

    /// What kind of line it is.
    pub fn kind(&self) -> Kind<'_> {
        self.body.kind()
    }

    /// The session the line belongs to.
    pub fn session_id(&self) -> Option<&str> {
        self.top_string("session_id")
    }

    /// The line's own id.
    pub fn uuid(&self) -> Option<&str> {
        self.top_string("uuid")
    }

    /// The tool call that started the subagent this line belongs to; none for the main conversation.
    pub fn parent_tool_use_id(&self) -> Option<&str> {
        self.top_string("parent_tool_use_id")
    }

    /// Ids have no escapes, so they can be lent from the line whatever the body is.
    fn top_string(&self, name: &str) -> Option<&str> {
        if matches!(self.body, Body::Malformed(_)) {
            return None;
        }
        match Cursor::new(self.line.as_str()).tag(name)? {
            std::borrow::Cow::Borrowed(text) => Some(text),
            std::borrow::Cow::Owned(_) => None,
        }
    }
}

impl Body {
    fn parse(text: &str, diagnostics: &mut Diagnostics) -> Self {
        let mut cursor = Cursor::new(text);
        if cursor.peek() == b'{' {
            let kind = cursor.tag("type").unwrap_or_default();
            let read = Self::read(&kind, &mut cursor, diagnostics).unwrap_or_else(Self::Unknown);
            // A walk without a hitch has proved the line to be JSON.
            if (diagnostics.mark() == 0 && cursor.ended()) || is_json(text) {
                return read;
            }
            diagnostics.forget(0);
        }
        Self::Malformed(if is_json(text) {
            Malformed::NotAnObject
        } else if text.bytes().all(|byte| byte.is_ascii_whitespace()) {
            Malformed::Blank
        } else {
            Malformed::NotJson
        })
    }

    fn read(kind: &str, cursor: &mut Cursor<'_>, found: &mut Diagnostics) -> Result<Self, Unknown> {
        Ok(match kind {
            "stream_event" => Self::StreamEvent(one(kind, cursor, found)?),
            "assistant" => Self::Assistant(one(kind, cursor, found)?),
            "user" => {
                let user: Box<UserMessage> = one(kind, cursor, found)?;
                if user.is_replay == Some(true) {
                    Self::UserReplay(user)
                } else {
                    Self::User(user)
                }
            }
            "system" => Self::System(one(kind, cursor, found)?),
            "result" if cursor.tag("subtype").as_deref() == Some("success") => {
                Self::Result(ResultMessage::Success(one(kind, cursor, found)?))
            }
            "result" => Self::Result(ResultMessage::Error(one(kind, cursor, found)?)),
            "control_request" => Self::ControlRequest(one(kind, cursor, found)?),
            "control_response" => Self::ControlResponse(one(kind, cursor, found)?),
            "control_cancel_request" => Self::ControlCancelRequest(one(kind, cursor, found)?),
            "command_lifecycle" => Self::CommandLifecycle(one(kind, cursor, found)?),
            "tool_progress" => Self::ToolProgress(one(kind, cursor, found)?),
            "auth_status" => Self::AuthStatus(one(kind, cursor, found)?),
            "tool_use_summary" => Self::ToolUseSummary(one(kind, cursor, found)?),
            "rate_limit_event" => Self::RateLimitEvent(one(kind, cursor, found)?),
            "prompt_suggestion" => Self::PromptSuggestion(one(kind, cursor, found)?),
            "conversation_reset" => Self::ConversationReset(one(kind, cursor, found)?),
            "active_goal" => Self::ActiveGoal(one(kind, cursor, found)?),
            "keep_alive" => Self::KeepAlive(one(kind, cursor, found)?),
            "update_environment_variables" => {
                Self::UpdateEnvironmentVariables(one(kind, cursor, found)?)
            }
            _ => return Err(Unknown::rest(cursor, kind)),
        })
    }

    /// What kind of line it is.
    pub fn kind(&self) -> Kind<'_> {
        match self {
            Self::Assistant(_) => Kind::plain("Assistant"),
            Self::User(_) => Kind::plain("User"),
            Self::UserReplay(_) => Kind::plain("UserReplay"),
            Self::Result(ResultMessage::Success(_)) => Kind::plain("ResultSuccess"),
            Self::Result(ResultMessage::Error(result)) => Kind::member(
                "ResultError",
                "result",
                result.subtype.as_str(),
                matches!(result.subtype, ResultErrorKind::Unknown(_)),
            ),
            Self::System(SystemMessage::Unknown(unknown)) => Kind::unknown("system", &unknown.kind),
            Self::System(system) => Kind::plain(system.name()),
            Self::StreamEvent(event) => Kind::member(
                "StreamEvent",
                "stream_event",
                event.event.tag(),
                event.event.is_unknown(),
            ),
            Self::ToolProgress(_) => Kind::plain("ToolProgress"),
            Self::AuthStatus(_) => Kind::plain("AuthStatus"),
            Self::ToolUseSummary(_) => Kind::plain("ToolUseSummary"),
            Self::RateLimitEvent(_) => Kind::plain("RateLimitEvent"),
            Self::PromptSuggestion(_) => Kind::plain("PromptSuggestion"),
            Self::ConversationReset(_) => Kind::plain("ConversationReset"),
            Self::ActiveGoal(_) => Kind::plain("ActiveGoal"),
            Self::CommandLifecycle(_) => Kind::plain("CommandLifecycle"),
            Self::ControlRequest(control) => Kind::member(
                "ControlRequest",
                "control_request",
                control.request.tag(),
                control.request.is_unknown(),
            ),
            Self::ControlResponse(control) => Kind::member(
                "ControlResponse",
                "control_response",
                control.response.tag(),
                control.response.is_unknown(),
            ),
            Self::ControlCancelRequest(_) => Kind::plain("ControlCancelRequest"),
            Self::KeepAlive(_) => Kind::plain("KeepAlive"),
            Self::UpdateEnvironmentVariables(_) => Kind::plain("UpdateEnvironmentVariables"),
            Self::Unknown(unknown) => Kind::unknown(&unknown.kind, unknown.subtype()),
            Self::Malformed(malformed) => Kind::unknown(malformed.as_str(), ""),
        }
    }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<&RawValue>(text).is_ok()
}

/// Reads the line as one type; if it cannot be, it is kept raw.
fn one<T: Wire>(
    kind: &str,
    cursor: &mut Cursor<'_>,
    found: &mut Diagnostics,
) -> Result<T, Unknown> {
    member(cursor, kind, found)
}

impl Serialize for Body {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Assistant(body) => body.write(serializer),
            Self::User(body) | Self::UserReplay(body) => body.write(serializer),
            Self::Result(ResultMessage::Success(body)) => body.write(serializer),
            Self::Result(ResultMessage::Error(body)) => body.write(serializer),
            Self::System(body) => body.write(serializer),
            Self::StreamEvent(body) => body.write(serializer),
            Self::ToolProgress(body) => body.write(serializer),
            Self::AuthStatus(body) => body.write(serializer),
            Self::ToolUseSummary(body) => body.write(serializer),
            Self::RateLimitEvent(body) => body.write(serializer),
            Self::PromptSuggestion(body) => body.write(serializer),
            Self::ConversationReset(body) => body.write(serializer),
            Self::ActiveGoal(body) => body.write(serializer),
            Self::CommandLifecycle(body) => body.write(serializer),
            Self::ControlRequest(body) => body.write(serializer),
            Self::ControlResponse(body) => body.write(serializer),
            Self::ControlCancelRequest(body) => body.write(serializer),
            Self::KeepAlive(body) => body.write(serializer),
            Self::UpdateEnvironmentVariables(body) => body.write(serializer),
            Self::Unknown(unknown) => unknown.raw.serialize(serializer),
            Self::Malformed(malformed) => Err(serde::ser::Error::custom(malformed)),
        }
    }
}

/// The kind of a line, for people: `Assistant`, `SystemInit`, `ControlRequest/can_use_tool`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind<'a> {
    name: &'a str,
    detail: &'a str,
    known: bool,
}

impl<'a> Kind<'a> {
    const fn plain(name: &'a str) -> Self {
        Self {
            name,
            detail: "",
            known: true,
        }
    }

    const fn typed(name: &'a str, detail: &'a str) -> Self {
        Self {
            name,
            detail,
            known: true,
        }
    }

    const fn unknown(name: &'a str, detail: &'a str) -> Self {
        Self {
            name,
            detail,
            known: false,
        }
    }

    /// A member of a union: under its type's name when known, under its wire name when not.
    const fn member(name: &'a str, wire: &'a str, tag: &'a str, unknown: bool) -> Self {
        if unknown {
            Self::unknown(wire, tag)
        } else {
            Self::typed(name, tag)
        }
    }

    /// Whether this version can read such a line.
    pub const fn is_known(&self) -> bool {
        self.known
    }
}

impl fmt::Display for Kind<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        if self.detail.is_empty() {
            Ok(())
        } else {
            write!(f, "/{}", self.detail)
        }
    }
}
