//! Columns of plain text, as wide as what stands in them.
//!
//! Everything that is put in is made harmless to a terminal; names of tools and folders come from elsewhere.

use std::fmt;

use crate::chat::clean;

/// A cell is never wider than this.
const WIDEST: usize = 60;

enum Row {
    Cells(Vec<String>),
    /// A line across all columns.
    Note(String),
}

/// Rows of cells, and lines between them.
#[derive(Default)]
pub(crate) struct Table {
    rows: Vec<Row>,
}

impl Table {
    pub(crate) fn row<const N: usize>(&mut self, cells: [String; N]) {
        let cells = cells.map(|cell| clean::clip(&cell, WIDEST));
        self.rows.push(Row::Cells(cells.into()));
    }

    pub(crate) fn note(&mut self, text: &str) {
        self.rows.push(Row::Note(clean::line(text).into_owned()));
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut widths = Vec::new();
        for row in &self.rows {
            let Row::Cells(cells) = row else { continue };
            widths.resize(widths.len().max(cells.len()), 0);
            for (width, cell) in widths.iter_mut().zip(cells) {
                *width = (*width).max(cell.chars().count());
            }
        }
        for row in &self.rows {
            match row {
                Row::Note(text) => writeln!(f, "{text}")?,
                Row::Cells(cells) => {
                    let padded = cells
                        .iter()
                        .zip(&widths)
                        .map(|(cell, width)| format!("{cell:<width$}"));
                    writeln!(f, "{}", padded.collect::<Vec<_>>().join("  ").trim_end())?;
                }
            }
        }
        Ok(())
    }
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
