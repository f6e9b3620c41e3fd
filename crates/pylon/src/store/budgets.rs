//! What conversations, tasks and days may cost, held against what is counted.
//!
//! What was spent is never kept here: it is the sum of what `usage` counted, so a replay or a clock cannot set the two apart.

use estelle_proto::budgets::{Budget, BudgetLine, BudgetScope};
use estelle_proto::{ConversationId, Timestamp, WorkspaceId};
use rusqlite::{Connection, Row, params};

use super::conversations::{ConversationError, folded};
use super::row::parsed_option;
use super::threads::Keep;
use super::{Store, StoreError};

/// All budgets with what was spent, and which passing was told.
const ALL: &str = "SELECT c.id, b.soft_usd, b.hard_usd, \
     CASE WHEN b.conversation IS NULL \
     THEN (SELECT total(cost_usd) FROM usage WHERE day = date(?1 / 1000, 'unixepoch', 'localtime')) \
     ELSE (SELECT total(cost_usd) FROM usage WHERE conversation_id = c.id) END, \
     b.told, b.key, iif(b.conversation IS NULL, date(?1 / 1000, 'unixepoch', 'localtime'), ''), NULL AS task, \
     b.conversation IS NOT NULL AS rank \
     FROM budgets b LEFT JOIN conversations c ON c.key = b.conversation \
     UNION ALL \
     SELECT c.id, t.soft_usd, t.hard_usd, (SELECT total(cost_usd) FROM usage WHERE conversation_id = c.id) - t.from_usd, \
     t.told, t.key, '', t.task, 2 AS rank \
     FROM task_budgets t JOIN conversations c ON c.key = t.conversation \
     ORDER BY rank, 6";

/// The two lines of a budget; at least one is there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Lines {
    pub(crate) soft: Option<f64>,
    pub(crate) hard: Option<f64>,
}

impl Store {
    /// All budgets, the day's first.
    pub async fn budgets(&self, now: Timestamp) -> Result<Vec<Budget>, StoreError> {
        self.read(move |db| {
            let all = all(db, now)?.into_iter();
            Ok(all.map(|kept| kept.budget).collect())
        })
        .await
    }

    /// Sets the budget of a conversation or of the day, or removes it. Tells whether something is different.
    pub(crate) async fn set_budget(
        &self,
        id: Option<ConversationId>,
        lines: Option<Lines>,
    ) -> Result<bool, ConversationError> {
        self.write(Keep::Own, move |db| {
            let key = match &id {
                Some(id) => Some(folded(db, id)?.key),
                None => None,
            };
            let gone = db.execute("DELETE FROM budgets WHERE conversation IS ?1", [key])?;
            let Some(lines) = lines else {
                return Ok(gone > 0);
            };
            db.execute(
                "INSERT INTO budgets (conversation, soft_usd, hard_usd) VALUES (?1, ?2, ?3)",
                params![key, lines.soft, lines.hard],
            )?;
            Ok(true)
        })
        .await
    }

    /// The worker is at a task in this conversation. What it spent on it before counts; other lines warn anew. Without lines there
    /// is no budget.
    pub(crate) async fn begin_task_budget(
        &self,
        of: TaskFile,
        task: String,
        id: ConversationId,
        lines: Lines,
    ) -> Result<(), ConversationError> {
        self.write(Keep::Own, move |db| {
            let key = folded(db, &id)?.key;
            let TaskFile { workspace, file } = &of;
            if lines.soft.is_none() && lines.hard.is_none() {
                return Ok(forget_task(db, &of)?);
            }
            // Only one that is not in a conversation begins; one that does goes on.
            let spent = "(SELECT total(cost_usd) FROM usage WHERE conversation_id = ?4)";
            db.prepare_cached(&format!(
                "INSERT INTO task_budgets (workspace, file, task, conversation, from_usd, soft_usd, hard_usd) \
                 VALUES (?1, ?2, ?3, ?5, {spent}, ?6, ?7) \
                 ON CONFLICT (workspace, file) DO UPDATE SET task = ?3, conversation = ?5, \
                 from_usd = iif(conversation IS NULL, {spent} + from_usd, from_usd), \
                 told = iif(soft_usd IS ?6 AND hard_usd IS ?7, told, NULL), soft_usd = ?6, hard_usd = ?7"
            ))?
            .execute(params![
                workspace.as_str(),
                file,
                task,
                id.as_str(),
                key,
                lines.soft,
                lines.hard
            ])?;
            Ok(())
        })
        .await
    }

