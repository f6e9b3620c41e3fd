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
mod conversations;
mod detail;
mod devices;
mod entry;
mod error;
mod examine;
mod export;
mod folded;
mod forks;
mod migrate;
mod open;
mod page;
mod plan;
mod rebuild;
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
mod sweep;
mod threads;
mod transcript;
mod usage;
mod witness;
mod words;
mod workspaces;

pub use apply::Outcome;
pub use backup::{BackupError, RestoreError};
pub use conversations::{ConversationError, KnownConversation, NewConversation};
pub use detail::{DetailChunk, DetailError, ToolParts};
pub use devices::View;
pub use error::StoreError;
pub use export::{Export, ExportError, ExportFormat};
pub use migrate::MigrateError;
pub use open::{DATABASE, OpenError};
pub use page::{HistoryPage, PageError, PageFrom, PageQuery};
pub use rebuild::{Placement, Rebuild, RebuildError};
pub use search::{SearchError, SearchPage, SearchQuery};
pub use threads::Store;
pub use usage::{UsagePage, UsageQuery};
pub use witness::{Differences, Kept, Witness, WitnessError};
pub use workspaces::{Listing, NewWorkspace, WorkspaceError};
