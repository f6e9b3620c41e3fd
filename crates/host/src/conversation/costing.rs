//! What the running turn has cost so far. The CLI is asked; nothing of it is kept, and its answer is no activity.

use std::time::Duration;

use estelle_proto::{ApiError, ErrorCode, Retry};
use tokio::time::Instant;

use super::actor::{Actor, Broken, Reply};
use super::running::{Phase, request_id};
use super::writer::LineKey;
use crate::ipc::Done;
use crate::translate::{COST_REQUEST, lines};

/// Most who wait for an answer.
const MOST: usize = 16;

/// How long an answer is waited for.
const WAITS: Duration = Duration::from_secs(10);

impl Actor {
    /// Asks the CLI, or answers at once if no turn runs.
    pub(super) fn ask_cost(&mut self, reply: Reply) -> Result<(), Broken> {
        // Who left needs no answer, and nobody waits so long for one that a process took with it.
        self.costing
            .retain(|(_, waits, since)| !waits.is_closed() && since.elapsed() < WAITS);
        let has_turn = self.book.conversation().occupied().turn.is_some();
        let is_full = self.costing.len() >= MOST;
        let Phase::Live(live) = &mut self.phase else {
            let _ = reply.send(Ok(Done::default()));
            return Ok(());
        };
        if live.closed || !has_turn {
            let _ = reply.send(Ok(Done::default()));
            return Ok(());
        }
        if is_full {
            let text = "the agent was asked often and does not answer".to_owned();
            let error = ApiError::new(ErrorCode::Conflict, text, Retry::Later);
            let _ = reply.send(Err(error.into()));
            return Ok(());
        }
        let id = format!("{COST_REQUEST}{}", request_id());
        let text = lines::cost(&id)?;
        live.write(LineKey::Control(id.clone()), || Some(text));
        self.costing.push((id, reply, Instant::now()));
        Ok(())
    }

    /// The CLI has answered.
    pub(super) fn tell_cost(&mut self, id: &str, cost: Option<f64>) {
        let Some(at) = self.costing.iter().position(|(asked, ..)| asked == id) else {
            return;
        };
        let (_, reply, _) = self.costing.swap_remove(at);
        // A client that left does not hear it.
        let _ = reply.send(Ok(Done {
            turn_cost: cost,
            ..Done::default()
        }));
    }
}
