//! The figures from end to end as text: tables for the terminal and for `docs/performance.md`.

use super::super::cells::{MEGABYTES, Target, Wanted, cell, figure, head, row, targets};
use super::super::measured::short;
use super::figures::{Figures, Pair};
use crate::setup::NEWEST_CLI;

const INTRODUCTION: &str = "\
# Performance from end to end

Made by `cargo xtask bench e2e`; do not edit. A figure is a median with [least-most] over rounds in turns. Where the load
was higher than the number of cores, times are mostly waiting for other programs: everything together is five processes,
the bare CLI two.
";

const METHOD: &str = "
## How it is measured from end to end

\"Behind everything\" is `estelle up` as users run it: relay and Pylon in one process, the host in another, the CLI below
it; the app is a client over the loopback that reads every message as its type. \"Bare\" is the same CLI on two pipes. The
CLI has answered before, so that its start is in neither figure. The real CLI speaks to a scripted Messages API on the
same machine, which answers at once.

- First delta: from before the prompt is sent to the first piece of text. A message is on the disk before it is
  acknowledged and handed to the CLI, so a slow or busy disk is in the figure; with all data in memory it is not.
- The simulator stamps each delta with the time at which it is made, one every two milliseconds.
- To the screen: the same stamps, a hundred pieces a second, read in Chromium after each frame in which the page shows
  them. Half a frame is waited for on average, whatever the app does; the distance of frames stands beside.
- Memory is of relay, Pylon and host, without the CLIs and their shims. PSS shares the pages of the program among its
  processes. Five conversations have a live CLI each and have answered several times.
- After a kill: from the start of the new process (or, for the host, which `estelle up` starts again, from the kill) to
  the next live delta at the app, which reconnects as apps do.
";

const P50: &str = "/p50_ms";

/// All tables.
pub(crate) fn tables(figures: &Figures) -> String {
    let mut text = String::new();
    first_deltas(&mut text, figures);
    stream(&mut text, figures);
    screen(&mut text, figures);
    rest(&mut text, figures);
    judged(&mut text, figures);
    text
}

/// The whole part of the page.
pub(crate) fn whole(machine: &str, tables: &str) -> String {
    format!("{INTRODUCTION}\n{machine}\n{tables}{METHOD}")
}

/// What everything adds to the bare CLI.
fn added(pair: &Pair, pointer: &str) -> Option<f64> {
    let median = |runs| figure(runs, pointer, 1.0).map(|figure| figure.median);
    Some(median(&pair.whole)? - median(&pair.bare)?)
}

fn added_cell(pair: &Pair, pointer: &str) -> String {
    added(pair, pointer).map_or_else(|| "-".to_owned(), short)
}

fn first_deltas(text: &mut String, figures: &Figures) {
    let columns = [
        "CLI",
        "bare p50",
        "p99",
        "behind everything p50",
        "p99",
        "added p50",
    ];
    head(
        text,
        "From a prompt to the first delta, milliseconds",
        &columns,
    );
    let plan = figures.plan;
    let real = figures.real.as_ref().map(|real| {
        (
            format!("real, {NEWEST_CLI}, {} prompts", plan.real_prompts),
            real,
        )
    });
    let simulated = (
        format!("simulator, {} prompts", plan.prompts),
        &figures.simulated,
    );
    let in_memory = ("the same, data in memory".to_owned(), &figures.in_memory);
    for (name, pair) in [simulated, in_memory].into_iter().chain(real) {
        pair_row(text, name, pair, 1.0);
    }
    text.push('\n');
}

fn pair_row(text: &mut String, name: String, pair: &Pair, factor: f64) {
    row(
        text,
        &[
            name,
            cell(&pair.bare, P50, factor),
            cell(&pair.bare, "/p99_ms", factor),
            cell(&pair.whole, P50, factor),
            cell(&pair.whole, "/p99_ms", factor),
            added_cell(pair, P50),
        ],
    );
}

fn stream(text: &mut String, figures: &Figures) {
    let title = "From a line of the CLI to its event at the app, milliseconds";
    let columns = [
        "stream",
        "bare p50",
        "p99",
        "behind everything p50",
        "p99",
        "added p50",
    ];
    head(text, title, &columns);
    let name = format!("{} deltas", figures.plan.deltas);
    pair_row(text, name, &figures.stream, 1.0);
    text.push('\n');
}

fn screen(text: &mut String, figures: &Figures) {
    let title = "From a line of the CLI to the screen of a browser, milliseconds";
    head(text, title, &["page", "p50", "p99", "a frame, p50"]);
    for (name, size) in [("desk, 1280x800", "desk"), ("phone, 390x844", "phone")] {
        let at = |figure: &str| cell(&figures.screen, &format!("/{size}/{figure}"), 1.0);
        let cells = [name.to_owned(), at("p50_ms"), at("p99_ms"), at("frame_ms")];
        row(text, &cells);
    }
    text.push('\n');
}

fn rest(text: &mut String, figures: &Figures) {
    let columns = [
        "",
        "relay and Pylon, RSS MB",
        "host, RSS MB",
        "both, RSS MB",
        "both, PSS MB",
    ];
    head(text, "Memory", &columns);
    for (name, when) in [("nothing to do", "idle"), ("five conversations", "few")] {
        let at = |figure: &str| cell(&figures.memory, &format!("/{when}/{figure}"), MEGABYTES);
        let cells = [
            name.to_owned(),
            at("up_rss_kb"),
            at("host_rss_kb"),
            at("rss_kb"),
            at("pss_kb"),
        ];
        row(text, &cells);
    }
    text.push('\n');
    let columns = ["killed in the middle of an answer", "p50", "worst"];
    head(
        text,
        "Killed, and live again at the app, milliseconds",
        &columns,
    );
    for (name, what) in [("relay and Pylon", "up"), ("host", "host")] {
        let at = |figure: &str| cell(&figures.restart, &format!("/{what}/{figure}"), 1.0);
        row(text, &[name.to_owned(), at("p50_ms"), at("max_ms")]);
    }
    text.push('\n');
}

fn judged(text: &mut String, figures: &Figures) {
    let median = |runs, pointer, factor| figure(runs, pointer, factor).map(|figure| figure.median);
    let memory = |pointer| median(&figures.memory, pointer, MEGABYTES);
    let restart = |pointer| median(&figures.restart, pointer, 1.0);
    let real = figures.real.as_ref().and_then(|real| added(real, P50));
    let target = |what: &str, limit, reached, unit| Target {
        what: what.to_owned(),
        wanted: Wanted::AtMost(limit),
        reached,
        unit,
    };
    let list = [
        target(
            "first delta, added to the bare simulator",
            10.0,
            added(&figures.simulated, P50),
            " ms",
        ),
        target("first delta, added to the bare real CLI", 10.0, real, " ms"),
        target(
            "relay and Pylon killed, live again",
            1000.0,
            restart("/up/max_ms"),
            " ms",
        ),
        target(
            "host killed, live again",
            1000.0,
            restart("/host/max_ms"),
            " ms",
        ),
        target(
            "relay, Pylon and host with nothing to do",
            30.0,
            memory("/idle/rss_kb"),
            " MB",
        ),
        target(
            "the same with five conversations",
            50.0,
            memory("/few/rss_kb"),
            " MB",
        ),
    ];
    targets(text, "Targets from end to end", &list);
}
