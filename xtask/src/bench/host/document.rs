//! The figures of the host as text: tables for the terminal and for `docs/performance.md`.

use std::fmt::Write as _;

use serde_json::Value;

use super::super::measured::{Measured, short};
use super::figures::{Figures, Latencies, measured};

const INTRODUCTION: &str = "\
# Performance of the host

Made by `cargo xtask bench host`; do not edit. Absolute figures depend on the machine and on what else it does; what
stands beside ours comes from the same run. A figure is a median with [least-most] where it was taken several times.
Where the load was higher than the number of cores, every time and rate below is mostly waiting for other programs, the
bare readers' as well; processor time and memory still count.
";

const METHOD: &str = "
## How the host is measured

The host is the real program in a process of its own, the CLI behind it the simulator. A run that did not deliver
every delta, in order, is an error.

- The simulator stamps each delta with the time at which it is made; it prints one every two milliseconds, so nothing
  queues up. \"Bare pipe\" is a loop that reads the simulator's output and finds the stamp; \"bare journal\" the same
  on a file, woken by the kernel when the file changes. The host reads the same kind of file, so what it adds itself is
  the difference to the bare journal. \"Same core\" pins the CLI, the host and its client to one core; \"two cores\"
  gives the CLI its own.
- Conversations without a process have a log of ten turns each. Live ones have a simulated CLI and a shim each, one turn
  behind them, and a client that follows all of them. RSS counts the program's own pages; PSS shares them among the
  processes that have them, and all shims are the same program.
- At full speed every CLI prints as fast as it can and one client follows all of them; \"nobody reads\" are the same
  CLIs writing to plain files. Processor time is of the host's process alone.
- After a kill: from the start of the new process to the first live delta at a new client, with all runs attached.
- A record is 400 bytes. \"Bare file\" only writes them. \"Event\" is what a line of the agent becomes: decided by the
  machine, written as JSON, hashed, appended, and made ready for clients. Synced appends wait for the disk each time;
  the host does so only before it promises something.
- The data of the many conversations is in memory, because hundreds of reserves of 16 MiB would fill a small disk.
";

/// All tables.
pub(crate) fn tables(figures: &Figures) -> String {
    let mut text = String::new();
    latency(&mut text, figures);
    rest(&mut text, figures);
    speed(&mut text, figures);
    kills(&mut text, figures);
    log(&mut text, figures);
    judged(&mut text, figures);
    text
}

/// The whole part of the page.
pub(crate) fn whole(machine: &str, tables: &str) -> String {
    format!("{INTRODUCTION}\n{machine}\n{tables}{METHOD}")
}

/// A number somewhere in a run.
fn number(run: &Value, pointer: &str) -> Option<f64> {
    run.pointer(pointer)?.as_f64()
}

fn at(pointer: &'static str) -> impl Fn(&Value) -> Option<f64> {
    move |run| number(run, pointer)
}

/// A number in another unit.
fn scaled(pointer: &'static str, factor: f64) -> impl Fn(&Value) -> Option<f64> {
    move |run| Some(number(run, pointer)? * factor)
}

/// The kernel's kB are of 1024 bytes.
const MEGABYTES: f64 = 1024.0 / 1e6;
const MILLISECONDS: f64 = 1e-3;

fn cell(measured: Option<Measured>) -> String {
    match measured {
        Some(one) if one.least.total_cmp(&one.most).is_eq() => short(one.median),
        Some(several) => several.to_string(),
        None => "-".to_owned(),
    }
}

fn median(runs: &[Value], figure: impl Fn(&Value) -> Option<f64>) -> f64 {
    measured(runs, figure).map_or(f64::NAN, |measured| measured.median)
}

fn latency(text: &mut String, figures: &Figures) {
    text.push_str(
        "## From a line of the CLI to its reader, microseconds\n\n\
         | reader | same core p50 | p99 | two cores p50 | p99 |\n|---|---|---|---|---|\n",
    );
    let names = ["bare pipe", "bare journal", "**a client of the host**"];
    for (nth, name) in names.into_iter().enumerate() {
        let _ = write!(text, "| {name}");
        for runs in [&figures.same_core[nth], &figures.two_cores[nth]] {
            for pointer in ["/p50_us", "/p99_us"] {
                let _ = write!(text, " | {}", cell(measured(runs, at(pointer))));
            }
        }
        text.push_str(" |\n");
    }
    text.push('\n');
}

