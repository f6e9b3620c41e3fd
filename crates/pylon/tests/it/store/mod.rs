//! The store as its users see it: real SQLite in temporary folders, and real processes that are killed.

mod apply;
mod devices;
mod export;
mod history;
mod kept;
mod killed;
mod lasting;
mod lifecycle;
mod plan;
mod sample;
mod search;
mod usage;
mod workspaces;

use estelle_proto::{Conversation, ConversationId, Name, PathText, Timestamp, WorkspaceId};
use estelle_pylon::store::{NewWorkspace, Store};
use tempfile::TempDir;

/// A store in a folder of its own, with one workspace.
struct Bench {
    store: Store,
    workspace: WorkspaceId,
    conversation: ConversationId,
    folder: TempDir,
}

impl Bench {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let (workspace, conversation) = make_workspace(&store, "home").await;
        Self {
            store,
            workspace,
            conversation: conversation.conversation_id,
            folder,
        }
    }

    /// Closes the store and opens it again.
    async fn reopened(self) -> Self {
        let Self {
            store,
            workspace,
            conversation,
            folder,
        } = self;
        store.close().await;
        let store = Store::open(folder.path()).unwrap();
        Self {
            store,
            workspace,
            conversation,
            folder,
        }
    }
}

async fn make_workspace(store: &Store, text: &str) -> (WorkspaceId, Conversation) {
    let new = NewWorkspace {
        name: name(text),
        working_dir: PathText::parse("/srv/project").unwrap(),
        conversation_name: name("first"),
        at: Timestamp(sample::NOON),
    };
    let (workspace, conversation) = store.create_workspace(new).await.unwrap();
    (workspace.workspace_id, conversation)
}

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}
