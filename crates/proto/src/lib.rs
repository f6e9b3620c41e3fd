//! Every message that crosses one of Estelle's boundaries, once, as plain data.
//!
//! - [`envelope`], [`address`], [`forward`], [`inbox`]: how messages travel between devices, and what the relay may see.
//! - [`auth`], [`pairing`], [`devices`], [`workspaces`], [`conversations`], [`history`], [`lookup`], [`export`], [`claude`], [`events`], [`writing`], [`waiting`], [`runs`], [`decisions`],
//!   [`usage`], [`plan`], [`deploy`], [`version`], [`bugs`], [`folders`], [`files`], [`changes`], [`turns`], [`worktrees`], [`saved`], [`tasks`], [`rules`], [`terminals`], [`notifications`], [`continuation`], [`budgets`], [`blobs`]: one file per boundary; each begins with the exchange it is for.
//! - [`directions`]: the tables of messages by direction, with rights and serialization keys.
//! - [`ipc`]: the lines between Pylon and host. [`keeper`]: those between a terminal and who looks at it.
//! - [`limits`]: every size that is enforced.
//!
//! There is no IO here and no clock. Unknown kinds and words are kept, unknown fields ignored; required fields are
//! required. With the feature `gen` every type can describe itself as TypeScript and JSON Schema.

#[macro_use]
mod declare;

pub mod address;
pub mod answer;
pub mod auth;
pub mod blobs;
pub mod budgets;
pub mod bugs;
#[cfg(feature = "gen")]
pub mod catalog;
pub mod changes;
pub mod claude;
pub mod continuation;
pub mod conversations;
pub mod decisions;
pub mod deploy;
pub mod devices;
pub mod directions;
pub mod envelope;
pub mod error;
pub mod events;
pub mod export;
pub mod files;
pub mod folders;
pub mod forward;
pub mod history;
pub mod ids;
pub mod inbox;
pub mod ipc;
pub mod json;
pub mod keeper;
pub mod limits;
pub mod lookup;
pub mod notifications;
pub mod pairing;
pub mod plan;
pub mod rules;
pub mod runs;
pub mod saved;
pub mod tasks;
pub mod terminals;
pub mod turns;
pub mod usage;
pub mod version;
pub mod waiting;
pub mod workspaces;
pub mod worktrees;
pub mod writing;

pub use address::{Author, Broadcast, DeviceType, Right, Sender, Target, To};
pub use answer::{Answer, AnswerError, Choice};
pub use auth::{ConnectedDevice, Device, DeviceToRelay, RelayToDevice};
pub use claude::{ControlAction, OnBusy, PermissionMode};
pub use conversations::{Conversation, ConversationStatus, CreatedConversation, SkillType};
pub use decisions::{
    DecisionKind, DecisionState, PermissionDecision, PolicyReason, Question, QuestionOption,
    ReasonCode, ReasonSource,
};
pub use directions::{AppToPylon, Key, PylonToApp, PylonToPylon, right_to_hear};
pub use envelope::{DecodeError, EncodeError, Envelope, Message, UnknownMessage};
pub use error::{ApiError, ErrorCode, ErrorReport, Reply, Retry};
pub use events::{Activity, ActivityState, ClaudeEvent, ToolImage, Usage};
pub use forward::{Forward, Hint, RelayFrame};
pub use history::{HistoryMessage, Role};
pub use ids::{
    BlobId, ChainHash, ClaudeSessionId, ClientId, ClientMessageId, ConversationId, DeviceId,
    DeviceKey, Epoch, FileId, Generation, IsoTime, Name, PairId, PathText, Prompt, QueryText,
    ReportText, RequestId, RuleText, Seq, TaskId, TaskText, TerminalId, TextError, Timestamp,
    Token, ToolUseId, WorkspaceId,
};
pub use inbox::{AppInbox, PylonInbox};
pub use ipc::{HostToPylon, PylonToHost};
pub use json::{Json, UnknownObject};
pub use plan::{Cause, LimitStatus, PLAN, PlanLimit};
pub use workspaces::{WorkerStatus, Workspace};