fn rest(text: &mut String, figures: &Figures) {
    text.push_str(
        "## A host at rest\n\n\
         | conversations | RSS MB | of it its own | of it pages of files | PSS MB | CPU ms per second | wake-ups per second \
         | start ms |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    let plan = figures.plan;
    let logs = [0, plan.some, plan.many].into_iter().zip(&figures.logs);
    for (count, run) in logs {
        row_at_rest(text, &format!("{count}, no process"), run, "");
    }
    for (count, run) in [plan.some, plan.many].into_iter().zip(&figures.live) {
        row_at_rest(text, &format!("{count} with a live process"), run, "/rest");
    }
    let Some(most) = figures.live.last() else {
        return;
    };
    let each = |pointer| {
        let (sum, count) = (number(most, pointer), number(most, "/live"));
        sum.zip(count).map_or(f64::NAN, |(sum, count)| sum / count)
    };
    let _ = writeln!(
        text,
        "\nEach live conversation has a shim of {} kB (PSS) besides; the simulated CLI itself takes {} kB.\n",
        short(each("/shims_pss_kb")),
        short(each("/clis_pss_kb"))
    );
}

fn row_at_rest(text: &mut String, name: &str, run: &Value, below: &str) {
    let get = |figure: &str| number(run, &format!("{below}/{figure}")).unwrap_or(f64::NAN);
    let seconds = get("seconds");
    let start = number(run, "/start_us").map(|start| short(start * MILLISECONDS));
    let _ = writeln!(
        text,
        "| {name} | {} | {} | {} | {} | {} | {} | {} |",
        short(get("rss_kb") * MEGABYTES),
        short(get("anonymous_kb") * MEGABYTES),
        short(get("mapped_kb") * MEGABYTES),
        short(get("pss_kb") * MEGABYTES),
        short(get("cpu_ns") / 1e6 / seconds),
        short(get("sleeps") / seconds),
        start.as_deref().unwrap_or("-"),
    );
}

fn speed(text: &mut String, figures: &Figures) {
    let Some(run) = figures.live.last() else {
        return;
    };
    let get = |figure: &str| number(run, &format!("/streaming/{figure}")).unwrap_or(f64::NAN);
    let deltas = get("deltas");
    let bare = median(&figures.unread, |run| {
        Some(number(run, "/deltas")? / number(run, "/wall_us")? * 1e3)
    });
    let _ = write!(
        text,
        "## {} conversations at full speed, {} deltas each\n\n\
         | | 1000 lines/s | CPU s per million lines | max RSS MB | RSS MB afterwards |\n|---|---|---|---|---|\n\
         | the same CLIs, nobody reads | {} | - | - | - |\n\
         | **through the host to a client** | {} | {} | {} | {} |\n\n",
        figures.plan.streams,
        figures.plan.flood,
        short(bare),
        short(deltas / get("wall_us") * 1e3),
        short(get("cpu_seconds") / deltas * 1e6),
        short(get("peak_kb") * MEGABYTES),
        short(number(run, "/after/rss_kb").unwrap_or(f64::NAN) * MEGABYTES),
    );
}

/// The restarts of the host with the most runs.
fn restarts(figures: &Figures) -> &[Value] {
    let kills = figures.live.last().and_then(|run| run["kills"].as_array());
    kills.map_or(&[], Vec::as_slice)
}

fn kills(text: &mut String, figures: &Figures) {
    let kills = restarts(figures);
    let _ = write!(
        text,
        "## The host killed and started again over {} live runs, milliseconds\n\n\
         | ready for clients | first live delta at a client | all runs attached |\n|---|---|---|\n\
         | {} | {} | {} |\n\n",
        figures.plan.many,
        cell(measured(kills, scaled("/ready_us", MILLISECONDS))),
        cell(measured(kills, scaled("/heard_us", MILLISECONDS))),
        cell(measured(kills, scaled("/attached_us", MILLISECONDS))),
    );
}

fn log(text: &mut String, figures: &Figures) {
    text.push_str(
        "## The log\n\n| appends | 1000 records/s | records/s, each synced |\n|---|---|---|\n",
    );
    let runs = &figures.append;
    for (name, plain, synced) in [
        ("bare file", "/bare", Some("/bare_synced")),
        (
            "**log, checksummed and chained**",
            "/log",
            Some("/log_synced"),
        ),
        (
            "**event, from the machine to the client's line**",
            "/book",
            None,
        ),
    ] {
        let synced = synced.and_then(|pointer| measured(runs, at(pointer)));
        let plain = cell(measured(runs, scaled(plain, 1e-3)));
        let _ = writeln!(text, "| {name} | {plain} | {} |", cell(synced));
    }
    text.push_str(
        "\n| a log of | MB | opened in ms | CPU ms | reading the file alone | kept in memory, MB |\n|---|---|---|---|---|---|\n",
    );
    for runs in [&figures.open, &figures.open_long] {
        let _ = writeln!(
            text,
            "| {} events | {} | {} | {} | {} | {} |",
            median(runs, at("/events")),
            short(median(runs, scaled("/bytes", 1e-6))),
            cell(measured(runs, scaled("/open_us", MILLISECONDS))),
            cell(measured(runs, scaled("/open_cpu_us", MILLISECONDS))),
            cell(measured(runs, scaled("/read_us", MILLISECONDS))),
            cell(measured(runs, scaled("/kept_kb", MEGABYTES))),
        );
    }
    let _ = writeln!(
        text,
        "\nA host over {} conversations of {} events each is ready in {} ms (CPU: {} ms) and has {} MB (RSS).\n",
        figures.plan.many,
        figures.plan.past,
        cell(measured(&figures.start, scaled("/start_us", MILLISECONDS))),
        cell(measured(&figures.start, scaled("/cpu_seconds", 1e3))),
        cell(measured(&figures.start, scaled("/rss_kb", MEGABYTES))),
    );
}

/// What the host adds to a bare pipe, in milliseconds.
fn added(runs: &Latencies, pointer: &'static str) -> f64 {
    let [pipe, _, host] = runs;
    (median(host, at(pointer)) - median(pipe, at(pointer))) * MILLISECONDS
}

fn judged(text: &mut String, figures: &Figures) {
    text.push_str("## Targets of the host\n\n| what | wanted | reached | |\n|---|---|---|---|\n");
    let both = |pointer| added(&figures.same_core, pointer).max(added(&figures.two_cores, pointer));
    let resident = |runs: &[Value], nth: usize, pointer| {
        let run = runs.get(nth).and_then(|run| number(run, pointer));
        run.map_or(f64::NAN, |kb| kb * MEGABYTES)
    };
    let opened = median(&figures.open, scaled("/open_us", MILLISECONDS));
    let heard = median(restarts(figures), scaled("/heard_us", MILLISECONDS));
    for (what, wanted, unit, reached) in [
        (
            "added to a bare pipe, p50, the worse placement",
            1.0,
            "ms",
            both("/p50_us"),
        ),
        (
            "added to a bare pipe, p99, the worse placement",
            5.0,
            "ms",
            both("/p99_us"),
        ),
        (
            "50 conversations without a process",
            15.0,
            "MB",
            resident(&figures.logs, 1, "/rss_kb"),
        ),
        (
            "50 live conversations",
            15.0,
            "MB",
            resident(&figures.live, 0, "/rest/rss_kb"),
        ),
        (
            "host killed over 200 runs, first live delta",
            1000.0,
            "ms",
            heard,
        ),
        ("a log of 100,000 events opened", 1000.0, "ms", opened),
        (
            "a host over 200 conversations of 5,000 events started",
            1000.0,
            "ms",
            median(&figures.start, scaled("/start_us", MILLISECONDS)),
        ),
    ] {
        let verdict = if reached <= wanted {
            "met"
        } else {
            "**not met**"
        };
        let reached = short(reached);
        let _ = writeln!(
            text,
            "| {what} | at most {wanted} {unit} | {reached} {unit} | {verdict} |"
        );
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_the_host_adds_is_beyond_the_pipe() {
        let run = |p50: u64| vec![json!({"p50_us": p50})];
        let runs = [run(100), run(150), run(400)];
        assert!((added(&runs, "/p50_us") - 0.3).abs() < 1e-9);
    }

    #[test]
    fn a_figure_that_is_missing_is_a_dash() {
        let runs = [json!({"a": 1}), json!({})];
        assert_eq!(cell(measured(&runs, at("/a"))), "-");
        assert_eq!(cell(measured(&runs[..1], at("/a"))), "1.00");
    }
}