    /// The task is put back. What was spent on it stays counted.
    pub(crate) async fn pause_task_budget(&self, of: TaskFile) -> Result<(), StoreError> {
        self.write(Keep::Own, move |db| {
            db.prepare_cached(
                "UPDATE task_budgets SET from_usd = from_usd - (SELECT total(cost_usd) FROM usage WHERE conversation_id = \
                 (SELECT id FROM conversations WHERE key = task_budgets.conversation)), conversation = NULL \
                 WHERE workspace = ?1 AND file = ?2 AND conversation IS NOT NULL",
            )?
            .execute(params![of.workspace.as_str(), of.file])?;
            Ok(())
        })
        .await
    }

    /// The task is over.
    pub(crate) async fn end_task_budget(&self, of: TaskFile) -> Result<(), StoreError> {
        self.write(Keep::Own, move |db| Ok(forget_task(db, &of)?))
            .await
    }

    /// The budget that lets nothing begin in a conversation, if one does.
    pub(crate) async fn exhausted(
        &self,
        id: ConversationId,
        now: Timestamp,
    ) -> Result<Option<Budget>, StoreError> {
        self.read(move |db| {
            let mut all = all(db, now)?.into_iter().map(|kept| kept.budget);
            Ok(all.find(|budget| {
                let is_its = budget.conversation_id.as_ref().is_none_or(|of| *of == id);
                is_its && passed(budget) == Some(BudgetLine::Hard)
            }))
        })
        .await
    }

    /// The lines that were passed and that people do not know of yet.
    pub(crate) async fn passed_lines(&self, now: Timestamp) -> Result<Vec<Passed>, StoreError> {
        self.read(move |db| Ok(untold(db, now)?)).await
    }

    /// People know of it from now on. A budget that was set anew meanwhile warns again.
    pub(crate) async fn told_of(&self, passed: Passed) -> Result<(), StoreError> {
        self.write(Keep::Own, move |db| {
            let Passed {
                key, mark, budget, ..
            } = &passed;
            let sql = match &budget.task_id {
                None => "UPDATE budgets SET told = ?2 WHERE key = ?1 AND soft_usd IS ?3 AND hard_usd IS ?4",
                Some(_) => {
                    "UPDATE task_budgets SET told = ?2 WHERE key = ?1 AND soft_usd IS ?3 AND hard_usd IS ?4"
                }
            };
            db.prepare_cached(sql)?.execute(params![key, mark, budget.soft_usd, budget.hard_usd])?;
            Ok(())
        })
        .await
    }
}

/// A line of a budget was passed, and people do not know of it yet.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Passed {
    pub(crate) line: BudgetLine,
    pub(crate) budget: Budget,
    key: i64,
    mark: String,
}

/// The file of a task in its workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TaskFile {
    pub(crate) workspace: WorkspaceId,
    pub(crate) file: String,
}

fn forget_task(db: &Connection, of: &TaskFile) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM task_budgets WHERE workspace = ?1 AND file = ?2")?
        .execute(params![of.workspace.as_str(), of.file])
        .map(|_| ())
}

struct Kept {
    budget: Budget,
    told: Option<String>,
    key: i64,
    day: String,
}

fn all(db: &Connection, now: Timestamp) -> rusqlite::Result<Vec<Kept>> {
    let mut find = db.prepare_cached(ALL)?;
    let rows = find.query_map([now.0], kept)?;
    rows.collect()
}

fn kept(row: &Row<'_>) -> rusqlite::Result<Kept> {
    let conversation_id: Option<ConversationId> = parsed_option(row, 0)?;
    let task_id: Option<String> = row.get(7)?;
    let scope = match (&conversation_id, &task_id) {
        (_, Some(_)) => BudgetScope::Task,
        (Some(_), None) => BudgetScope::Conversation,
        (None, None) => BudgetScope::Day,
    };
    Ok(Kept {
        budget: Budget {
            conversation_id,
            task_id,
            soft_usd: row.get(1)?,
            hard_usd: row.get(2)?,
            ..Budget::new(scope, row.get(3)?)
        },
        told: row.get(4)?,
        key: row.get(5)?,
        day: row.get(6)?,
    })
}

/// The last line that what was spent has passed.
fn passed(budget: &Budget) -> Option<BudgetLine> {
    let is_past = |line: Option<f64>| line.is_some_and(|line| budget.spent_usd >= line);
    if is_past(budget.hard_usd) {
        Some(BudgetLine::Hard)
    } else {
        is_past(budget.soft_usd).then_some(BudgetLine::Soft)
    }
}

fn untold(db: &Connection, now: Timestamp) -> rusqlite::Result<Vec<Passed>> {
    let untold = all(db, now)?.into_iter().filter_map(|kept| {
        let line = passed(&kept.budget)?;
        // A day begins afresh, and so does a budget that was set anew.
        let mark = format!("{line} {}", kept.day);
        (kept.told.as_ref() != Some(&mark)).then_some(Passed {
            line,
            budget: kept.budget,
            key: kept.key,
            mark,
        })
    });
    Ok(untold.collect())
}
