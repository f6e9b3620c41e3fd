//! The table of attacks: every case is there, and every test that it names exists.
//!
//! `docs/security/cases.md` says for each case what must happen and which test shows it, or why it does not apply, or
//! why nothing shows it yet; `docs/security.md` has the sums and lists what is open. Whether a test shows what the row says is for people to judge.

use std::collections::BTreeMap;

use super::{Finding, SourceFile};

/// The table.
const TABLE: &str = "docs/security/cases.md";
/// The page with the sums.
const PAGE: &str = "docs/security.md";
/// The heading under which the page lists what is open.
const OPEN_LIST: &str = "## Open";
/// The groups, each with how many cases it has.
const GROUPS: [(char, usize); 21] = [
    ('R', 16),
    ('D', 14),
    ('X', 10),
    ('L', 17),
    ('W', 24),
    ('J', 12),
    ('C', 17),
    ('P', 26),
    ('G', 13),
    ('F', 16),
    ('S', 40),
    ('E', 18),
    ('O', 18),
    ('U', 10),
    ('M', 16),
    ('T', 14),
    ('K', 12),
    ('B', 18),
    ('H', 14),
    ('V', 10),
    ('N', 18),
];
/// Groups in which nothing that applies may be without a test.
const NEVER_OPEN: &str = "RDXLJPGSE";
/// Of a hundred cases that apply, so many may be without a test.
const MAY_BE_OPEN: usize = 15;

/// Where a case stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Shown,
    Absent,
    Open,
}

/// What is wrong with the table, its tests and its sums.
pub(super) fn attack_cases(files: &[SourceFile]) -> Vec<Finding> {
    let find = |path: &str| files.iter().find(|file| file.path == path);
    let (Some(table), Some(page)) = (find(TABLE), find(PAGE)) else {
        return vec![Finding {
            path: TABLE.to_owned(),
            line: None,
            message: format!("{TABLE} and {PAGE} must be there"),
        }];
    };
    let mut findings = Vec::new();
    let mut standings = BTreeMap::new();
    for (index, line) in table.text.lines().enumerate() {
        let Some((case, shown)) = row(line) else {
            continue;
        };
        let mut refuse = |message: String| {
            findings.push(table.finding_at(index + 1, format!("{case}: {message}")));
        };
        match standing(shown) {
            Some(standing) if standings.insert(case.to_owned(), standing).is_some() => {
                refuse("stands twice".to_owned());
            }
            Some(_) => {}
            None => refuse("name a test, or say `not applicable: ...` or `open: ...`".to_owned()),
        }
        for (name, path) in links(shown) {
            if !find(path).is_some_and(|file| holds(file, name)) {
                refuse(format!("there is no `{name}` in {path}"));
            }
        }
    }
    findings.extend(complete(&standings).map(|message| table.finding(message)));
    findings.extend(sums(&standings, page));
    findings.extend(listed(&standings, page));
    findings
}

/// The name of the case and the last cell, if the line is a row of a case.
fn row(line: &str) -> Option<(&str, &str)> {
    let cells: Vec<&str> = line.strip_prefix('|')?.split('|').map(str::trim).collect();
    let [case, _, shown, _] = cells.as_slice() else {
        return None;
    };
    let number = case.strip_prefix(|first: char| first.is_ascii_uppercase())?;
    number.parse::<usize>().ok().map(|_| (*case, *shown))
}

fn standing(shown: &str) -> Option<Standing> {
    if shown.starts_with("not applicable: ") {
        return Some(Standing::Absent);
    }
    if shown.starts_with("open: ") {
        return Some(Standing::Open);
    }
    links(shown).next().map(|_| Standing::Shown)
}

/// ``[`name`](../../path)``, as name and path.
fn links(shown: &str) -> impl Iterator<Item = (&str, &str)> {
    shown.split("[`").skip(1).filter_map(|link| {
        let (name, rest) = link.split_once("`](../../")?;
        Some((name, rest.split(')').next()?))
    })
}

/// Whether a file has a test, a story of the survival matrix or a heading of a table of this name.
fn holds(file: &SourceFile, name: &str) -> bool {
    if !file.is_rust() {
        return file.text.contains(name);
    }
    let short = name.trim_start_matches("dies_at_");
    let forms = [
        format!("fn {name}("),
        format!("\"{name}\""),
        format!("    {short}: \""),
    ];
    forms.iter().any(|form| file.text.contains(form))
}

/// Cases that are missing, and groups in which too much is open.
fn complete(standings: &BTreeMap<String, Standing>) -> impl Iterator<Item = String> {
    let all = GROUPS
        .iter()
        .flat_map(|(group, count)| (1..=*count).map(move |number| format!("{group}{number}")));
    let missing = all
        .filter(|case| !standings.contains_key(case))
        .map(|case| format!("{case} is missing"));
    let barred = standings
        .iter()
        .filter(|(case, standing)| {
            **standing == Standing::Open && case.starts_with(|group| NEVER_OPEN.contains(group))
        })
        .map(|(case, _)| format!("{case} may not be open"));
    let count = |wanted| standings.values().filter(|found| **found == wanted).count();
    let (open, shown) = (count(Standing::Open), count(Standing::Shown));
    let too_many = (open * 100 > (open + shown) * MAY_BE_OPEN)
        .then(|| format!("{open} cases are open, and only {shown} are shown"));
    missing
        .chain(barred)
        .chain(too_many)
        .collect::<Vec<_>>()
        .into_iter()
}

