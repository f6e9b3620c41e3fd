//! `estelle history`, `search` and `usage`: what happened, where something was said, and what it cost.

use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use estelle_proto::lookup::{HistorySearch, SearchHit};
use estelle_proto::usage::{UsageGroup, UsageRequest, UsageRow};
use estelle_proto::{
    ConversationId, DeviceId, IsoTime, LimitStatus, PlanLimit, QueryText, Seq, limits,
};

use super::export::{self, ExportArgs};
use super::failure::EXIT_CODES;
use super::fleet::Fleet;
use super::link::Link;
use super::session::Session;
use super::way::ClientArgs;
use super::{past, print_json};
use crate::chat::piece::{Piece, Tone};
use crate::chat::printer::Printer;
use crate::host::attach::view::View;
use crate::table::Table;

/// Show what was said and done in a conversation.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct HistoryArgs {
    #[command(flatten)]
    client: ClientArgs,
    /// The conversation, by its name, its id or the beginning of either.
    conversation: String,
    /// How many entries, from the end.
    #[arg(
        long = "limit",
        short = 'n',
        value_name = "NUMBER",
        default_value_t = 50
    )]
    limit: usize,
    /// All entries.
    #[arg(long, conflicts_with = "limit")]
    all: bool,
    /// Only entries before this number.
    #[arg(long, value_name = "SEQ")]
    before: Option<u64>,
    #[command(flatten)]
    export: ExportArgs,
}

/// Find words in the history of all conversations.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct SearchArgs {
    #[command(flatten)]
    client: ClientArgs,
    /// The words.
    #[arg(required = true)]
    words: Vec<String>,
    /// Only in this conversation.
    #[arg(long = "in", value_name = "CONVERSATION")]
    conversation: Option<String>,
    /// The most hits of a machine.
    #[arg(
        long = "limit",
        short = 'n',
        value_name = "NUMBER",
        default_value_t = 20
    )]
    limit: u32,
}

/// Show what was used, by day, conversation or model.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct UsageArgs {
    #[command(flatten)]
    client: ClientArgs,
    /// What one row stands for.
    #[arg(long, value_parser = ["day", "conversation", "model"], default_value = "day")]
    by: String,
    /// From this day on, such as 2026-01-31.
    #[arg(long, value_name = "DAY")]
    from: Option<String>,
    /// Up to this day.
    #[arg(long, value_name = "DAY")]
    until: Option<String>,
}

