//! `stream_event` lines: the answer while it is being written (`--include-partial-messages`).
//!
//! The events are those of the Messages API's stream, one per line. They are by far the most frequent lines.

use super::assistant::{ApiMessage, StopReason};
use super::content::ContentBlock;
use super::json::Json;
use super::usage::Usage;

wire_struct! {
    /// One event of the stream of the current message.
    pub struct StreamEventMessage("type" = "stream_event") {
        required { event: StreamEvent }
        optional {
            /// The call that started the subagent which writes; none for the main conversation.
            parent_tool_use_id: String,
            session_id: String,
            uuid: String,
            api_message_id: String,
            /// Milliseconds from the request to the first token; on the first event.
            ttft_ms: f64,
            thinking_display: String,
            user_message_uuid: String,
            user_message_uuids: Vec<String>,
            resume_reason: String,
            owed_rows: Vec<Json>,
        }
    }
}

wire_union! {
    /// An event of the Messages API's stream.
    pub enum StreamEvent by "type" {
        "message_start" => MessageStart(Box<MessageStart>),
        "content_block_start" => ContentBlockStart(Box<ContentBlockStart>),
        "content_block_delta" => ContentBlockDelta(ContentBlockDelta),
        "content_block_stop" => ContentBlockStop(ContentBlockStop),
        "message_delta" => MessageDelta(Box<MessageDelta>),
        "message_stop" => MessageStop(MessageStop),
        "ping" => Ping(Ping),
        "error" => Error(StreamError),
    }
}

wire_struct! {
    /// A message begins; its content is still empty.
    pub struct MessageStart("type" = "message_start") {
        required { message: ApiMessage }
    }
}

wire_struct! {
    /// A content block begins.
    pub struct ContentBlockStart("type" = "content_block_start") {
        required { index: u64, content_block: ContentBlock }
    }
}

wire_struct! {
    /// A content block grows.
    pub struct ContentBlockDelta("type" = "content_block_delta") {
        required { index: u64, delta: Delta }
    }
}

wire_struct! {
    /// A content block is complete.
    pub struct ContentBlockStop("type" = "content_block_stop") {
        required { index: u64 }
    }
}

wire_struct! {
    /// The message is complete but for its end: why it stopped and what it used.
    pub struct MessageDelta("type" = "message_delta") {
        required { delta: MessageChange }
        optional { usage: Usage, context_management: Json }
    }
}

wire_struct! {
    /// What changed about the message as a whole.
    pub struct MessageChange {
        optional {
            stop_reason: StopReason,
            stop_sequence: String,
            stop_details: Json,
            container: Json,
        }
    }
}

wire_struct! {
    /// The message is complete.
    pub struct MessageStop("type" = "message_stop") {}
}

wire_struct! {
    /// The connection lives.
    pub struct Ping("type" = "ping") {}
}

wire_struct! {
    /// The API reported an error in mid-stream.
    pub struct StreamError("type" = "error") {
        optional { error: Json }
    }
}

wire_union! {
    /// What is added to a content block.
    pub enum Delta by "type" {
        "text_delta" => Text(TextDelta),
        "input_json_delta" => InputJson(InputJsonDelta),
        "thinking_delta" => Thinking(ThinkingDelta),
        "signature_delta" => Signature(SignatureDelta),
        "citations_delta" => Citations(CitationsDelta),
        "compaction_delta" => Compaction(CompactionDelta),
    }
}

wire_struct! {
    /// More text.
    pub struct TextDelta("type" = "text_delta") {
        required { text: String }
    }
}

wire_struct! {
    /// More of a tool's input, as a piece of JSON text.
    pub struct InputJsonDelta("type" = "input_json_delta") {
        required { partial_json: String }
    }
}

wire_struct! {
    /// More thinking.
    pub struct ThinkingDelta("type" = "thinking_delta") {
        required { thinking: String }
        optional { estimated_tokens: u64 }
    }
}

wire_struct! {
    /// The signature of the thinking.
    pub struct SignatureDelta("type" = "signature_delta") {
        required { signature: String }
    }
}

wire_struct! {
    /// A citation for the text.
    pub struct CitationsDelta("type" = "citations_delta") {
        required { citation: Json }
    }
}

wire_struct! {
    /// More of a compaction summary.
    pub struct CompactionDelta("type" = "compaction_delta") {
        optional { content: String, encrypted_content: String }
    }
}

impl StreamEventMessage {
    /// The text this event adds, if it adds text.
    pub fn text_delta(&self) -> Option<&str> {
        if let StreamEvent::ContentBlockDelta(event) = &self.event
            && let Delta::Text(delta) = &event.delta
        {
            return Some(&delta.text);
        }
        None
    }

    /// The thinking this event adds, if it adds thinking.
    pub fn thinking_delta(&self) -> Option<&str> {
        if let StreamEvent::ContentBlockDelta(event) = &self.event
            && let Delta::Thinking(delta) = &event.delta
        {
            return Some(&delta.thinking);
        }
        None
    }
}
