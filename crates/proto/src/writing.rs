//! What the agent is writing: thinking, and blocks that are open when somebody begins to look.
//!
//! A piece belongs to a block of the open message of one writer: the agent, or the sub-agent of a call. It says how long
//! the block was before it. Apply it if that is the length of what is there, ignore it if less, resynchronise if more. An
//! [`OpenBlock`] is a block up to now; the next piece of it has the length of `content` as its `at`.

use crate::{Generation, ToolUseId};

data! {
    /// A piece of thinking.
    pub struct ThinkingDelta {
        required {
            /// The piece.
            content: String,
        }
        optional {
            /// Which run.
            generation: Generation,
            /// Which block of the open message.
            block: u64,
            /// Length of the block before this piece, in UTF-16 code units.
            at: u64,
            /// The call of the sub-agent it belongs to.
            parent_tool_use_id: ToolUseId,
        }
    }
}

data! {
    /// A thought is complete and replaces its pieces.
    pub struct ThinkingComplete {
        required {
            /// All of it.
            text: String,
        }
        optional {
            /// The call of the sub-agent it belongs to.
            parent_tool_use_id: ToolUseId,
        }
    }
}

words! {
    /// What a block is made of.
    pub enum BlockKind {
        /// What is said.
        Text = "text",
        /// What is thought.
        Thinking = "thinking",
    }
}

data! {
    /// A block that is being written, as far as it is.
    pub struct OpenBlock {
        required {
            /// What it is made of.
            kind: BlockKind,
            /// Which run.
            generation: Generation,
            /// Which block of the open message.
            block: u64,
            /// All pieces so far.
            content: String,
        }
        optional {
            /// The call of the sub-agent it belongs to.
            parent_tool_use_id: ToolUseId,
        }
    }
}
