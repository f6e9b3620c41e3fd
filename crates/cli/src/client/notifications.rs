//! `estelle notifications`: how devices are told, and what could not be delivered.

use std::process::ExitCode;

use clap::Args;
use estelle_proto::IsoTime;
use estelle_proto::notifications::{
    LostNotice, NotificationsRequest, NotificationsResult, PushSubscriptionInfo,
};

use super::failure::EXIT_CODES;
use super::fleet::Fleet;
use super::print_json;
use super::way::ClientArgs;
use crate::table::Table;

/// Show who is notified, what waits to be delivered, and what was given up.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct NotificationsArgs {
    #[command(flatten)]
    client: ClientArgs,
}

pub(super) async fn notifications(args: &NotificationsArgs) -> anyhow::Result<ExitCode> {
    let (mut link, fleet) = Fleet::reach(&args.client).await?;
    for machine in &fleet.machines {
        let told = link
            .ask(machine.id, NotificationsRequest::default())
            .await?;
        if args.client.json {
            print_json(&told)?;
            continue;
        }
        let mut table = Table::default();
        if fleet.machines.len() > 1 {
            table.note(&machine.name);
        }
        fill(&mut table, &told);
        anstream::print!("{table}");
    }
    Ok(ExitCode::SUCCESS)
}

fn fill(table: &mut Table, told: &NotificationsResult) {
    table.row(["WAY", "SINCE", "LAST DELIVERED", "LAST FAILURE"].map(str::to_owned));
    for way in &told.subscriptions {
        table.row(subscription(way));
    }
    if told.has_webhook {
        table.row(["webhook", "", "", ""].map(str::to_owned));
    }
    if told.subscriptions.is_empty() && !told.has_webhook {
        table
            .note("nobody is notified: allow notifications in the web app, or configure a webhook");
    }
    if told.waiting > 0 {
        table.note(&format!("{} still to be delivered", told.waiting));
    }
    for lost in &told.lost {
        table.note(&given_up(lost));
    }
}

fn subscription(way: &PushSubscriptionInfo) -> [String; 4] {
    let moment = |at: Option<_>| at.map_or_else(String::new, minute);
    let failure = way
        .error
        .as_ref()
        .map(|error| format!("{} {error}", moment(way.failed_at)));
    [
        way.service.clone(),
        minute(way.made_at),
        moment(way.delivered_at),
        failure.unwrap_or_default(),
    ]
}

fn given_up(lost: &LostNotice) -> String {
    let tries = if lost.attempts == 1 { "try" } else { "tries" };
    format!(
        "given up {}: {} to {} after {} {tries}: {}",
        minute(lost.at),
        lost.kind,
        lost.service,
        lost.attempts,
        lost.error
    )
}

fn minute(at: estelle_proto::Timestamp) -> String {
    let when = IsoTime::from(at);
    when.as_str()
        .get(..16)
        .unwrap_or_default()
        .replace('T', " ")
}
