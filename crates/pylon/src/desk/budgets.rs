//! What conversations, tasks and days may cost: what people set, what is refused, and what is stopped.

use std::collections::BTreeSet;
use std::time::Duration;

use estelle_proto::budgets::{
    Budget, BudgetRequest, BudgetResult, BudgetScope, BudgetSet, BudgetWarning,
};
use estelle_proto::ipc::{GetCost, StopSession};
use estelle_proto::{ApiError, ConversationId, ErrorCode, Reply, RequestId, Retry};

use super::claude::ask_if_known;
use super::context::{Asker, Context, now};
use super::error::{Told, refusal};
use crate::failpoint;
use crate::store::{Lines, StoreError};

/// More than anybody spends; what claims more is a slip of the finger.
const MOST_USD: f64 = 1_000_000.0;

pub(super) async fn show(cx: &Context, asker: &Asker, request: BudgetRequest) {
    answer(cx, asker, request.request_id.as_ref(), Ok(())).await;
}

pub(super) async fn set(cx: &Context, asker: &Asker, request: BudgetSet) {
    let id = request.request_id.clone();
    let done = try_set(cx, request).await;
    answer(cx, asker, id.as_ref(), done).await;
}

async fn answer(
    cx: &Context,
    asker: &Asker,
    request: Option<&RequestId>,
    done: Result<(), ApiError>,
) {
    let empty = BudgetResult::new(cx.device(), Vec::new());
    let result = match (cx.store.budgets(now()).await, done) {
        (Ok(budgets), Ok(())) => BudgetResult { budgets, ..empty },
        (Ok(budgets), Err(error)) => BudgetResult { budgets, ..empty }.failed(error),
        (Err(error), done) => empty.failed(done.err().unwrap_or_else(|| error.told())),
    };
    asker.answer(result.in_reply_to(request));
}

/// Lines that somebody said, if they can be.
pub(super) fn lines(soft: Option<f64>, hard: Option<f64>) -> Result<Lines, ApiError> {
    let wrong = |text: &str| Err(refusal(ErrorCode::InvalidMessage, text));
    let mut given = [soft, hard].into_iter().flatten();
    if given.any(|usd| !(usd > 0.0 && usd <= MOST_USD)) {
        return wrong("a line is an amount in US dollars above 0 and at most 1000000");
    }
    if soft.zip(hard).is_some_and(|(soft, hard)| soft > hard) {
        return wrong("the soft line is above the hard one, so nobody would be warned");
    }
    Ok(Lines { soft, hard })
}

async fn try_set(cx: &Context, request: BudgetSet) -> Result<(), ApiError> {
    let is_removed = request.remove == Some(true);
    let lines = lines(request.soft_usd, request.hard_usd)?;
    let is_given = lines.soft.is_some() || lines.hard.is_some();
    if is_removed == is_given {
        let text = "give `softUsd` or `hardUsd`, or `remove` alone";
        return Err(refusal(ErrorCode::InvalidMessage, text));
    }
    let lines = (!is_removed).then_some(lines);
    let changed = cx.store.set_budget(request.conversation_id, lines).await;
    if !changed.map_err(|error| error.told())? {
        return Err(refusal(
            ErrorCode::Conflict,
            "there is no such budget to remove",
        ));
    }
    // What was spent already may be past a new line.
    cx.budgets_changed().await;
    Ok(())
}

/// Refuses to begin something that a hard line is in the way of.
pub(super) async fn check(cx: &Context, id: &ConversationId) -> Result<(), ApiError> {
    match in_the_way(cx, id).await? {
        None => Ok(()),
        Some((_, error)) => Err(error),
    }
}

/// What a hard line that lets nothing begin is for, and what people are told of it.
pub(super) async fn in_the_way(
    cx: &Context,
    id: &ConversationId,
) -> Result<Option<(BudgetScope, ApiError)>, ApiError> {
    let exhausted = cx.store.exhausted(id.clone(), now()).await;
    let Some(budget) = exhausted.map_err(|error| error.told())? else {
        return Ok(None);
    };
    let (spent, hard) = (budget.spent_usd, budget.hard_usd.unwrap_or_default());
    let (text, retry) = match budget.scope {
        BudgetScope::Day => (
            format!(
                "${spent:.2} of ${hard:.2} are spent today; raise the day's budget with `estelle budget --hard`, or wait until tomorrow"
            ),
            Retry::Later,
        ),
        BudgetScope::Task => (
            format!(
                "${spent:.2} of ${hard:.2} are spent on the task {}; raise `hardUsd` in its file and set it to `pending`",
                budget.task_id.as_deref().unwrap_or_default()
            ),
            Retry::Never,
        ),
        BudgetScope::Conversation | BudgetScope::Unknown(_) => (
            format!(
                "${spent:.2} of ${hard:.2} are spent in this conversation; raise its budget with `estelle budget {id} --hard`"
            ),
            Retry::Never,
        ),
    };
    let error = ApiError::new(ErrorCode::BudgetExceeded, text, retry);
    Ok(Some((budget.scope, error)))
}