pub(super) async fn history(args: &HistoryArgs) -> anyhow::Result<ExitCode> {
    let mut session = Session::find(&args.client, &args.conversation).await?;
    if let Some(form) = args.export.export {
        return export::run(&mut session, form, &args.export, args.client.json).await;
    }
    let wanted = if args.all { usize::MAX } else { args.limit };
    let past = past::read(&mut session, wanted, args.before.map(Seq)).await?;
    if args.client.json {
        for entry in &past.entries {
            print_json(&past.marked(entry)?)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let mut printer = Printer::stdout();
    let mut view = View::default();
    let mut was_rewound = false;
    for entry in &past.entries {
        let is_rewound = past::seq(entry).is_some_and(|seq| past.is_rewound(seq));
        if is_rewound && !was_rewound {
            let mark = "──── taken back from here ────";
            printer.show(&[Piece::line(Tone::Dim, mark)])?;
        }
        was_rewound = is_rewound;
        printer.show(&past::show(&mut view, entry))?;
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn search(args: &SearchArgs) -> anyhow::Result<ExitCode> {
    let words = QueryText::parse(&args.words.join(" ")).context("the words")?;
    let (mut link, fleet) = Fleet::reach(&args.client).await?;
    let within = args.conversation.as_deref();
    let within = within.map(|text| fleet.conversation(text)).transpose()?;
    let machines: Vec<DeviceId> = match &within {
        Some(spot) => vec![spot.pylon],
        None => fleet.machines.iter().map(|machine| machine.id).collect(),
    };
    let mut hits = Vec::new();
    for machine in machines {
        let request = HistorySearch {
            conversation_id: within.as_ref().map(|spot| spot.conversation.clone()),
            limit: Some(args.limit.clamp(1, limits::MAX_SEARCH_HITS)),
            ..HistorySearch::new(words.clone())
        };
        hits.extend(link.ask(machine, request).await?.hits);
    }
    if args.client.json {
        for hit in &hits {
            print_json(hit)?;
        }
    } else {
        anstream::print!("{}", found(&hits, &fleet));
    }
    // As `grep` says it, so that a script can tell.
    let is_found = !hits.is_empty();
    Ok(if is_found {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn found(hits: &[SearchHit], fleet: &Fleet) -> String {
    let mut table = Table::default();
    for hit in hits {
        let when = IsoTime::from(hit.timestamp);
        let minute = when.as_str().get(..16).unwrap_or_default();
        let mark = if hit.rewound == Some(true) {
            "(rewound) "
        } else {
            ""
        };
        table.row([
            minute.replace('T', " "),
            title(fleet, &hit.conversation_id),
            format!("{mark}{}", hit.snippet),
        ]);
    }
    table.to_string()
}

pub(super) fn title(fleet: &Fleet, id: &ConversationId) -> String {
    let mut all = fleet.conversations();
    let found = all.find(|(_, _, conversation)| conversation.conversation_id == *id);
    found.map_or_else(
        || id.to_string(),
        |(_, workspace, conversation)| format!("{}/{}", workspace.name, conversation.name),
    )
}

pub(super) async fn usage(args: &UsageArgs) -> anyhow::Result<ExitCode> {
    let (mut link, fleet) = Fleet::reach(&args.client).await?;
    let mut table = Table::default();
    table.row(["", "COST", "READ", "WRITTEN", "CACHED"].map(str::to_owned));
    for machine in &fleet.machines {
        let (rows, limits) = all_usage(&mut link, machine.id, args).await?;
        if args.client.json {
            for row in &rows {
                print_json(row)?;
            }
            for limit in &limits {
                print_json(limit)?;
            }
            continue;
        }
        if fleet.machines.len() > 1 {
            table.note(&machine.name);
        }
        for row in &rows {
            table.row(cells(row, &fleet));
        }
        for limit in &limits {
            table.note(&window(limit));
        }
    }
    if !args.client.json {
        anstream::print!("{table}");
    }
    Ok(ExitCode::SUCCESS)
}

async fn all_usage(
    link: &mut Link,
    machine: DeviceId,
    args: &UsageArgs,
) -> anyhow::Result<(Vec<UsageRow>, Vec<PlanLimit>)> {
    let mut rows = Vec::new();
    let mut cursor = None;
    loop {
        let request = UsageRequest {
            from: args.from.clone(),
            until: args.until.clone(),
            cursor,
            ..UsageRequest::new(UsageGroup::from(args.by.as_str()))
        };
        let page = link.ask(machine, request).await?;
        rows.extend(page.rows);
        cursor = page.next_cursor;
        if cursor.is_none() {
            return Ok((rows, page.limits.unwrap_or_default()));
        }
    }
}

/// A window of the plan, in a line.
fn window(limit: &PlanLimit) -> String {
    let name = limit.window.replace('_', " ");
    let how = match &limit.status {
        LimitStatus::Allowed => "has room",
        LimitStatus::AllowedWarning => "is nearly used up",
        LimitStatus::Rejected => "is used up",
        LimitStatus::Unknown(word) => word,
    };
    let used = limit
        .utilization
        .map(|share| format!(", {:.0} % used", share * 100.0));
    let until = limit
        .resets_at
        .map(|at| format!(", begins anew at {}", IsoTime::from(at)));
    format!(
        "limit {name} {how}{}{}",
        used.unwrap_or_default(),
        until.unwrap_or_default()
    )
}

fn cells(row: &UsageRow, fleet: &Fleet) -> [String; 5] {
    let id = ConversationId::parse(&row.key).ok();
    let name = id.map_or_else(|| row.key.clone(), |id| title(fleet, &id));
    [
        name,
        format!("${:.2}", row.cost_usd),
        row.input_tokens.to_string(),
        row.output_tokens.to_string(),
        (row.cache_read_tokens + row.cache_creation_tokens).to_string(),
    ]
}
