//! How the turn of a worker's task is, as its history tells.

use estelle_proto::budgets::BudgetScope;
use estelle_proto::history::HistoryMessage;
use estelle_proto::workspaces::RestCause;
use estelle_proto::{ApiError, ConversationId, ConversationStatus, Seq, limits};

use super::budgets;
use super::error::Told as _;
use super::visit::Visit;
use crate::store::{ConversationError, PageFrom, PageQuery};
use crate::tasks::worker::{End, Job, Turn, end_of};

/// Pages of history that are read to find the end of a turn.
const PAGES: usize = 2_000;

impl Visit<'_> {
    /// How the turn is, and whether its conversation does something.
    pub(super) async fn look(&self) -> Result<(Turn, bool), ApiError> {
        // One that is apart gets its place only when its message goes out.
        let is_yet_to_be = |job: &Job| job.apart && job.seq.is_none();
        let absent = match &self.worker.job {
            Some(job) if !is_yet_to_be(job) => Turn::Gone,
            Some(_) | None => Turn::Unseen,
        };
        let Some(id) = self.worker.place() else {
            return Ok((absent, false));
        };
        let known = match self.cx.store.conversation(id.clone()).await {
            Ok(known) => known,
            Err(ConversationError::Store(error)) => return Err(error.told()),
            Err(_) if self.worker.job.is_none() => return Ok((Turn::Gone, false)),
            Err(_) => return Ok((absent, false)),
        };
        let is_busy = known.conversation.status != ConversationStatus::Idle;
        let Some(job) = &self.worker.job else {
            return Ok((Turn::Unseen, is_busy));
        };
        let turn = match job.seq {
            Some(seq) => self.turn(id, job, seq).await?,
            None => Turn::Unseen,
        };
        // What a budget stopped no person did.
        if turn == Turn::Over(End::Stopped)
            && !job.stop
            && let Some((scope, message)) = self.is_used_up(id).await?
        {
            // What is spent on a task is its own fault; every other would fare the same with the rest.
            let end = match scope {
                BudgetScope::Task => End::Failed(message),
                BudgetScope::Conversation | BudgetScope::Day | BudgetScope::Unknown(_) => {
                    End::Unavailable(RestCause::Budget, message)
                }
            };
            return Ok((Turn::Over(end), is_busy));
        }
        // What was spent is only known with the end of the turn: a line that it passed fails it all the same.
        if turn == Turn::Over(End::Done)
            && let Some(message) = budgets::too_dear(self.cx, id).await?
        {
            return Ok((Turn::Over(End::Failed(message)), is_busy));
        }
        let turn = if self.is_sent && turn == Turn::Unseen {
            Turn::UnderWay
        } else {
            turn
        };
        Ok((turn, is_busy))
    }

    /// Which budget lets nothing begin: what it is for, and what people are told.
    pub(super) async fn is_used_up(
        &self,
        id: &ConversationId,
    ) -> Result<Option<(BudgetScope, String)>, ApiError> {
        let found = budgets::in_the_way(self.cx, id).await?;
        Ok(found.map(|(scope, error)| (scope, error.message)))
    }

    async fn turn(&self, id: &ConversationId, job: &Job, seq: Seq) -> Result<Turn, ApiError> {
        let said = self.cx.store.entry(id.clone(), seq).await;
        let said = said.map_err(|error| error.told())?;
        let is_it = matches!(&said, Some(HistoryMessage::Text(text))
            if text.client_message_id.as_ref() == Some(&job.message));
        if !is_it {
            return Ok(Turn::Unseen);
        }
        let (mut entries, mut after) = (Vec::new(), seq);
        for _ in 0..PAGES {
            let query = PageQuery {
                conversation_id: id.clone(),
                workspace_id: None,
                limit: limits::MAX_HISTORY_PAGE,
                from: PageFrom::After(after),
                epoch: None,
            };
            let page = self.cx.store.page(query).await;
            let page = page.map_err(|error| error.told())?;
            let last = page.messages.iter().rev().find_map(HistoryMessage::seq);
            entries.extend(page.messages.into_iter().filter(is_telling));
            match last {
                Some(last) if page.has_more => after = last,
                _ => {
                    let end = end_of(entries.iter(), &page.status);
                    return Ok(end.map_or(Turn::UnderWay, Turn::Over));
                }
            }
        }
        Ok(Turn::UnderWay)
    }
}

/// What tells how a turn went.
fn is_telling(entry: &HistoryMessage) -> bool {
    matches!(
        entry,
        HistoryMessage::TurnResult(_)
            | HistoryMessage::Aborted(_)
            | HistoryMessage::Error(_)
            | HistoryMessage::System(_)
    )
}
