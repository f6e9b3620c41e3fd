//! The figures of the relay as text: tables for the terminal and for `docs/performance.md`.

use serde_json::Value;

use super::super::cells::{
    MEGABYTES, Target, Wanted, cell, figure, head, ratio, row, targets, times,
};
use super::figures::{Candidate, Figures, RATE, Rows, of};

const INTRODUCTION: &str = "\
# Performance of the relay

Made by `cargo xtask bench relay`; do not edit. The ratios are what counts: all candidates took turns in one run. A
figure is a median with [least-most]. A difference of less than 1.5x between ranges that overlap means nothing. Where
the load was higher than the number of cores, times and rates are mostly waiting for other programs; processor time and
memory still count.
";

const METHOD: &str = "
## How the relay is measured

Each relay is a process of its own, its clients are in another, over the loopback; messages have 400 bytes. Ours is the
real program with its limits, its rights and its registry. `ws` is the relay that most people would write
(`bench/relay/relay.mjs`): it parses each message, puts the sender in and writes it out again, and checks nothing.
\"Frames passed on unread\" is the least that any relay must do on one thread: no addresses, no names, no limits. A run
that did not deliver every message is an error.

- A round trip passes the relay twice, between two clients in one thread. \"Same core\" pins both processes to one core;
  \"two cores\" gives each its own.
- At full speed the sender is at most 1000 messages ahead of the slowest receiver. Where the relay was less busy than
  100 %, the clients were the limit and only processor time compares.
- \"Written per receiver\" is the obvious code taken literally: `JSON.stringify` for every receiver.
- Idle connections are devices of households of 50, and have joined. What the kernel holds for a socket is not counted.
- Joining: everybody in the realm is told who is there. The Node relay tells everybody at each join; ours tells changes
  together, and less often the larger the realm is.
- The stalled client reads nothing at all, beside one that reads. Memory is what the relay grew by while messages were
  sent. \"Alone\" is the same without the stalled client.
- uWebSockets.js is not on npm and so not measured.
";

fn name(candidate: Candidate) -> String {
    match candidate {
        Candidate::WsEach => "`ws`, written per receiver",
        Candidate::Ws => "`ws`",
        Candidate::WsStatus => "`ws`, told at each join",
        Candidate::Ours => "**ours**",
        Candidate::Floor => "frames passed on unread",
    }
    .to_owned()
}

/// Where every join tells everybody, one of 2,000 costs more than six times as much as one of 300.
const NOT_QUADRATIC: f64 = 2.0;
/// Less of a difference means nothing.
const NOT_DELAYED: f64 = 1.5;

/// All tables.
pub(crate) fn tables(figures: &Figures) -> String {
    let mut text = String::new();
    round_trips(&mut text, figures);
    fan_out(&mut text, figures);
    crowds(&mut text, figures);
    stalled(&mut text, figures);
    judged(&mut text, figures);
    text
}

/// The whole part of the page.
pub(crate) fn whole(machine: &str, tables: &str) -> String {
    format!("{INTRODUCTION}\n{machine}\n{tables}{METHOD}")
}

const CPU_HOP: &str = "/cpu_us_per_hop";
const CPU_DELIVERY: &str = "/cpu_s_per_million";
const P50: &str = "/p50_us";
const P99: &str = "/p99_us";
const EACH: &str = "/kb_each";
const JOIN: &str = "/cpu_ms_each";

fn round_trips(text: &mut String, figures: &Figures) {
    let title = format!(
        "Round trip, {} in a row, microseconds",
        figures.plan.round_trips
    );
    let columns = [
        "relay",
        "same core p50",
        "p99",
        "CPU per hop",
        "less CPU than `ws`",
        "two cores p50",
        "p99",
        "CPU per hop",
    ];
    head(text, &title, &columns);
    let ws = of(&figures.same_core, Candidate::Ws);
    for (who, same) in &figures.same_core {
        let two = of(&figures.two_cores, *who);
        row(
            text,
            &[
                name(*who),
                cell(same, P50, 1.0),
                cell(same, P99, 1.0),
                cell(same, CPU_HOP, 1.0),
                times(ws, same, CPU_HOP),
                cell(two, P50, 1.0),
                cell(two, P99, 1.0),
                cell(two, CPU_HOP, 1.0),
            ],
        );
    }
    text.push('\n');
}

fn fan_out(text: &mut String, figures: &Figures) {
    let title = format!(
        "One to {}, relay and clients on a core each",
        figures.plan.clients
    );
    let paced = format!("at {RATE} messages/s: CPU s per million");
    let columns = [
        "relay",
        "1000 deliveries/s",
        "relay busy, %",
        "CPU s per million",
        "less than `ws`",
        &paced,
        "less than `ws`",
    ];
    head(text, &title, &columns);
    for (who, flood) in &figures.flood {
        let paced = of(&figures.paced, *who);
        row(
            text,
            &[
                name(*who),
                cell(flood, "/deliveries_per_s", 1e-3),
                cell(flood, "/busy", 100.0),
                cell(flood, CPU_DELIVERY, 1.0),
                times(of(&figures.flood, Candidate::Ws), flood, CPU_DELIVERY),
                cell(paced, CPU_DELIVERY, 1.0),
                times(of(&figures.paced, Candidate::Ws), paced, CPU_DELIVERY),
            ],
        );
    }
    text.push('\n');
}

