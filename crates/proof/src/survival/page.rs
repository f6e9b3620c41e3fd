//! The page: one line per story, one column per CLI.
//!
//! The page is written by this alone. It can be read back, so that playing single stories again changes their cells and
//! leaves the others as they were; a story of which the page does not know yet stands in it as not played.

use std::collections::BTreeMap;

use super::{Figures, Row};

/// What came of a story with one CLI.
#[derive(Debug, Clone)]
pub enum Cell {
    /// It went well.
    Survived(Figures),
    /// It did not.
    Failed(String),
    /// It is not meant to be played with this one.
    NotMeant,
}

impl Cell {
    fn text(&self) -> &'static str {
        match self {
            Self::Survived(_) => "✓",
            Self::Failed(_) => "**fails**",
            Self::NotMeant => NOT_MEANT,
        }
    }
}

const NOT_MEANT: &str = "–";
const NOT_PLAYED: &str = "not played";
const COLUMNS: &str = "| what dies | when | afterwards |";
/// How the lines begin that stay until all stories are played again.
const FIGURES: [&str; 2] = ["When all were played last", "After a part was back, "];

const HEAD: &str = "\
# What survives

Made by `cargo xtask survival`: real processes, killed with -9 or held, and a checker that compares what every client \
saw with the host's logs, with the rows in the Pylon's database, with what the simulated CLI says it really did, and \
with the marks that tools leave on the disk. A ✓ means that afterwards the turn was finished, no event and no row of history was lost, doubled or reordered at any client, every \
decision was shown and answered once, nothing ran without an allow, and no process was left behind. A – stands where a \
story needs what only the simulator does; *not played* where a story is newer than its last run.

The checker itself is tested with {bugs} kinds of planted faults; it finds each of them wherever it is planted.

";

/// The page as it is at a moment.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// The CLIs, one for each column.
    agents: Vec<String>,
    /// What is known of a story, by its words and the CLI.
    cells: BTreeMap<(String, String), String>,
    /// What the last run of all stories counted.
    figures: String,
}

impl Page {
    /// The page that was written before; nothing of it is kept but cells and figures.
    pub fn read(text: &str) -> Self {
        let mut page = Self::default();
        for line in text.lines() {
            if let Some(columns) = line.strip_prefix(COLUMNS) {
                page.agents = split(columns).map(str::to_owned).collect();
            } else if FIGURES.iter().any(|start| line.starts_with(start)) {
                page.figures.push_str(line);
                page.figures.push('\n');
            } else if line.starts_with("| ") && !line.starts_with("| ---") {
                let parts: Vec<&str> = split(line).collect();
                let (words, cells) = parts.split_at(parts.len().min(3));
                for (agent, cell) in page.agents.iter().zip(cells) {
                    let key = (words.join(" | "), agent.clone());
                    page.cells.insert(key, (*cell).to_owned());
                }
            }
        }
        page
    }

    /// These CLIs are there now; a column that is not among them stays.
    #[must_use]
    pub fn with_agents(mut self, agents: impl IntoIterator<Item = String>) -> Self {
        for agent in agents {
            if !self.agents.contains(&agent) {
                self.agents.push(agent);
            }
        }
        self
    }

    /// A story was played with a CLI.
    pub fn set(&mut self, row: &Row, agent: &str, cell: &Cell) {
        let key = (words(row), agent.to_owned());
        self.cells.insert(key, cell.text().to_owned());
    }

    /// All stories were played; `when` says on which day, and with which commit.
    pub fn count(&mut self, cells: &[Cell], when: &str) {
        let mut totals = Figures::default();
        for cell in cells {
            if let Cell::Survived(figures) = cell {
                totals.add(*figures);
            }
        }
        let [counted, resumed] = FIGURES;
        self.figures = format!(
            "{counted} ({when}): {} events, {} decisions, {} tools run, {} CLI processes, {} rows of history.\n",
            totals.events, totals.asked, totals.ran, totals.processes, totals.rows
        );
        if let Some(time) = totals.resumed_ms {
            let line = format!("{resumed}apps had live text again within {time} ms.\n");
            self.figures.push_str(&line);
        }
    }

