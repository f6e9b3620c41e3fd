//! The figures as text: tables for the terminal and for `docs/performance.md`.

use std::fmt::Write as _;

use super::consumers::{Consumer, Run};
use super::measured::{Measured, short};
use super::rounds::{Figures, Row};
use super::targets::{self, cpu_per_million, median};

const INTRODUCTION: &str = "\
# Performance of the SDK

Made by `cargo xtask bench sdk`; do not edit. Absolute figures depend on the machine and on what else it does; the
ratios are what counts, and they come from one run with all the peers. A difference of less than 1.5x between rows
whose ranges overlap means nothing.
";

const METHOD: &str = "
## How it is measured

All consumers talk to the same stand-in for the CLI, `estelle-replay`, which prints the same bytes to each: lines of 288
bytes like the streaming deltas of the real CLI, a thousand to a model response, between the lines that stand around
them. The consumers take turns; each figure is a median with [least-most]. A run that did not deliver every line, or
answer every permission, is an error.

- Time and processor time are of the consumer's process alone (not of the replayer), from right before the
  conversation is started to its result. Loading the program is not counted.
- Memory is the most that was ever resident in the consumer's process.
- The permission round trip is timed in the replayer, from before its write to after its read, one request after the
  other. \"Same core\" pins both processes to one core, helper threads included; \"two cores\" gives each its own.
- `typed` is our session with every message decoded into its type; `peek` the same session read as raw lines, with a
  look at each line's type. `serde_json Value` and `read + memchr` are no SDKs: a loop that parses each line into a
  tree, and one that only finds the ends of lines.
- A target that the blocking loop itself misses cannot be reached on that machine; the loop's own figure stands beside
  ours there. The loop answers with string operations: it neither checks the request nor runs a callback, and waits in
  the read itself, where an asynchronous runtime asks the system once more per message.
";

/// All tables.
pub(crate) fn tables(figures: &Figures) -> String {
    let mut text = String::new();
    stream(&mut text, figures);
    permissions(&mut text, figures);
    idle(&mut text, figures);
    judged(&mut text, figures);
    text
}

/// The whole document.
pub(crate) fn whole(machine: &str, tables: &str) -> String {
    format!("{INTRODUCTION}\n{machine}\n{tables}{METHOD}")
}

fn name(consumer: Consumer) -> &'static str {
    match consumer {
        Consumer::Python => "Python SDK",
        Consumer::TypeScript => "TypeScript SDK",
        Consumer::Typed => "**ours, typed**",
        Consumer::Peek => "**ours, peek**",
        Consumer::Value => "serde_json Value",
        Consumer::Memchr => "read + memchr",
        Consumer::Blocking => "blocking loop",
    }
}

fn cell(runs: &[Run], figure: fn(&Run) -> f64) -> String {
    Measured::of(runs.iter().map(figure))
        .map_or_else(|| "-".to_owned(), |measured| measured.to_string())
}

/// How many times less than the TypeScript SDK.
fn gain(rows: &[Row], consumer: Consumer, figure: fn(&Run) -> f64) -> String {
    match (
        median(rows, Consumer::TypeScript, figure),
        median(rows, consumer, figure),
    ) {
        (Some(peer), Some(ours)) => format!("{}x", short(peer / ours)),
        _ => "-".to_owned(),
    }
}

fn stream(text: &mut String, figures: &Figures) {
    let kilo_lines = |run: &Run| run.messages / run.wall_seconds / 1e3;
    for (rows, title) in [
        (&figures.blocks, "in writes of 64 KiB"),
        (&figures.lines, "one write per line"),
    ] {
        let deltas = figures.plan.deltas;
        let _ = write!(
            text,
            "## Stream of {deltas} deltas, {title}\n\n\
             | consumer | 1000 lines/s | CPU s per million lines | less CPU than TypeScript | max RSS MB |\n\
             |---|---|---|---|---|\n"
        );
        for (consumer, runs) in rows {
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} |",
                name(*consumer),
                cell(runs, kilo_lines),
                cell(runs, cpu_per_million),
                gain(rows, *consumer, cpu_per_million),
                cell(runs, |run| run.peak_megabytes),
            );
        }
        text.push('\n');
    }
}

fn permissions(text: &mut String, figures: &Figures) {
    let asked = figures.plan.permissions;
    let _ = write!(
        text,
        "## Permission round trip, {asked} in a row, microseconds\n\n\
         | consumer | same core p50 | p99 | faster than TypeScript | two cores p50 | p99 | faster than TypeScript |\n\
         |---|---|---|---|---|---|---|\n"
    );
    for ((consumer, same), (_, two)) in figures.same_core.iter().zip(&figures.two_cores) {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} |",
            name(*consumer),
            cell(same, |run| run.p50_microseconds),
            cell(same, |run| run.p99_microseconds),
            gain(&figures.same_core, *consumer, |run| run.p50_microseconds),
            cell(two, |run| run.p50_microseconds),
            cell(two, |run| run.p99_microseconds),
            gain(&figures.two_cores, *consumer, |run| run.p50_microseconds),
        );
    }
    text.push('\n');
}

fn idle(text: &mut String, figures: &Figures) {
    let sessions = figures.plan.sessions;
    let _ = write!(
        text,
        "## {sessions} idle conversations in one process\n\n\
         | consumer | RSS MB before the first | RSS MB with all | milliseconds per start |\n|---|---|---|---|\n"
    );
    for (consumer, runs) in &figures.idle {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} |",
            name(*consumer),
            cell(runs, |run| run.base_megabytes),
            cell(runs, |run| run.resident_megabytes),
            // Two messages for each conversation.
            cell(runs, |run| run.wall_seconds * 1e3 / (run.messages / 2.0)),
        );
    }
    text.push('\n');
}

fn judged(text: &mut String, figures: &Figures) {
    text.push_str("## Targets\n\n| what | wanted | reached | |\n|---|---|---|---|\n");
    for target in targets::judge(figures) {
        let verdict = if target.met { "met" } else { "**not met**" };
        let _ = writeln!(
            text,
            "| {} | {} | {} | {verdict} |",
            target.what, target.wanted, target.reached
        );
    }
}
