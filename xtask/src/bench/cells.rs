//! Figures out of runs, as cells and rows of tables. A run is what a meter printed: one object of JSON.

use std::fmt::Write as _;

use serde_json::Value;

use super::measured::{Measured, short};

/// The kernel's kB are of 1024 bytes.
pub(crate) const MEGABYTES: f64 = 1024.0 / 1e6;

/// One figure of some runs, in another unit; nothing if a run did not have it.
pub(crate) fn figure(runs: &[Value], pointer: &str, factor: f64) -> Option<Measured> {
    let values: Option<Vec<f64>> = runs
        .iter()
        .map(|run| Some(run.pointer(pointer)?.as_f64()? * factor))
        .collect();
    Measured::of(values?)
}

/// The same as a cell.
pub(crate) fn cell(runs: &[Value], pointer: &str, factor: f64) -> String {
    match figure(runs, pointer, factor) {
        Some(one) if one.least.total_cmp(&one.most).is_eq() => short(one.median),
        Some(several) => several.to_string(),
        None => "-".to_owned(),
    }
}

/// How many times the second is of the first.
pub(crate) fn ratio(of: &[Value], to: &[Value], pointer: &str) -> Option<f64> {
    let (of, to) = (figure(of, pointer, 1.0)?, figure(to, pointer, 1.0)?);
    (to.median > 0.0).then(|| of.median / to.median)
}

/// The same as a cell.
pub(crate) fn times(of: &[Value], to: &[Value], pointer: &str) -> String {
    ratio(of, to, pointer).map_or_else(|| "-".to_owned(), |ratio| format!("{}x", short(ratio)))
}

/// The head of a table.
pub(crate) fn head(text: &mut String, title: &str, columns: &[&str]) {
    let line = columns.join(" | ");
    let rule = "---|".repeat(columns.len());
    // Writing to a string cannot fail.
    let _ = write!(text, "## {title}\n\n| {line} |\n|{rule}\n");
}

/// A row of a table.
pub(crate) fn row(text: &mut String, cells: &[String]) {
    let _ = writeln!(text, "| {} |", cells.join(" | "));
}

/// What a figure should be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Wanted {
    AtMost(f64),
    AtLeast(f64),
}

/// A figure that was hoped for.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) what: String,
    pub(crate) wanted: Wanted,
    pub(crate) reached: Option<f64>,
    pub(crate) unit: &'static str,
}

/// All of them as a table. Whether they are reached is said, never enforced.
pub(crate) fn targets(text: &mut String, title: &str, targets: &[Target]) {
    head(text, title, &["what", "wanted", "reached", ""]);
    for target in targets {
        let Target { what, unit, .. } = target;
        let (word, limit) = match target.wanted {
            Wanted::AtMost(limit) => ("at most", limit),
            Wanted::AtLeast(limit) => ("at least", limit),
        };
        let verdict = match (target.reached, target.wanted) {
            (Some(reached), Wanted::AtMost(limit)) if reached <= limit => "met",
            (Some(reached), Wanted::AtLeast(limit)) if reached >= limit => "met",
            (Some(_), _) => "**not met**",
            (None, _) => "not measured",
        };
        let reached = target.reached.map_or_else(
            || "-".to_owned(),
            |reached| format!("{}{unit}", short(reached)),
        );
        let _ = writeln!(
            text,
            "| {what} | {word} {limit}{unit} | {reached} | {verdict} |"
        );
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_figure_that_is_missing_is_a_dash() {
        let runs = [json!({"a": {"b": 2}}), json!({})];
        assert_eq!(cell(&runs, "/a/b", 1.0), "-");
        assert_eq!(cell(&runs[..1], "/a/b", 0.5), "1.00");
    }

    #[test]
    fn a_target_is_met_from_its_own_side() {
        let verdicts = |wanted, reached| {
            let mut text = String::new();
            let (what, unit) = ("x".to_owned(), "x");
            targets(
                &mut text,
                "T",
                &[Target {
                    what,
                    wanted,
                    reached,
                    unit,
                }],
            );
            text
        };
        assert!(verdicts(Wanted::AtLeast(2.0), Some(3.0)).contains("| 3.00x | met |"));
        assert!(verdicts(Wanted::AtMost(2.0), Some(3.0)).contains("| **not met** |"));
        assert!(verdicts(Wanted::AtMost(2.0), None).contains("| - | not measured |"));
    }
}
