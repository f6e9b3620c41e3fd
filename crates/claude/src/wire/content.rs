//! Content of messages: text, thinking, tool calls and results, images, documents.
//!
//! The blocks are those of the Messages API as the CLI passes them on. Tool inputs stay raw JSON: their shape belongs to
//! the tool. A block of a kind this version does not know is `ContentBlock::Unknown`.

use serde::Serializer;

use super::cursor::Cursor;
use super::diagnostic::{Diagnostic, Diagnostics};
use super::json::Json;
use super::lenient::Wire;

/// The content of a message or of a tool result: plain text, or blocks.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// A plain string.
    Text(String),
    /// A list of blocks.
    Blocks(Vec<ContentBlock>),
}

impl Content {
    /// The text of it all: the string itself, or the text blocks joined.
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Blocks(blocks) => blocks.iter().filter_map(ContentBlock::as_text).collect(),
        }
    }

    /// The blocks; empty for plain text.
    pub fn blocks(&self) -> &[ContentBlock] {
        match self {
            Self::Text(_) => &[],
            Self::Blocks(blocks) => blocks,
        }
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<ContentBlock>> for Content {
    fn from(blocks: Vec<ContentBlock>) -> Self {
        Self::Blocks(blocks)
    }
}

impl Wire for Content {
    fn read(cursor: &mut Cursor<'_>, diagnostics: &mut Diagnostics) -> Result<Self, Diagnostic> {
        if cursor.peek() == b'"' {
            return String::read(cursor, diagnostics).map(Self::Text);
        }
        Vec::read(cursor, diagnostics).map(Self::Blocks)
    }

    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => text.write(serializer),
            Self::Blocks(blocks) => blocks.write(serializer),
        }
    }
}

impl serde::Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.write(serializer)
    }
}

wire_union! {
    /// One block of content.
    pub enum ContentBlock by "type" {
        "text" => Text(TextBlock),
        "thinking" => Thinking(ThinkingBlock),
        "redacted_thinking" => RedactedThinking(RedactedThinkingBlock),
        "tool_use" => ToolUse(ToolUseBlock),
        "tool_result" => ToolResult(ToolResultBlock),
        "server_tool_use" => ServerToolUse(ServerToolUseBlock),
        "web_search_tool_result" => WebSearchToolResult(WebSearchToolResultBlock),
        "web_fetch_tool_result" => WebFetchToolResult(WebFetchToolResultBlock),
        "code_execution_tool_result" => CodeExecutionToolResult(CodeExecutionToolResultBlock),
        "bash_code_execution_tool_result" =>
            BashCodeExecutionToolResult(BashCodeExecutionToolResultBlock),
        "text_editor_code_execution_tool_result" =>
            TextEditorCodeExecutionToolResult(TextEditorCodeExecutionToolResultBlock),
        "tool_search_tool_result" => ToolSearchToolResult(ToolSearchToolResultBlock),
        "tool_reference" => ToolReference(ToolReferenceBlock),
        "mcp_tool_use" => McpToolUse(McpToolUseBlock),
        "mcp_tool_result" => McpToolResult(McpToolResultBlock),
        "container_upload" => ContainerUpload(ContainerUploadBlock),
        "search_result" => SearchResult(SearchResultBlock),
        "image" => Image(ImageBlock),
        "document" => Document(DocumentBlock),
    }
}

impl ContentBlock {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextBlock::new(text))
    }

    /// An image block from base64 data.
    pub fn image_base64(media_type: impl Into<String>, data: impl Into<String>) -> Self {
        Self::Image(ImageBlock::new(Base64Source::new(media_type, data)))
    }

    /// The text, if this is a text block.
    pub fn as_text(&self) -> Option<&str> {
        if let Self::Text(block) = self {
            Some(&block.text)
        } else {
            None
        }
    }

    /// The tool call, if this is one.
    pub const fn as_tool_use(&self) -> Option<&ToolUseBlock> {
        if let Self::ToolUse(block) = self {
            Some(block)
        } else {
            None
        }
    }

    /// The tool result, if this is one.
    pub const fn as_tool_result(&self) -> Option<&ToolResultBlock> {
        if let Self::ToolResult(block) = self {
            Some(block)
        } else {
            None
        }
    }
}

wire_struct! {
    /// Text written by the model or the user.
    pub struct TextBlock("type" = "text") {
        required { text: String }
        optional { citations: Vec<Json>, cache_control: Json }
    }
}

wire_struct! {
    /// The model's thinking, with the signature that proves it.
    pub struct ThinkingBlock("type" = "thinking") {
        required { thinking: String }
        optional { signature: String }
    }
}

