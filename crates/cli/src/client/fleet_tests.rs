//! Which conversation a text means, and how short an id may be.

use super::*;

fn candidates() -> Vec<Candidate<u32>> {
    let one = |id: &str, names: [&str; 2], value| Candidate {
        id: id.to_owned(),
        names: names.map(str::to_owned).to_vec(),
        value,
    };
    vec![
        one("0190-aa", ["Site/Fix", "Fix"], 1),
        one("0190-ab", ["Site/Fixtures", "Fixtures"], 2),
        one("0191-cc", ["Shop/fix", "fix"], 3),
        one("0192-dd", ["Shop/Plan", "Plan"], 4),
    ]
}

fn picked(text: &str) -> Result<u32, String> {
    pick("conversation", text, candidates()).map_err(|failure| failure.to_string())
}

#[test]
fn a_name_or_the_beginning_of_an_id_or_a_name_is_enough() {
    assert_eq!(picked("0190-ab"), Ok(2));
    assert_eq!(picked("0192"), Ok(4));
    assert_eq!(picked("plan"), Ok(4));
    assert_eq!(picked("Pl"), Ok(4));
    assert_eq!(picked("shop/fix"), Ok(3));
    assert_eq!(picked("Site/fixt"), Ok(2));
}

#[test]
fn what_is_written_out_is_not_ambiguous_because_of_what_is_longer() {
    assert_eq!(picked("Fix"), Ok(1));
    assert_eq!(picked("fix"), Ok(3));
}

#[test]
fn several_are_listed_with_their_ids() {
    let said = picked("FIX").unwrap_err();
    assert!(
        said.contains("0190-aa") && said.contains("0191-cc"),
        "{said}"
    );
    assert!(
        said.contains("Site/Fix") && !said.contains("Fixtures"),
        "{said}"
    );
    let said = picked("0190").unwrap_err();
    assert!(said.starts_with("`0190` may be any of 2"), "{said}");
}

#[test]
fn what_is_not_there_says_where_to_look() {
    for text in ["nothing", "", " "] {
        let said = picked(text).unwrap_err();
        assert!(said.contains("`estelle ls`"), "{said}");
    }
}

#[test]
fn ids_are_as_short_as_they_may_be() {
    let ids = ["0190b8c2-7c1e", "0190b8c2-7c1f", "0191b8c2-0000"];
    assert_eq!(
        short_ids(&ids),
        ["0190b8c2-7c1e", "0190b8c2-7c1f", "0191b8c2"]
    );
}
