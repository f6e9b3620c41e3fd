//! What tools gave back: text as it is, a mark for everything that is no text, and the pictures that an app can show.

use data_encoding::BASE64;
use estelle_claude::wire::content::Source;
use estelle_claude::wire::{Content, ContentBlock, Json};
use estelle_proto::ToolImage;
use estelle_proto::limits::{MAX_TOOL_IMAGES, MAX_TOOL_IMAGES_BYTES};

/// What every browser draws and nothing of which is executed; SVG is not among them for that reason.
const DRAWN: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// What a tool gave.
#[derive(Debug, Default)]
pub(super) struct Given {
    /// In words.
    pub(super) words: String,
    /// The pictures that are kept, each with its bytes in Base64.
    pub(super) images: Vec<(ToolImage, String)>,
}

impl Given {
    pub(super) fn by(content: &Content) -> Self {
        Self {
            words: words(content),
            images: images(content),
        }
    }

    pub(super) fn in_words(words: String) -> Self {
        Self {
            words,
            images: Vec::new(),
        }
    }
}

/// The pictures that are kept: the first ones, as long as there is room. All of them are named in the words.
fn images(content: &Content) -> Vec<(ToolImage, String)> {
    let mut kept = Vec::new();
    let mut room = MAX_TOOL_IMAGES_BYTES;
    for block in content.blocks() {
        let ContentBlock::Image(image) = block else {
            continue;
        };
        let Source::Base64(bytes) = &image.source else {
            continue;
        };
        let is_drawn = DRAWN.contains(&bytes.media_type.as_str());
        if !is_drawn || bytes.data.len() > room || kept.len() == MAX_TOOL_IMAGES {
            continue;
        }
        // What cannot be decoded would be a broken picture at every app.
        let Ok(decoded) = BASE64.decode(bytes.data.as_bytes()) else {
            continue;
        };
        room -= bytes.data.len();
        let size = u64::try_from(decoded.len()).unwrap_or(u64::MAX);
        let picture = ToolImage::new(bytes.media_type.clone(), size);
        kept.push((picture, bytes.data.clone()));
    }
    kept
}

/// The output of a tool in words. An image is only named in them.
fn words(content: &Content) -> String {
    let mut words = String::new();
    for block in content.blocks() {
        if let Some(text) = block.as_text() {
            words.push_str(text);
            continue;
        }
        if !words.is_empty() && !words.ends_with('\n') {
            words.push('\n');
        }
        words.push_str(&mark(block));
        words.push('\n');
    }
    match content {
        Content::Text(text) => text.clone(),
        Content::Blocks(_) => words,
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the vendor's list is open, and what it has more of is named alike"
)]
fn mark(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Image(image) => format!("[image: {}]", of(&image.source)),
        ContentBlock::Document(document) => {
            let title = document.title.as_deref().unwrap_or("untitled");
            format!("[document {title}: {}]", of(&document.source))
        }
        ContentBlock::ToolReference(tool) => format!("[tool {}]", tool.tool_name),
        ContentBlock::SearchResult(found) => format!("[{}: {}]", found.title, found.source),
        _ => "[something that is no text]".to_owned(),
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the vendor's list is open")]
fn of(source: &Source) -> String {
    match source {
        Source::Base64(bytes) => {
            // Four characters stand for three bytes.
            let length = bytes.data.len() / 4 * 3;
            format!("{}, {} KiB", bytes.media_type, length.div_ceil(1024))
        }
        Source::Url(place) => place.url.clone(),
        Source::File(file) => format!("file {}", file.file_id),
        _ => "in the message".to_owned(),
    }
}

/// A call that the API carried out itself and that came back within the message.
pub(super) struct Served<'a> {
    pub(super) id: &'a str,
    pub(super) failed: bool,
    pub(super) output: Given,
}

/// The outcome of a call on the API's side, if the block is one.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "all other blocks are no outcome"
)]
pub(super) fn served(block: &ContentBlock) -> Option<Served<'_>> {
    let (id, content) = match block {
        ContentBlock::WebSearchToolResult(one) => (&one.tool_use_id, &one.content),
        ContentBlock::WebFetchToolResult(one) => (&one.tool_use_id, &one.content),
        ContentBlock::CodeExecutionToolResult(one) => (&one.tool_use_id, &one.content),
        ContentBlock::BashCodeExecutionToolResult(one) => (&one.tool_use_id, &one.content),
        ContentBlock::TextEditorCodeExecutionToolResult(one) => (&one.tool_use_id, &one.content),
        ContentBlock::ToolSearchToolResult(one) => (&one.tool_use_id, &one.content),
        ContentBlock::McpToolResult(one) => {
            return Some(Served {
                id: &one.tool_use_id,
                failed: one.is_error.unwrap_or_default(),
                output: one.content.as_ref().map(Given::by).unwrap_or_default(),
            });
        }
        _ => return None,
    };
    Some(Served {
        id,
        failed: is_failure(content),
        output: Given::in_words(content.as_str().to_owned()),
    })
}

/// The API says so by the name of what it gives, or by a code.
fn is_failure(content: &Json) -> bool {
    #[derive(serde::Deserialize)]
    struct Outcome {
        #[serde(rename = "type", default)]
        kind: String,
        error_code: Option<serde::de::IgnoredAny>,
    }
    serde_json::from_str(content.as_str()).is_ok_and(|outcome: Outcome| {
        outcome.kind.ends_with("_error") || outcome.error_code.is_some()
    })
}
