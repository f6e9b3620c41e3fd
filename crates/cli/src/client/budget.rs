//! `estelle budget`: what a day or a conversation may cost.

use std::process::ExitCode;

use clap::Args;
use estelle_proto::budgets::{Budget, BudgetRequest, BudgetSet};

use super::failure::EXIT_CODES;
use super::fleet::Fleet;
use super::print_json;
use super::way::ClientArgs;
use crate::chat::clean;
use crate::table::Table;

/// Show what days and conversations may cost and have cost, or set it.
///
/// With neither --soft nor --hard nor --remove the budgets are shown, also that of the task which a worker is at. Without a
/// conversation the day's is set; the budget of a task stands in its file.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct BudgetArgs {
    #[command(flatten)]
    client: ClientArgs,
    /// The conversation, by its name, its id or the beginning of either; without it the day's budget is meant.
    conversation: Option<String>,
    /// Warn when this many US dollars are spent.
    #[arg(long, value_name = "USD")]
    soft: Option<f64>,
    /// Begin nothing more when this many US dollars are spent.
    #[arg(long, value_name = "USD")]
    hard: Option<f64>,
    /// Remove the budget.
    #[arg(long, conflicts_with_all = ["soft", "hard"])]
    remove: bool,
}

pub(super) async fn run(args: &BudgetArgs) -> anyhow::Result<ExitCode> {
    let (mut link, fleet) = Fleet::reach(&args.client).await?;
    let spot = args.conversation.as_deref();
    let spot = spot.map(|text| fleet.conversation(text)).transpose()?;
    let is_change = args.soft.is_some() || args.hard.is_some() || args.remove;
    let told = if is_change {
        let machine = match &spot {
            Some(spot) => spot.pylon,
            None => fleet.one()?.id,
        };
        let request = BudgetSet {
            conversation_id: spot.map(|spot| spot.conversation),
            soft_usd: args.soft,
            hard_usd: args.hard,
            remove: args.remove.then_some(true),
            ..BudgetSet::default()
        };
        vec![link.ask(machine, request).await?]
    } else {
        let mut told = Vec::new();
        for machine in &fleet.machines {
            told.push(link.ask(machine.id, BudgetRequest::default()).await?);
        }
        told
    };
    if args.client.json {
        for result in &told {
            print_json(result)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::default();
    table.row(["BUDGET", "SPENT", "WARN AT", "STOP AT"].map(str::to_owned));
    let budgets = told.iter().flat_map(|result| &result.budgets);
    for budget in budgets {
        table.row(cells(budget, &fleet));
    }
    anstream::print!("{table}");
    Ok(ExitCode::SUCCESS)
}

fn cells(budget: &Budget, fleet: &Fleet) -> [String; 4] {
    let usd = |amount: Option<f64>| amount.map_or_else(String::new, |usd| format!("${usd:.2}"));
    let name = match (&budget.task_id, &budget.conversation_id) {
        (Some(task), _) => format!("task {}", clean::line(task)),
        (None, Some(id)) => super::lookup::title(fleet, id),
        (None, None) => "today".to_owned(),
    };
    [
        name,
        usd(Some(budget.spent_usd)),
        usd(budget.soft_usd),
        usd(budget.hard_usd),
    ]
}