fn crowds(text: &mut String, figures: &Figures) {
    let plan = figures.plan;
    let title = format!("{} idle connections", plan.connections);
    head(text, &title, &["relay", "KB each", "RSS MB with all"]);
    for (who, runs) in &figures.idle {
        let cells = [
            name(*who),
            cell(runs, EACH, 1.024),
            cell(runs, "/rss_kb", MEGABYTES),
        ];
        row(text, &cells);
    }
    text.push('\n');
    head(
        text,
        "Joining one realm",
        &["relay", "connections", "CPU ms each"],
    );
    for (rows, count) in [
        (&figures.join, plan.joins),
        (&figures.many, plan.many_joins),
    ] {
        for (who, runs) in rows {
            row(
                text,
                &[name(*who), count.to_string(), cell(runs, JOIN, 1.0)],
            );
        }
    }
    text.push('\n');
}

fn stalled(text: &mut String, figures: &Figures) {
    let title = format!(
        "{} messages beside a client that does not read",
        figures.plan.stalled
    );
    let columns = [
        "relay",
        "grown by, MB",
        "at most, MB",
        "the other client p50 µs",
        "p99 µs",
        "worst µs",
        "alone p50 µs",
        "p99 µs",
    ];
    head(text, &title, &columns);
    for (who, runs) in &figures.stalled {
        row(
            text,
            &[
                name(*who),
                cell(runs, "/grown_kb", MEGABYTES),
                cell(runs, "/peak_grown_kb", MEGABYTES),
                cell(runs, P50, 1.0),
                cell(runs, P99, 1.0),
                cell(runs, "/max_us", 1.0),
                cell(of(&figures.alone, *who), P50, 1.0),
                cell(of(&figures.alone, *who), P99, 1.0),
            ],
        );
    }
    text.push('\n');
}

fn judged(text: &mut String, figures: &Figures) {
    use Candidate::{Floor, Ours, Ws};
    let (hop, delivery) = (CPU_HOP, CPU_DELIVERY);
    let compared = [
        (
            "round trip, same core, p50",
            &figures.same_core,
            P50,
            2.0,
            1.25,
        ),
        ("processor time per hop", &figures.same_core, hop, 4.0, 1.5),
        (
            "processor time of fan-out at full speed",
            &figures.flood,
            delivery,
            15.0,
            1.8,
        ),
        (
            "processor time of fan-out at a pace",
            &figures.paced,
            delivery,
            2.0,
            1.4,
        ),
    ];
    let mut list = Vec::new();
    for (what, rows, pointer, less, beyond) in compared {
        list.push(Target {
            what: format!("{what}, less than `ws`"),
            wanted: Wanted::AtLeast(less),
            reached: ratio(of(rows, Ws), of(rows, Ours), pointer),
            unit: "x",
        });
        list.push(Target {
            what: format!("{what}, of frames passed on unread"),
            wanted: Wanted::AtMost(beyond),
            reached: ratio(of(rows, Ours), of(rows, Floor), pointer),
            unit: "x",
        });
    }
    let at_most = |what: &str, rows: &Rows, (pointer, factor), limit, unit| Target {
        what: what.to_owned(),
        wanted: Wanted::AtMost(limit),
        reached: figure(of(rows, Ours), pointer, factor).map(|figure| figure.median),
        unit,
    };
    let (each, grown) = ((EACH, 1.024), ("/peak_grown_kb", MEGABYTES));
    list.push(at_most("idle connection", &figures.idle, each, 8.0, " KB"));
    let against = |what: String, (one, other): (&[Value], &[Value]), pointer, limit| Target {
        what,
        wanted: Wanted::AtMost(limit),
        reached: ratio(one, other, pointer),
        unit: "x",
    };
    let idle = (of(&figures.idle, Ours), of(&figures.idle, Floor));
    let what = "idle connection, of frames passed on unread";
    list.push(against(what.to_owned(), idle, EACH, 1.2));
    let (some, many) = (figures.plan.joins, figures.plan.many_joins);
    let joins = (of(&figures.many, Ours), of(&figures.join, Ours));
    let what = format!("joining, one of {many}, of one of {some}");
    list.push(against(what, joins, JOIN, NOT_QUADRATIC));
    let what = "stalled client";
    list.push(at_most(what, &figures.stalled, grown, 2.0, " MB"));
    let others = (of(&figures.stalled, Ours), of(&figures.alone, Ours));
    let what = "the client beside it, p99, of being alone";
    list.push(against(what.to_owned(), others, P99, NOT_DELAYED));
    targets(text, "Targets of the relay", &list);
}
