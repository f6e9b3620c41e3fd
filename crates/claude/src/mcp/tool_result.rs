//! What a tool gives back: content for the model, or an error it can read.
//!
//! The JSON is MCP's `CallToolResult`. Content kinds without a constructor here go through [`ToolContent::raw`].

use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value, json};

/// The outcome of a tool call as the model sees it.
///
/// ```
/// use estelle_claude::mcp::{ToolContent, ToolResult};
///
/// let result = ToolResult::text("two images").with(ToolContent::image(b"png bytes", "image/png"));
/// assert!(!result.is_error);
/// assert_eq!(result.content.len(), 2);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolResult {
    /// What the model reads, in order.
    pub content: Vec<ToolContent>,
    /// The same as data, for programs. Must be an object by MCP's rules.
    pub structured: Option<Map<String, Value>>,
    /// Whether the call failed.
    pub is_error: bool,
    /// MCP's `_meta`: data for the client, not for the model.
    pub meta: Map<String, Value>,
}

/// One piece of a result.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolContent(Value);

impl ToolContent {
    /// Plain text.
    pub fn text(text: impl Into<String>) -> Self {
        Self(json!({"type": "text", "text": text.into()}))
    }

    /// An image, as the bytes of its file.
    pub fn image(bytes: impl AsRef<[u8]>, mime_type: &str) -> Self {
        Self(json!({"type": "image", "data": base64(bytes.as_ref()), "mimeType": mime_type}))
    }

    /// An audio clip, as the bytes of its file.
    pub fn audio(bytes: impl AsRef<[u8]>, mime_type: &str) -> Self {
        Self(json!({"type": "audio", "data": base64(bytes.as_ref()), "mimeType": mime_type}))
    }

    /// A link to something the model may fetch.
    pub fn resource_link(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self(json!({"type": "resource_link", "uri": uri.into(), "name": name.into()}))
    }

    /// A text resource, whole.
    pub fn text_resource(uri: impl Into<String>, mime_type: &str, text: impl Into<String>) -> Self {
        let resource = json!({"uri": uri.into(), "mimeType": mime_type, "text": text.into()});
        Self(json!({"type": "resource", "resource": resource}))
    }

    /// A content block of any kind, in MCP's JSON.
    pub fn raw(block: Value) -> Self {
        Self(block)
    }

    /// The block in MCP's JSON.
    pub fn as_value(&self) -> &Value {
        &self.0
    }
}

impl ToolResult {
    /// A result of one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::default().with(ToolContent::text(text))
    }

    /// A result of one image, as the bytes of its file.
    pub fn image(bytes: impl AsRef<[u8]>, mime_type: &str) -> Self {
        Self::default().with(ToolContent::image(bytes, mime_type))
    }

    /// A result of one text that is `value` in JSON.
    pub fn json(value: &impl Serialize) -> Result<Self, ToolError> {
        Ok(Self::text(serde_json::to_string(value)?))
    }

    /// The same value as text for the model and as structured content for programs. Only values that are objects in
    /// JSON have a structured form.
    pub fn structured(value: &impl Serialize) -> Result<Self, ToolError> {
        let Value::Object(map) = serde_json::to_value(value)? else {
            return Err(ToolError::new("structured content must be a JSON object"));
        };
        let text = Value::Object(map.clone()).to_string();
        Ok(Self {
            structured: Some(map),
            ..Self::text(text)
        })
    }

    /// A failed call, with what went wrong in words the model can act on.
    pub fn error(message: impl Into<String>) -> Self {
        Self {
            is_error: true,
            ..Self::text(message)
        }
    }

    /// Adds a piece of content.
    #[must_use]
    pub fn with(mut self, content: ToolContent) -> Self {
        self.content.push(content);
        self
    }

    /// Adds a field to `_meta`.
    #[must_use]
    pub fn with_meta(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.meta.insert(key.into(), value.into());
        self
    }

    pub(super) fn into_value(self) -> Value {
        let content = self.content.into_iter().map(|block| block.0).collect();
        let mut map = Map::from_iter([("content".to_owned(), Value::Array(content))]);
        if let Some(structured) = self.structured {
            map.insert("structuredContent".into(), Value::Object(structured));
        }
        if self.is_error {
            map.insert("isError".into(), true.into());
        }
        if !self.meta.is_empty() {
            map.insert("_meta".into(), Value::Object(self.meta));
        }
        Value::Object(map)
    }
}

impl From<String> for ToolResult {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<&str> for ToolResult {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

/// Why a tool failed. The model reads it; the session goes on.
///
/// Any error converts into it with `?`, its causes included. For that reason it is not an error type itself.
#[derive(Clone, PartialEq, Eq)]
pub struct ToolError(String);

impl ToolError {
    /// An error with `message` for the model.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// What the model reads.
    pub fn message(&self) -> &str {
        &self.0
    }
}

impl<E: std::error::Error> From<E> for ToolError {
    fn from(error: E) -> Self {
        let mut message = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            message.push_str(": ");
            message.push_str(&error.to_string());
            cause = error.source();
        }
        Self(message)
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ToolError").field(&self.0).finish()
    }
}

/// Base 64 with padding (RFC 4648, section 4).
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let [a, b, c] = [0, 1, 2].map(|i| u32::from(chunk.get(i).copied().unwrap_or(0)));
        let word = (a << 16) | (b << 8) | c;
        for position in 0..4 {
            let index = (word >> (18 - 6 * position)) & 63;
            let letter = char::from(ALPHABET[index as usize]);
            out.push(if position <= chunk.len() { letter } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_matches_the_rfc() {
        for (text, encoded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(text.as_bytes()), encoded);
        }
        assert_eq!(base64(&[0xfb, 0xff, 0xfe]), "+//+");
    }

    #[test]
    fn results_have_the_shape_mcp_asks_for() {
        assert_eq!(
            ToolResult::from("a").into_value(),
            json!({"content": [{"type": "text", "text": "a"}]})
        );
        assert_eq!(
            ToolResult::error("no").into_value(),
            json!({"content": [{"type": "text", "text": "no"}], "isError": true})
        );
        assert_eq!(
            ToolResult::image(b"f", "image/png")
                .with_meta("k", 1)
                .into_value(),
            json!({"content": [{"type": "image", "data": "Zg==", "mimeType": "image/png"}], "_meta": {"k": 1}})
        );
        assert_eq!(
            ToolResult::structured(&json!({"n": 1}))
                .expect("an object")
                .into_value(),
            json!({"content": [{"type": "text", "text": "{\"n\":1}"}], "structuredContent": {"n": 1}})
        );
        assert_eq!(
            ToolResult::structured(&[1]),
            Err(ToolError::new("structured content must be a JSON object"))
        );
    }

    #[test]
    fn an_error_tells_its_causes() {
        #[derive(Debug, thiserror::Error)]
        #[error("failed to look up the weather")]
        struct Outer(#[source] std::io::Error);

        let error = ToolError::from(Outer(std::io::Error::other("no route")));
        assert_eq!(error.message(), "failed to look up the weather: no route");
    }
}
