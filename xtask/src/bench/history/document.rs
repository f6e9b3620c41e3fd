//! The figures of the store as text: tables for the terminal and for `docs/performance.md`.

use super::super::cells::{Target, Wanted, cell, figure, head, ratio, row, targets, times};
use super::figures::Figures;

const INTRODUCTION: &str = "\
# Performance of the history

Made by `cargo xtask bench history`; do not edit. The engine is SQLite on both sides; what differs is what is asked of it
and what becomes of the rows. A figure is a median with [least-most] of the medians of several rounds in turns. Where the
load was higher than the number of cores, times are mostly waiting for other programs, on all sides.
";

const METHOD: &str = "
## How the history is measured

Both databases hold the same texts of about 600 bytes with a full-text index, in one long conversation beside one of a
hundred entries; the cache is warm. The one on Node (`bench/history/history.mjs`) has a table of messages, an index by
conversation and number, FTS5, WAL, and 64 MB of page cache; ours has 8 MB for each reader.

- Ours is asked as the Pylon asks it: a request to a reader's thread and its typed answer, every entry decoded. \"Plain
  rusqlite\" is our database on the calling thread, rows as text and nothing decoded.
- Entries are filled in as a Pylon takes in a past, 500 to a transaction with their cursor; Node has transactions of the
  same size. An append is one transaction.
- Opening ends with the first page.
- A page by offset is what the protocol of the origin asks for: ours numbers the entries of a conversation and looks
  nothing up, `OFFSET` walks.
- Hits come newest first. The beginning of a common word is the one question whose cost grows with the hits: all of them
  have to be gathered before the newest is known.
";

/// What is asked: name, where it stands in a run.
const QUESTIONS: [(&str, &str); 7] = [
    (
        "newest page of a short conversation",
        "/short_newest/p50_ms",
    ),
    ("newest page", "/newest/p50_ms"),
    ("page by cursor, in the middle", "/cursor/p50_ms"),
    ("page by offset, in the middle", "/offset/p50_ms"),
    ("search, a rare word", "/rare/p50_ms"),
    ("search, a word of every tenth entry", "/common/p50_ms"),
    ("search, the beginning of that word", "/beginning/p50_ms"),
];

/// All tables.
pub(crate) fn tables(figures: &Figures) -> String {
    let mut text = String::new();
    reads(&mut text, figures);
    writes(&mut text, figures);
    judged(&mut text, figures);
    text
}

/// The whole part of the page.
pub(crate) fn whole(machine: &str, tables: &str) -> String {
    format!("{INTRODUCTION}\n{machine}\n{tables}{METHOD}")
}

fn reads(text: &mut String, figures: &Figures) {
    let title = format!(
        "{} entries, 50 to a page, milliseconds",
        figures.plan.entries
    );
    let columns = [
        "question",
        "better-sqlite3",
        "**ours**",
        "faster",
        "plain rusqlite",
    ];
    head(text, &title, &columns);
    let [node, ours, plain] = &figures.read;
    for (name, pointer) in QUESTIONS {
        row(
            text,
            &[
                name.to_owned(),
                cell(node, pointer, 1.0),
                cell(ours, pointer, 1.0),
                times(node, ours, pointer),
                cell(plain, pointer, 1.0),
            ],
        );
    }
    let opened = "/open_ms";
    row(
        text,
        &[
            "opened, with the first page".to_owned(),
            cell(node, opened, 1.0),
            cell(ours, opened, 1.0),
            times(node, ours, opened),
            cell(plain, opened, 1.0),
        ],
    );
    text.push('\n');
}

fn writes(text: &mut String, figures: &Figures) {
    let columns = [
        "store",
        "1000 entries/s",
        "one entry, ms p50",
        "p99",
        "MB on disk",
    ];
    head(text, "Filling in", &columns);
    for (name, runs) in ["better-sqlite3", "**ours**"].iter().zip(&figures.fill) {
        row(
            text,
            &[
                (*name).to_owned(),
                cell(runs, "/entries_per_s", 1e-3),
                cell(runs, "/append/p50_ms", 1.0),
                cell(runs, "/append/p99_ms", 1.0),
                cell(runs, "/bytes", 1e-6),
            ],
        );
    }
    text.push('\n');
}

fn judged(text: &mut String, figures: &Figures) {
    let [_, ours, plain] = &figures.read;
    let median = |pointer| figure(ours, pointer, 1.0).map(|figure| figure.median);
    let deep = |pointer| {
        let (deep, new) = (median(pointer)?, median("/newest/p50_ms")?);
        Some(deep / new)
    };
    let short = |pointer| {
        let (long, short) = (median(pointer)?, median("/short_newest/p50_ms")?);
        Some(long / short)
    };
    let target = |what: &str, wanted, reached, unit| Target {
        what: what.to_owned(),
        wanted,
        reached,
        unit,
    };
    let most = Wanted::AtMost;
    let list = [
        target("newest page", most(0.1), median("/newest/p50_ms"), " ms"),
        target(
            "the same, of a short conversation's",
            most(1.5),
            short("/newest/p50_ms"),
            "x",
        ),
        target("page by cursor", most(0.1), median("/cursor/p50_ms"), " ms"),
        target(
            "the same, of the newest page",
            most(1.5),
            deep("/cursor/p50_ms"),
            "x",
        ),
        target(
            "page by offset, of the newest page",
            most(1.5),
            deep("/offset/p50_ms"),
            "x",
        ),
        target(
            "newest page, of plain rusqlite",
            most(2.0),
            ratio(ours, plain, "/newest/p50_ms"),
            "x",
        ),
        target(
            "page by cursor, of plain rusqlite",
            most(2.0),
            ratio(ours, plain, "/cursor/p50_ms"),
            "x",
        ),
        target(
            "search, a rare word",
            most(1.0),
            median("/rare/p50_ms"),
            " ms",
        ),
        target(
            "search, a common word",
            most(1.0),
            median("/common/p50_ms"),
            " ms",
        ),
    ];
    targets(text, "Targets of the history", &list);
}
