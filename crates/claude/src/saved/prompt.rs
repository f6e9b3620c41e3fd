//! Finds the prompt that a list shows for a conversation.
//!
//! It is the first thing a person asked: not a tool result, a note of the CLI, or the output of a local command. A slash
//! command serves only when nothing else was asked.

use super::entry::{Entry, MessagePart};

/// Longest prompt that is shown, in UTF-16 units.
const SHOWN_LIMIT: usize = 200;

/// Collects the first prompt from entries in their order.
#[derive(Debug, Default)]
pub(super) struct FirstPrompt {
    found: Option<String>,
    command: Option<String>,
}

impl FirstPrompt {
    pub(super) fn is_found(&self) -> bool {
        self.found.is_some()
    }

    pub(super) fn into_text(self) -> Option<String> {
        self.found.or(self.command)
    }

    pub(super) fn look_at(&mut self, entry: &Entry<'_>) {
        if self.is_found() {
            return;
        }
        for text in texts(entry) {
            let text = text.replace('\n', " ");
            let text = text.trim();
            if let Some(command) = between(text, "<command-name>", "</command-name>") {
                self.command.get_or_insert_with(|| command.to_owned());
            } else if let Some(shell) = between(text, "<bash-input>", "</bash-input>") {
                self.found = Some(shorten(&format!("! {shell}")));
                return;
            } else if !text.is_empty() && !is_note(text) {
                self.found = Some(shorten(text));
                return;
            }
        }
    }
}

/// Whether the entry is something a person sent.
pub(super) fn is_prompt(entry: &Entry<'_>) -> bool {
    !texts(entry).is_empty()
}

/// The texts of a user's message; none if it is not one.
fn texts(entry: &Entry<'_>) -> Vec<String> {
    let hidden = entry.is_meta == Some(true) || entry.is_compact_summary == Some(true);
    if !entry.is("user") || hidden {
        return Vec::new();
    }
    let Some(part) = entry.message.and_then(MessagePart::parse) else {
        return Vec::new();
    };
    let blocks = part.blocks();
    if blocks
        .iter()
        .any(|block| block.kind.as_deref() == Some("tool_result"))
    {
        return Vec::new();
    }
    let texts = blocks.into_iter().filter_map(|block| block.text);
    texts.map(std::borrow::Cow::into_owned).collect()
}

fn between<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(open)?;
    rest.split_once(close).map(|(inside, _)| inside)
}

/// Text that the CLI or an editor put in place of a person.
fn is_note(text: &str) -> bool {
    let tagged = text
        .strip_prefix('<')
        .is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_lowercase()));
    tagged || text.starts_with("[Request interrupted by user")
}

fn shorten(text: &str) -> String {
    let mut units = 0;
    for (at, character) in text.char_indices() {
        units += character.len_utf16();
        if units > SHOWN_LIMIT {
            return format!("{}…", text[..at].trim_end());
        }
    }
    text.to_owned()
}