wire_struct! {
    /// Thinking that is only passed on in encrypted form.
    pub struct RedactedThinkingBlock("type" = "redacted_thinking") {
        required { data: String }
    }
}

wire_struct! {
    /// A tool call by the model.
    pub struct ToolUseBlock("type" = "tool_use") {
        required { id: String, name: String, input: Json }
        optional { caller: Json, cache_control: Json }
    }
}

wire_struct! {
    /// What a tool call gave.
    pub struct ToolResultBlock("type" = "tool_result") {
        required { tool_use_id: String }
        optional { content: Content, is_error: bool, cache_control: Json }
    }
}

wire_struct! {
    /// A call of a tool that runs on the API's side.
    pub struct ServerToolUseBlock("type" = "server_tool_use") {
        required { id: String, name: String, input: Json }
        optional { caller: Json }
    }
}

wire_struct! {
    /// Results of a web search run by the API.
    pub struct WebSearchToolResultBlock("type" = "web_search_tool_result") {
        required { tool_use_id: String, content: Json }
        optional { caller: Json }
    }
}

wire_struct! {
    /// A page fetched by the API.
    pub struct WebFetchToolResultBlock("type" = "web_fetch_tool_result") {
        required { tool_use_id: String, content: Json }
        optional { caller: Json }
    }
}

wire_struct! {
    /// The outcome of code run by the API.
    pub struct CodeExecutionToolResultBlock("type" = "code_execution_tool_result") {
        required { tool_use_id: String, content: Json }
    }
}

wire_struct! {
    /// The outcome of a shell command run by the API.
    pub struct BashCodeExecutionToolResultBlock("type" = "bash_code_execution_tool_result") {
        required { tool_use_id: String, content: Json }
    }
}

wire_struct! {
    /// The outcome of an edit made by the API's text editor.
    pub struct TextEditorCodeExecutionToolResultBlock("type" = "text_editor_code_execution_tool_result") {
        required { tool_use_id: String, content: Json }
    }
}

wire_struct! {
    /// Tools found by the API's tool search.
    pub struct ToolSearchToolResultBlock("type" = "tool_search_tool_result") {
        required { tool_use_id: String, content: Json }
    }
}

wire_struct! {
    /// The name of a tool that a search found.
    pub struct ToolReferenceBlock("type" = "tool_reference") {
        required { tool_name: String }
        optional { cache_control: Json }
    }
}

wire_struct! {
    /// A call of an MCP tool that the API makes itself.
    pub struct McpToolUseBlock("type" = "mcp_tool_use") {
        required { id: String, name: String, input: Json }
        optional { server_name: String }
    }
}

wire_struct! {
    /// What an MCP tool called by the API gave.
    pub struct McpToolResultBlock("type" = "mcp_tool_result") {
        required { tool_use_id: String }
        optional { content: Content, is_error: bool }
    }
}

wire_struct! {
    /// A file put into the API's container.
    pub struct ContainerUploadBlock("type" = "container_upload") {
        required { file_id: String }
        optional { cache_control: Json }
    }
}

wire_struct! {
    /// A search result offered to the model as a source.
    pub struct SearchResultBlock("type" = "search_result") {
        required { source: String, title: String, content: Json }
        optional { citations: Json, cache_control: Json }
    }
}

wire_struct! {
    /// An image.
    pub struct ImageBlock("type" = "image") {
        required { source: Source }
        optional { cache_control: Json }
    }
}

wire_struct! {
    /// A document.
    pub struct DocumentBlock("type" = "document") {
        required { source: Source }
        optional { title: String, context: String, citations: Json, cache_control: Json }
    }
}

wire_union! {
    /// Where the bytes of an image or document are.
    pub enum Source by "type" {
        "base64" => Base64(Base64Source),
        "url" => Url(UrlSource),
        "file" => File(FileSource),
        "text" => Text(TextSource),
        "content" => Content(ContentSource),
    }
}

wire_struct! {
    /// Bytes in the message itself.
    pub struct Base64Source("type" = "base64") {
        required { media_type: String, data: String }
    }
}

wire_struct! {
    /// Bytes at an address.
    pub struct UrlSource("type" = "url") {
        required { url: String }
    }
}

wire_struct! {
    /// Bytes uploaded before.
    pub struct FileSource("type" = "file") {
        required { file_id: String }
    }
}

wire_struct! {
    /// Plain text in the message itself.
    pub struct TextSource("type" = "text") {
        required { data: String }
        optional { media_type: String }
    }
}

wire_struct! {
    /// A document made of blocks.
    pub struct ContentSource("type" = "content") {
        required { content: Content }
    }
}