    /// The page as Markdown: these stories, and how many kinds of faults the checker is tested with.
    pub fn text(&self, rows: &[Row], bugs: usize) -> String {
        let columns = self.agents.join(" | ");
        let rule = " --- |".repeat(self.agents.len());
        let head = format!("{COLUMNS} {columns} |\n| --- | --- | --- |{rule}\n");
        let lines: String = rows.iter().map(|row| self.line(row)).collect();
        let intro = HEAD.replace("{bugs}", &bugs.to_string());
        [&intro, &head, &lines, "\n", &self.figures].concat()
    }

    fn line(&self, row: &Row) -> String {
        let words = words(row);
        let cells = self.agents.iter().map(|agent| {
            let key = (words.clone(), agent.clone());
            self.cells.get(&key).map_or(NOT_PLAYED, String::as_str)
        });
        let cells: Vec<&str> = cells.collect();
        format!("| {words} | {} |\n", cells.join(" | "))
    }
}

fn words(row: &Row) -> String {
    [row.what, row.when, row.then].join(" | ")
}

fn split(line: &str) -> impl Iterator<Item = &str> {
    let inner = line.trim().trim_start_matches('|').trim_end_matches('|');
    inner.split(" | ").map(str::trim)
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

#[cfg(test)]
mod tests {
    use super::super::rows;
    use super::*;
    use crate::bugs;

    const WRITTEN: &str = include_str!("../../../../docs/survival.md");

    /// The number of planted faults changes with the checker, which nobody has to play stories for.
    fn without_number(text: &str) -> String {
        let is_other = |line: &&str| !line.starts_with("The checker itself is tested with ");
        text.lines().filter(is_other).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn the_page_has_every_story_of_the_matrix_and_nothing_that_was_written_by_hand() {
        let made = Page::read(WRITTEN).text(&rows(), bugs::all().len());
        let (made, written) = (without_number(&made), without_number(WRITTEN));
        let strange = written.lines().find(|line| !made.contains(line));
        let missing = made.lines().find(|line| !written.contains(line));
        assert!(
            made == written,
            "docs/survival.md is not what the matrix makes of it; `cargo xtask survival <part of a story's name>` plays \
             that story and writes the page. Missing: {missing:?}. Too much: {strange:?}"
        );
    }

    #[test]
    fn playing_one_story_again_changes_its_cell_alone_and_a_new_one_is_not_played() {
        let all = rows();
        let [first, second, third, ..] = all.as_slice() else {
            panic!("there are more stories");
        };
        let mut page = Page::default().with_agents(["a".to_owned(), "b".to_owned()]);
        for row in [first, second] {
            page.set(row, "a", &Cell::Survived(Figures::default()));
            page.set(row, "b", &Cell::NotMeant);
        }
        let played = Cell::Survived(Figures {
            events: 7,
            resumed_ms: Some(5),
            ..Figures::default()
        });
        page.count(&[played], "2026-01-02, commit 123");
        let old = page.text(&[*first, *second], 3);

        let again = Page::read(&format!("{old}\nSomebody wrote this.\n"));
        let three = [*first, *second, *third];
        assert_eq!(again.text(&three[..2], 3), old);
        let mut again = again.with_agents(["a".to_owned(), "c".to_owned()]);
        again.set(second, "a", &Cell::Failed("why".to_owned()));
        let text = again.text(&three, 4);
        let ends = [
            (first, "| ✓ | – | not played |"),
            (second, "| **fails** | – | not played |"),
            (third, "| not played | not played | not played |"),
        ];
        for (row, end) in ends {
            let line = format!("| {} {end}", words(row));
            assert!(text.lines().any(|own| own == line), "no {line} in {text}");
        }
        assert!(
            text.contains("(2026-01-02, commit 123): 7 events") && text.contains("within 5 ms"),
            "{text}"
        );
        assert!(
            text.contains("| a | b | c |") && text.contains("with 4 kinds"),
            "{text}"
        );
        assert!(!text.contains("Somebody"), "{text}");
    }
}
