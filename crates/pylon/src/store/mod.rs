//! What the pylon remembers, in one SQLite database: workspaces, conversations, history, usage, what devices have seen.
//!
//! [`Store`] is the only way in. One thread writes ([`threads`](self)), a few others read, and SQL stands nowhere else.
//! What the host reports is taken in by `apply`, in one transaction with the cursor it leads to: exactly once. All of
//! that can be fetched from the host again; what people made (workspaces, names, settings) is on the disk before it is
//! acknowledged.
//!
//! The store decides nothing about runs and knows no clock: times come with events and requests.

mod afresh;
mod apply;
mod backup;
mod budgets;
mod continuations;
mod conversations;
mod detail;
mod devices;
mod entry;
mod error;
mod examine;
mod export;
mod folded;
mod forks;
mod kept;
mod lifecycle;
mod migrate;
mod notices;
mod open;
mod page;
mod plan;
mod rebuild;
mod refusals;
mod removals;
mod rewinds;
mod row;
#[cfg(test)]
#[path = "../../tests/it/store/sample.rs"]
#[expect(dead_code, reason = "the integration tests use more of it")]
mod sample;
mod search;
mod settings;
mod shorten;
mod snippet;
mod statuses;
mod subscriptions;
mod sweep;
mod threads;
mod transcript;
mod turn;
mod usage;
mod witness;
mod words;
mod workspaces;
mod worktrees;

pub use apply::Outcome;
pub use backup::{BackupError, RestoreError};
pub(crate) use budgets::{Lines, TaskFile};
pub use continuations::Continuation;
pub(crate) use continuations::is_about as is_about_continuing;
pub use conversations::{ConversationError, KnownConversation, NewConversation};
pub use detail::{DetailChunk, DetailError, ToolParts};
pub use devices::View;
pub use error::StoreError;
pub use export::{ExportError, ExportPage, ExportQuery};
pub use kept::KeptHistory;
pub use lifecycle::{Life, ProcessEnd};
pub use migrate::MigrateError;
pub use notices::Telling;
pub(crate) use notices::{Due, Tried};
pub use open::{DATABASE, OpenError};
pub use page::{HistoryPage, PageError, PageFrom, PageQuery};
pub use rebuild::{Placement, Rebuild, RebuildError};
pub use removals::{Removal, Removed};
pub use search::{SearchError, SearchPage, SearchQuery};
pub use statuses::Statuses;
pub(crate) use subscriptions::{Subscribed, Wish};
pub use threads::Store;
pub use turn::Turn;
pub use usage::{UsagePage, UsageQuery};
pub use witness::{Differences, Kept, Witness, WitnessError};
pub use workspaces::{Listing, NewWorkspace, WorkspaceError};
pub use worktrees::WorktreeRow;
