//! What is left of runs that have ended: their folders, of which a few are kept.

use estelle_proto::Generation;

use super::actor::Actor;
use crate::run::retire;

impl Actor {
    /// Takes the folders of old runs away. The log has everything that was in their journals, and says that they ended.
    pub(super) fn retire_runs(&self) {
        let conversation = self.book.conversation();
        let ended = match conversation.run() {
            // It is not over, whatever its number is.
            Some(run) => Generation(run.generation.0.saturating_sub(1)),
            None => conversation.last_generation(),
        };
        let trash = self.context.trash();
        match retire(&self.runs(), ended, &trash) {
            Ok(retired) if retired.is_empty() => {}
            Ok(retired) => {
                // What is not removed now is removed by the next host.
                self.context.tracker.spawn_blocking(move || {
                    for folder in retired {
                        let _ = std::fs::remove_dir_all(folder);
                    }
                });
            }
            Err(error) => {
                let id = conversation.id();
                tracing::warn!(conversation = %id, %error, "folders of old runs stay for now");
            }
        }
    }
}
