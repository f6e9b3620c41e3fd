//! The page of dangers names tests that are there.

use std::path::Path;

/// `[`name`](../path)`, as name and path.
fn named(page: &str) -> Vec<(&str, &str)> {
    let links = page.split("[`").skip(1);
    links
        .filter_map(|link| {
            let (name, rest) = link.split_once("`](../")?;
            Some((name, rest.split(')').next()?))
        })
        .collect()
}

#[test]
fn every_test_that_the_page_names_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/dangers.md")).unwrap();
    let named = named(&page);
    assert!(named.len() > 40, "only {} tests are named", named.len());
    let missing: Vec<_> = named
        .iter()
        .filter(|(name, path)| {
            let code = std::fs::read_to_string(root.join(path)).unwrap_or_default();
            let is_test = code.contains(&format!("fn {name}("));
            // A story of the survival matrix has its name in its row, or makes it of a place.
            let short = name.trim_start_matches("dies_at_");
            let is_row =
                code.contains(&format!("\"{name}\"")) || code.contains(&format!("    {short}: \""));
            !is_test && !is_row
        })
        .collect();
    assert!(missing.is_empty(), "{missing:#?}");
}
