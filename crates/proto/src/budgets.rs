//! App ↔ Pylon: what a conversation, a task and a day may cost.
//!
//! ```text
//! app ── budget_set {conversationId?, softUsd?, hardUsd?} ──► pylon     app ◄─ budget_result
//!        a result passes the soft line ──►  budget_warning (broadcast: clients), once
//!        a result passes the hard line ──►  the same, and what is under way is stopped
//! app ── claude_send ──► pylon     app ◄─ claude_send_result: budget_exceeded
//! ```
//!
//! A conversation counts all it ever cost, a task what its conversation cost since the worker began it, a day all that the
//! machine used since its midnight. The lines of a task stand in its file (`softUsd`, `hardUsd`); its budget is listed while the
//! worker is at it, and a task that passes its hard line is `failed`. Costs are those that the CLI tells at the end of a turn;
//! where a hard line applies it is also asked whenever a tool has come back, and a turn that passed its line is stopped. So a
//! turn goes beyond it by one step at most, and nothing begins after it. A line that is raised lets work go on at once; the
//! budget of a conversation goes with it.
//!
//! # Failures
//!
//! | what | `errorCode` |
//! |---|---|
//! | a line that is no amount above 0, a soft line above the hard one, nothing to change | `invalid_message` |
//! | there is no such conversation | `unknown_conversation` |
//! | there is no budget to remove | `conflict` |

use crate::{ConversationId, DeviceId};

words! {
    /// What a budget is for.
    pub enum BudgetScope {
        /// One conversation, as long as it is there.
        Conversation = "conversation",
        /// One task, from its begin to its end.
        Task = "task",
        /// All of the machine, in a day of its time zone.
        Day = "day",
    }
}

words! {
    /// Which line was passed.
    pub enum BudgetLine {
        /// People are warned.
        Soft = "soft",
        /// Nothing begins any more.
        Hard = "hard",
    }
}

data! {
    /// A budget and what was spent of it.
    pub struct Budget {
        required {
            /// What for.
            scope: BudgetScope,
            /// What was spent, in US dollars.
            spent_usd: f64,
        }
        optional {
            /// Which conversation, or that in which the task is carried out; absent for the day.
            conversation_id: ConversationId,
            /// Which task.
            task_id: String,
            /// Where people are warned.
            soft_usd: f64,
            /// Where nothing begins any more.
            hard_usd: f64,
        }
    }
}

request! {
    /// Asks for all budgets.
    pub struct BudgetRequest {}
}

request! {
    /// Sets a budget: both lines as they are given, an absent one is none.
    pub struct BudgetSet {
        optional {
            /// Of which conversation; absent is the day.
            conversation_id: ConversationId,
            /// Where people are warned.
            soft_usd: f64,
            /// Where nothing begins any more.
            hard_usd: f64,
            /// Whether it is removed instead.
            remove: bool,
        }
    }
}

reply! {
    /// All budgets.
    pub struct BudgetResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// The day's first, then conversations, then tasks.
            budgets: Vec<Budget>,
        }
    }
}

data! {
    /// A line was passed.
    pub struct BudgetWarning {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// Which line.
            line: BudgetLine,
            /// The budget, with what was spent.
            budget: Budget,
        }
    }
}
