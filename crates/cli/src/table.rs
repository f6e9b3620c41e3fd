//! Columns of plain text, as wide as what stands in them, and no wider than the terminal of standard output; whoever reads
//! a pipe gets all of it.
//!
//! Everything that is put in is made harmless to a terminal; names of tools and folders come from elsewhere. Width is
//! counted in columns: a Korean or Japanese letter and most pictures take two.

use std::fmt;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::chat::clean;
use crate::chat::printer::Printer;

/// What stands between two columns.
const GAP: &str = "  ";
/// No column is made narrower than this to make room.
const NARROWEST: usize = 8;

enum Row {
    Cells(Vec<String>),
    /// A line across all columns.
    Note(String),
}

/// Rows of cells, and lines between them.
pub(crate) struct Table {
    rows: Vec<Row>,
    /// What there is room for; nothing means as much as is needed.
    columns: Option<usize>,
}

impl Default for Table {
    /// An empty table that will fit the terminal.
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            columns: Printer::columns(),
        }
    }
}

impl Table {
    pub(crate) fn row<const N: usize>(&mut self, cells: [String; N]) {
        let cells = cells.map(|cell| clean::line(&cell).into_owned());
        self.rows.push(Row::Cells(cells.into()));
    }

    pub(crate) fn note(&mut self, text: &str) {
        self.rows.push(Row::Note(clean::line(text).into_owned()));
    }

    /// How wide each column is: as wide as its cells, and where that is too much the widest give way first.
    fn widths(&self) -> Vec<usize> {
        let mut widths: Vec<usize> = Vec::new();
        for row in &self.rows {
            let Row::Cells(cells) = row else { continue };
            widths.resize(widths.len().max(cells.len()), 0);
            for (width, cell) in widths.iter_mut().zip(cells) {
                *width = (*width).max(cell.width());
            }
        }
        let Some(columns) = self.columns else {
            return widths;
        };
        let gaps = GAP.len() * widths.len().saturating_sub(1);
        while widths.iter().sum::<usize>() + gaps > columns {
            let widest = widths.iter_mut().max();
            match widest {
                Some(width) if *width > NARROWEST => *width -= 1,
                Some(_) | None => break,
            }
        }
        widths
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
        for row in &self.rows {
            match row {
                Row::Note(text) => match self.columns {
                    Some(columns) => writeln!(f, "{}", cut(text, columns))?,
                    None => writeln!(f, "{text}")?,
                },
                Row::Cells(cells) => {
                    let padded = cells.iter().zip(&widths).map(|(cell, width)| {
                        let cell = cut(cell, *width);
                        let rest = width.saturating_sub(cell.width());
                        cell + &" ".repeat(rest)
                    });
                    writeln!(f, "{}", padded.collect::<Vec<_>>().join(GAP).trim_end())?;
                }
            }
        }
        Ok(())
    }
}

/// At most so many columns of a text, with a mark where something is missing.
fn cut(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut used = 0;
    let fits = |c: &char| {
        used += c.width().unwrap_or(0);
        used < columns
    };
    let kept: String = text.chars().take_while(fits).collect();
    format!("{}…", kept.trim_end())
}

/// A stretch of time in milliseconds, roughly.
pub(crate) fn ago(milliseconds: u64) -> String {
    let seconds = milliseconds / 1000;
    match seconds {
        0..120 => format!("{seconds} s ago"),
        120..7200 => format!("{} min ago", seconds / 60),
        7200..172_800 => format!("{} h ago", seconds / 3600),
        _ => format!("{} days ago", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(columns: Option<usize>) -> Table {
        let mut table = Table {
            columns,
            ..Table::default()
        };
        table.row(["id-1", "한국어 이름", "a long text that needs much room"].map(str::to_owned));
        table.note("a note");
        table.row(["id-22", "name", "x"].map(str::to_owned));
        table
    }

    #[test]
    fn columns_stand_below_each_other_in_every_script() {
        assert_eq!(
            table(None).to_string(),
            "id-1   한국어 이름  a long text that needs much room\n\
             a note\n\
             id-22  name         x\n"
        );
    }

    #[test]
    fn the_widest_column_gives_way_in_a_narrow_terminal() {
        let text = table(Some(34)).to_string();
        assert_eq!(
            text,
            "id-1   한국어 이름  a long text t…\n\
             a note\n\
             id-22  name         x\n"
        );
        assert!(text.lines().all(|line| line.width() <= 34), "{text}");
    }
}