/// Sums that the page does not have as they are.
fn sums(standings: &BTreeMap<String, Standing>, page: &SourceFile) -> Vec<Finding> {
    let rows = GROUPS.iter().map(|(group, _)| {
        let count = |wanted| {
            let of_group = standings
                .iter()
                .filter(|(case, _)| case.starts_with(*group));
            of_group.filter(|(_, found)| **found == wanted).count()
        };
        let (shown, absent, open) = (
            count(Standing::Shown),
            count(Standing::Absent),
            count(Standing::Open),
        );
        format!("| {group} | {shown} | {absent} | {open} |")
    });
    rows.filter(|row| !page.text.contains(row.as_str()))
        .map(|row| page.finding(format!("the sums must have the row `{row}`")))
        .collect()
}

/// What the page lists as open and is not, and the reverse.
fn listed(standings: &BTreeMap<String, Standing>, page: &SourceFile) -> Vec<Finding> {
    let lines = page.text.lines().enumerate();
    let lines = lines.skip_while(|(_, line)| *line != OPEN_LIST).skip(1);
    let lines = lines.take_while(|(_, line)| !line.starts_with("## "));
    let rows = lines.filter_map(|(index, line)| Some((index + 1, row(line)?.0)));
    let rows: Vec<(usize, &str)> = rows.collect();
    let is_open = |case: &str| standings.get(case) == Some(&Standing::Open);
    let too_many = rows.iter().filter(|(_, case)| !is_open(case));
    let too_many =
        too_many.map(|(line, case)| page.finding_at(*line, format!("{case} is not open")));
    let open = standings.keys().filter(|case| is_open(case));
    let missing = open.filter(|case| !rows.iter().any(|(_, listed)| listed == case));
    let missing = missing.map(|case| page.finding(format!("{case} is open and not listed")));
    too_many.chain(missing).collect()
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::tidy::file;

    const SHOWN: &str = "[`it_holds`](../../crates/x/tests/it/a.rs)";

    /// A table in which every case has the same last cell, but for one.
    fn complaints(case: &str, shown: &str) -> Vec<String> {
        let is_open = shown.starts_with("open: ");
        let listed = if is_open { case } else { "" };
        complaints_with(case, shown, listed)
    }

    /// The same with a page that lists a case as open.
    fn complaints_with(case: &str, shown: &str, open: &str) -> Vec<String> {
        let listed = match open {
            "" => String::new(),
            open => format!("| {open} | something | nobody has tried |"),
        };
        let mut table = String::from("| case | must be | shown by |\n| --- | --- | --- |\n");
        let mut page = String::new();
        for (group, count) in GROUPS {
            for number in 1..=count {
                let name = format!("{group}{number}");
                let cell = if name == case { shown } else { SHOWN };
                if !cell.is_empty() {
                    let _ = writeln!(table, "| {name} | something | {cell} |");
                }
            }
            let _ = writeln!(page, "| {group} | {count} | 0 | 0 |");
        }
        let _ = writeln!(page, "## Open\n\n{listed}\n## Then\n\n| R1 | of | else |");
        let files = [
            file(TABLE, &table),
            file(PAGE, &page),
            file("crates/x/tests/it/a.rs", "async fn it_holds() {}\n"),
            file("crates/x/cases.txt", "[S1 quotes]\n"),
        ];
        let findings = attack_cases(&files);
        findings.into_iter().map(|found| found.message).collect()
    }

    #[test]
    fn a_whole_table_passes() {
        assert_eq!(complaints("", ""), [""; 0]);
        assert_eq!(
            complaints("S1", "[`S1 quotes`](../../crates/x/cases.txt)"),
            [""; 0]
        );
    }

    #[test]
    fn a_test_that_is_gone_is_noticed() {
        for gone in [
            "[`it_held`](../../crates/x/tests/it/a.rs)",
            "[`it_holds`](../../crates/x/tests/it/b.rs)",
        ] {
            let found = complaints("W3", &format!("{SHOWN}, {gone}"));
            assert!(
                matches!(&found[..], [one] if one.starts_with("W3: there is no ")),
                "{found:?}"
            );
        }
    }

    #[test]
    fn what_is_missing_or_says_nothing_is_refused() {
        let missing = complaints("W3", "");
        assert!(missing.contains(&"W3 is missing".to_owned()), "{missing:?}");
        let silent = complaints("W3", "we think so");
        assert!(silent[0].starts_with("W3: name a test"), "{silent:?}");
    }

    #[test]
    fn what_is_open_is_counted_and_barred_in_some_groups() {
        let open = complaints("W3", "open: nobody has tried");
        assert_eq!(open, ["the sums must have the row `| W | 23 | 0 | 1 |`"]);
        let barred = complaints("S3", "open: nobody has tried");
        assert!(
            barred.contains(&"S3 may not be open".to_owned()),
            "{barred:?}"
        );
        let unlisted = complaints_with("W3", "open: nobody has tried", "");
        assert!(
            unlisted.contains(&"W3 is open and not listed".to_owned()),
            "{unlisted:?}"
        );
        assert_eq!(complaints_with("", "", "W3"), ["W3 is not open"]);
        let absent = complaints("R3", "not applicable: there is none");
        assert_eq!(absent, ["the sums must have the row `| R | 15 | 1 | 0 |`"]);
    }
}
