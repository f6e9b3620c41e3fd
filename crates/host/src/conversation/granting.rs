//! Tools that a person has allowed for the conversation: telling of them, and taking that back.
//!
//! It is in the log before the answer goes out. A host that dies before that has changed nothing; one that dies after it
//! asks about the next call, and whoever repeats the command changes nothing more. Calls are judged by the same task, so
//! none that comes after the answer runs by a grant that is gone.

use estelle_proto::ipc::{GrantedTool, RevokeTool};

use super::actor::{Actor, Broken, now};
use crate::ipc::Done;
use crate::log::Sync;

impl Actor {
    /// What runs unasked here because a person said so.
    pub(super) fn granted(&self) -> Vec<GrantedTool> {
        let conversation = self.book.conversation();
        let told = |(tool, grant): (&String, &estelle_state::conversation::Grant)| GrantedTool {
            device_id: grant.by,
            author: grant.author.clone(),
            ..GrantedTool::new(conversation.id().clone(), tool.clone(), grant.since)
        };
        conversation.grants().map(told).collect()
    }

    pub(super) async fn revoke(&mut self, command: RevokeTool) -> Result<Done, Broken> {
        let (tool, by) = (&command.tool_name, command.device_id);
        if let Some(entry) = self.book.decide().revoke(now(), tool, by) {
            self.record(entry, Sync::Now).await?;
        }
        Ok(Done::default())
    }
}
