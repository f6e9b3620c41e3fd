//! Every size that a boundary enforces, with the reason for the figure.
//!
//! The types of this crate refuse what is too long when they read it; frames and pages are measured by whoever owns
//! the connection or the list. All figures are part of the protocol: raising one needs both ends.

/// Version of the relay protocol.
pub const RELAY_PROTOCOL: u32 = 1;
/// Version of the host's IPC.
pub const IPC_PROTOCOL: u32 = 1;
/// The oldest version of it that is still spoken.
pub const IPC_OLDEST_PROTOCOL: u32 = 1;
/// Seconds between connecting to the host and a valid `hello`.
pub const HELLO_SECONDS: u32 = 5;

/// A frame between device and relay. Larger things are paged or sent in chunks.
pub const MAX_FRAME_BYTES: usize = 1024 * 1024;
/// A frame before `auth`: the relay reads no more from a stranger.
pub const MAX_UNAUTHENTICATED_FRAME_BYTES: usize = 8 * 1024;
/// A line of the host's IPC, without its newline: a message of the largest size, escaped in the worst way, fits.
pub const MAX_IPC_LINE_BYTES: usize = 8 * 1024 * 1024;
/// Seconds between opening a connection to the relay and a valid `auth`.
pub const AUTH_SECONDS: u32 = 5;

/// An identifier. File systems take names of 255 bytes; files are named after ids.
pub const MAX_ID_BYTES: usize = 128;
/// An identifier made by the agent or its tools.
pub const MAX_TOOL_USE_ID_BYTES: usize = 256;
/// The name of a workspace, a conversation or a device.
pub const MAX_NAME_BYTES: usize = 256;
/// A path; what Linux takes.
pub const MAX_PATH_BYTES: usize = 4096;
/// The text of a user message. Twice as much still fits a frame.
pub const MAX_PROMPT_BYTES: usize = 512 * 1024;
/// The text of a bug report.
pub const MAX_BUG_REPORT_BYTES: usize = 64 * 1024;
/// The name of a model.
pub const MAX_MODEL_BYTES: usize = 256;
/// What a person answers to questions, or says when denying. Longer than anybody types; it is kept with the decision.
pub const MAX_ANSWER_BYTES: usize = 64 * 1024;
/// The hash of an input, which an answer repeats.
pub const MAX_HASH_BYTES: usize = 128;
/// The secret of a device.
pub const MAX_TOKEN_BYTES: usize = 512;
/// A permission rule: a tool and a pattern, which may name a path.
pub const MAX_RULE_BYTES: usize = 8 * 1024;
/// The id of a task, or the name of its file: what file systems take.
pub const MAX_TASK_ID_BYTES: usize = 255;
/// The text of a new task. It is read by a model; an instruction of this size is a book.
pub const MAX_TASK_BYTES: usize = 256 * 1024;
/// Why a task failed, as it is kept in its file.
pub const MAX_TASK_ERROR_BYTES: usize = 4 * 1024;
/// A file that goes with a message.
pub const MAX_BLOB_BYTES: u64 = 64 * 1024 * 1024;
/// A piece of such a file, before it is written as base64.
pub const MAX_BLOB_CHUNK_BYTES: u64 = 64 * 1024;
/// All such files of a conversation.
pub const MAX_CONVERSATION_BLOB_BYTES: u64 = 1024 * 1024 * 1024;
/// Such files of one message.
pub const MAX_ATTACHED_FILES: usize = 10;
/// The id of a file on its way, which becomes part of a name on the disk.
pub const MAX_BLOB_ID_BYTES: usize = 64;
/// The words of a search.
pub const MAX_QUERY_BYTES: usize = 1024;

/// Devices that one `to` may name.
pub const MAX_TARGETS: usize = 1024;
/// Members of an envelope, known and unknown.
pub const MAX_ENVELOPE_MEMBERS: usize = 16;

/// Entries of a history page when the request does not say.
pub const DEFAULT_HISTORY_PAGE: u32 = 50;
/// The most entries of a history page.
pub const MAX_HISTORY_PAGE: u32 = 200;
/// The most bytes of a history page; a page ends early rather than pass it.
pub const MAX_HISTORY_PAGE_BYTES: usize = 256 * 1024;
/// One chunk of `tool_detail_result`, before escaping.
pub const TOOL_DETAIL_CHUNK_BYTES: usize = 64 * 1024;
/// One piece of `history_export_result`: escaped in the worst way it fits a frame.
pub const EXPORT_PIECE_BYTES: usize = 128 * 1024;
/// Folders in one `folder_list_result`.
pub const MAX_FOLDERS: usize = 5000;
/// Tasks in one `task_list_result`.
pub const MAX_TASKS: usize = 500;
/// Text of a task in `task_get_result`, in Unicode scalar values.
pub const TASK_CHARS: usize = 10_000;
/// Entries in one `file_list_result`: names of the greatest length, escaped in the worst way, fit a frame.
pub const MAX_FILE_PAGE: u32 = 500;
/// One chunk of `file_read_result`: escaped in the worst way it fits a frame.
pub const FILE_CHUNK_BYTES: usize = 128 * 1024;
/// Files in one `changes_result`.
pub const MAX_CHANGES_PAGE: u32 = 500;
/// The most bytes of a page of changes; a page ends early rather than pass it.
pub const MAX_CHANGES_PAGE_BYTES: usize = 256 * 1024;
/// One chunk of `diff_result`: escaped in the worst way it fits a frame.
pub const DIFF_CHUNK_BYTES: usize = 128 * 1024;
/// Hits in one `history_search_result`.
pub const MAX_SEARCH_HITS: u32 = 100;

/// `toolComplete.result` of a live event, in Unicode scalar values.
pub const LIVE_RESULT_CHARS: usize = 1000;
/// `toolComplete.error` of a live event, in Unicode scalar values.
pub const LIVE_ERROR_CHARS: usize = 200;
/// Pictures that are kept of what a tool gave.
pub const MAX_TOOL_IMAGES: usize = 16;
/// What the pictures of one call have together, in Base64: beside the longest output they fit a line of the host.
pub const MAX_TOOL_IMAGES_BYTES: usize = 3 * 1024 * 1024;

/// Version of what a terminal's keeper speaks.
pub const KEEPER_PROTOCOL: u32 = 1;
/// The id of a terminal: its socket lies under it, and the path of a socket has 107 bytes.
pub const MAX_TERMINAL_ID_BYTES: usize = 24;
/// The widest screen: nobody has a wider one, and its memory is bounded.
pub const MAX_TERMINAL_COLS: u16 = 500;
/// The highest screen.
pub const MAX_TERMINAL_ROWS: u16 = 300;
/// What is typed or pasted at once.
pub const MAX_TERMINAL_INPUT_BYTES: usize = 64 * 1024;
/// A line between a terminal and who looks at it: the largest screen or paste, escaped in the worst way, fits.
pub const MAX_KEEPER_LINE_BYTES: usize = 1024 * 1024;

/// The first `limit` Unicode scalar values of a text; nothing marks the cut.
pub fn cut(text: &str, limit: usize) -> &str {
    match text.char_indices().nth(limit) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_counts_scalars_and_adds_nothing() {
        assert_eq!(cut("한국어입니다", 3), "한국어");
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("🌙🌙", 1), "🌙");
        assert_eq!(cut("abc", 0), "");
    }
}
