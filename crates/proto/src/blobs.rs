//! App → Pylon: files that go with a message.
//!
//! ```text
//! app ── blob_start {blobId, filename, totalSize, …} ─► pylon    app ◄─ blob_start_result {nextChunk}
//! app ── blob_chunk {blobId, index, data} ────────────► pylon    app ◄─ blob_chunk_result {nextChunk}      for each
//! app ── blob_end {blobId, checksum} ─────────────────► pylon    app ◄─ blob_end_result {fileId, path}
//! app ── claude_send {message, attachedFileIds} ──────► pylon
//! ```
//!
//! Chunks go one after another. Each request can be repeated: one that was done before is answered as it was then. Whoever lost
//! the connection, or whose Pylon died, begins again with the same `blobId` and goes on at `nextChunk`. What is not finished
//! within a day is forgotten. The agent is told of each file by its path, in the order of `attachedFileIds`.
//!
//! A client says what a file is called and never where it is: no path of the machine is taken from it.
//!
//! # Failures
//!
//! | what | `errorCode` |
//! |---|---|
//! | a name with a separator or a control character, sizes that do not fit each other, data that is not base64 or longer than a chunk | `invalid_message` |
//! | a file of more than 64 MiB, a chunk of more than 64 KiB, more than 1 GiB in a conversation, 10 files in a message | `too_large` |
//! | another file was begun under this id; a chunk that is not the next one; the end before the last chunk | `conflict` |
//! | what came is not what the checksum says; it is forgotten, and can be sent again | `conflict` |
//! | nothing was begun under this id, or there is no such file | `unknown_upload` |
//! | no room on the disk; what came is kept | `disk_full`, `retry: later` |
//! | there is no such conversation | `unknown_conversation` |

use crate::{BlobId, ConversationId, DeviceId, FileId, PathText, WorkspaceId};

request! {
    /// Begins to send a file, or asks how far it came.
    pub struct BlobStart {
        required {
            /// In which workspace.
            workspace_id: WorkspaceId,
            /// With a message of which conversation it goes.
            conversation_id: ConversationId,
            /// Chosen by the client, the same when it begins again.
            blob_id: BlobId,
            /// What it is called, without any folder; at most 255 bytes.
            filename: String,
            /// What it is: `image/png`; at most 255 bytes.
            mime_type: String,
            /// How many bytes it has; at most 64 MiB.
            total_size: u64,
        }
        optional {
            /// How many bytes a chunk has, but for the last one; 65536 if absent, which is also the most.
            chunk_size: u64,
            /// How many chunks there are, to be checked.
            total_chunks: u64,
        }
    }
}

reply! {
    /// How far a file came.
    pub struct BlobStartResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// Which file.
            blob_id: BlobId,
        }
        optional {
            /// The number of the chunk that is wanted next, from 0; that of all chunks when nothing is missing.
            next_chunk: u64,
            /// Its id, if it is there already.
            file_id: FileId,
        }
    }
}

request! {
    /// A piece of a file.
    pub struct BlobChunk {
        required {
            /// With a message of which conversation it goes.
            conversation_id: ConversationId,
            /// Which file.
            blob_id: BlobId,
            /// Which piece, from 0.
            index: u64,
            /// Its bytes, base64.
            data: String,
        }
    }
}

reply! {
    /// A piece was written, or was there before.
    pub struct BlobChunkResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// Which file.
            blob_id: BlobId,
        }
        optional {
            /// The number of the chunk that is wanted next.
            next_chunk: u64,
        }
    }
}

request! {
    /// All of a file was sent.
    pub struct BlobEnd {
        required {
            /// With a message of which conversation it goes.
            conversation_id: ConversationId,
            /// Which file.
            blob_id: BlobId,
            /// `sha256:` and 64 hexadecimal digits.
            checksum: String,
        }
    }
}

reply! {
    /// A file is there, whatever dies now.
    pub struct BlobEndResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// With a message of which conversation it goes.
            conversation_id: ConversationId,
            /// Which file.
            blob_id: BlobId,
        }
        optional {
            /// What to name in `attachedFileIds`.
            file_id: FileId,
            /// Where it is on the machine of the Pylon.
            path: PathText,
            /// What it is called there.
            filename: String,
            /// How many bytes it has.
            size: u64,
        }
    }
}
