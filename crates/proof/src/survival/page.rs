//! The page: one line per story, one column per CLI.

use super::{Figures, Row};

/// What came of a story with one CLI.
#[derive(Debug, Clone)]
pub enum Cell {
    /// It went well.
    Survived(Figures),
    /// It did not.
    Failed(String),
    /// It was not played with this one.
    NotPlayed,
}

impl Cell {
    fn text(&self) -> &'static str {
        match self {
            Self::Survived(_) => "✓",
            Self::Failed(_) => "**fails**",
            Self::NotPlayed => "–",
        }
    }
}

const HEAD: &str = "\
# What survives

Made by `cargo xtask survival`: real processes, killed with -9 or held, and a checker that compares what every client \
saw with the host's logs, with the rows in the Pylon's database, with what the simulated CLI says it really did, and \
with the marks that tools leave on the disk. A ✓ means that afterwards the turn was finished, no event and no row of history was lost, doubled or reordered at any client, every \
decision was shown and answered once, nothing ran without an allow, and no process was left behind.

The checker itself is tested with {bugs} kinds of planted faults; it finds each of them wherever it is planted.

";

/// The page as Markdown. `agents` names the columns.
pub fn page(agents: &[String], table: &[(Row, Vec<Cell>)], bugs: usize) -> String {
    let columns = agents.join(" | ");
    let rule = " --- |".repeat(agents.len());
    let head =
        format!("| what dies | when | afterwards | {columns} |\n| --- | --- | --- |{rule}\n");
    let lines: String = table.iter().map(|(row, cells)| line(row, cells)).collect();
    let mut totals = Figures::default();
    for cell in table.iter().flat_map(|(_, cells)| cells) {
        if let Cell::Survived(figures) = cell {
            totals.add(*figures);
        }
    }
    let end = format!(
        "\nIn this run: {} events, {} decisions, {} tools run, {} CLI processes, {} rows of history.\n",
        totals.events, totals.asked, totals.ran, totals.processes, totals.rows
    );
    let resumed = totals.resumed_ms.map_or_else(String::new, |time| {
        format!("After a part was back, apps had live text again within {time} ms.\n")
    });
    let intro = HEAD.replace("{bugs}", &bugs.to_string());
    [intro, head, lines, end, resumed].concat()
}

fn line(row: &Row, cells: &[Cell]) -> String {
    let texts: Vec<&str> = cells.iter().map(Cell::text).collect();
    let story = [row.what, row.when, row.then].join(" | ");
    format!("| {story} | {} |\n", texts.join(" | "))
}

impl Figures {
    fn add(&mut self, other: Self) {
        self.events += other.events;
        self.asked += other.asked;
        self.ran += other.ran;
        self.processes += other.processes;
        self.rows += other.rows;
        self.resumed_ms = self.resumed_ms.max(other.resumed_ms);
    }
}