/// What people are told of a task that cost more than it may, if the one that is carried out in this conversation does.
pub(super) async fn too_dear(
    cx: &Context,
    id: &ConversationId,
) -> Result<Option<String>, ApiError> {
    let budgets = cx.store.budgets(now()).await;
    let budgets = budgets.map_err(|error| error.told())?;
    let found = budgets.iter().find(|budget| {
        let is_its = budget.conversation_id.as_ref() == Some(id);
        is_its && budget.scope == BudgetScope::Task && stops(budget, id, 0.0)
    });
    Ok(found.map(|budget| {
        let (spent, hard) = (budget.spent_usd, budget.hard_usd.unwrap_or_default());
        format!(
            "the turn ended, but cost ${spent:.2} where ${hard:.2} were allowed; look at what it did, then set it to `done`, or raise `hardUsd` in its file and set it to `pending`"
        )
    }))
}

/// Tells of the lines that were passed, and stops what runs beyond a hard one. What could not be stopped is tried again.
pub(super) async fn enforce(cx: Context, spending: BTreeSet<ConversationId>) {
    if let Err(error) = warn(&cx).await {
        tracing::warn!(%error, "whether budgets are used up is not known");
    }
    let budgets = match cx.store.budgets(now()).await {
        Ok(budgets) => budgets,
        Err(error) => {
            tracing::warn!(%error, "budgets are not known; trying again");
            return cx.not_stopped(spending).await;
        }
    };
    let mut left = BTreeSet::new();
    for (id, running) in with_costs(&cx, &budgets, spending).await {
        let Some(running) = running else {
            left.insert(id);
            continue;
        };
        if budgets.iter().any(|budget| stops(budget, &id, running)) {
            tracing::info!(conversation = %id, "its budget is used up; it is stopped");
            if let Err(error) = ask_if_known(&cx, StopSession::new(id.clone())).await {
                tracing::warn!(%error, "a conversation beyond its budget is not stopped; trying again");
                left.insert(id);
            }
        }
    }
    if !left.is_empty() {
        cx.not_stopped(left).await;
    }
}

/// How long the agent may take to say what a turn has cost so far.
const ASKED: Duration = Duration::from_secs(5);

/// Conversations with what the turn that runs in each has cost so far; nothing if the agent is too busy to say it. Only
/// where a hard line could be passed the agent is asked; one that cannot say it is known with the end of its turn.
async fn with_costs(
    cx: &Context,
    budgets: &[Budget],
    spending: BTreeSet<ConversationId>,
) -> Vec<(ConversationId, Option<f64>)> {
    let known = spending.into_iter().map(async |id| {
        let is_open = |budget: &Budget| concerns(budget, &id) && budget.hard_usd.is_some();
        if !budgets.iter().any(is_open) || budgets.iter().any(|budget| stops(budget, &id, 0.0)) {
            return (id, Some(0.0));
        }
        let asked = cx.host.request(GetCost::new(id.clone()));
        let told = tokio::time::timeout(ASKED, asked).await;
        let cost = match told {
            Ok(Ok(told)) => Some(told.turn_cost_usd.unwrap_or_default()),
            Ok(Err(_)) => Some(0.0),
            Err(_) => None,
        };
        (id, cost)
    });
    futures_util::future::join_all(known).await
}

/// Who is killed in between warns again: twice is better than never. So is later, when somebody is there.
async fn warn(cx: &Context) -> Result<(), StoreError> {
    for passed in cx.store.passed_lines(now()).await? {
        failpoint::reach("budget-passed");
        let (line, budget) = (passed.line.clone(), passed.budget.clone());
        let warning = BudgetWarning::new(cx.device(), line, budget);
        if cx.budget_passed(warning).await {
            cx.store.told_of(passed).await?;
        }
    }
    Ok(())
}

/// Whether a budget counts what a conversation costs.
fn concerns(budget: &Budget, id: &ConversationId) -> bool {
    budget.conversation_id.as_ref().is_none_or(|of| of == id)
}

/// Whether a budget lets nothing go on in a conversation whose running turn has cost so much.
fn stops(budget: &Budget, id: &ConversationId, running: f64) -> bool {
    let hard = budget.hard_usd;
    concerns(budget, id) && hard.is_some_and(|hard| budget.spent_usd + running >= hard)
}
