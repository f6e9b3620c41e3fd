//! Rules about names of files and folders.

use super::{Finding, SourceFile};

/// Names that say nothing and so attract everything.
const BANNED: [&str; 9] = [
    "core", "common", "util", "utils", "helper", "helpers", "manager", "misc", "bespoke",
];

/// No crate and no module has a name that says nothing, and no file repeats the name of its folder.
pub(super) fn banned_names(file: &SourceFile) -> Vec<Finding> {
    if !file.is_rust() {
        return Vec::new();
    }
    let path = file.path.trim_end_matches(".rs");
    let parts: Vec<_> = path.split('/').collect();
    let mut findings: Vec<_> = parts
        .iter()
        .filter(|part| BANNED.contains(part))
        .map(|part| {
            file.finding(format!(
                "`{part}` says nothing; name it for the noun it owns"
            ))
        })
        .collect();
    if let [.., folder, name] = parts.as_slice()
        && folder == name
    {
        findings.push(file.finding("the file repeats the name of its folder"));
    }
    findings
}

/// A crate has one integration binary, `tests/it/main.rs`: each further one costs a link and a start.
pub(super) fn one_integration_binary(file: &SourceFile) -> Vec<Finding> {
    let parts: Vec<_> = file.path.split('/').collect();
    match parts.as_slice() {
        [.., "tests", name] if file.is_rust() && !parts.contains(&"src") => {
            vec![file.finding(format!(
                "move {name} to tests/it/ and name it in tests/it/main.rs"
            ))]
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::complaints;

    #[test]
    fn names_that_say_nothing_are_refused() {
        assert_eq!(complaints(banned_names, "crates/x/src/utils.rs", ""), [0]);
        assert_eq!(complaints(banned_names, "crates/core/src/a.rs", ""), [0]);
        assert_eq!(
            complaints(banned_names, "crates/x/tests/it/common/mod.rs", ""),
            [0]
        );
        assert!(complaints(banned_names, "crates/x/src/common_prefix.rs", "").is_empty());
    }

    #[test]
    fn a_file_named_like_its_folder_is_refused() {
        assert_eq!(
            complaints(banned_names, "crates/x/src/wire/wire.rs", ""),
            [0]
        );
        assert!(complaints(banned_names, "crates/x/src/wire/mod.rs", "").is_empty());
    }

    #[test]
    fn a_second_integration_binary_is_refused() {
        assert_eq!(
            complaints(one_integration_binary, "crates/x/tests/more.rs", ""),
            [0]
        );
        assert!(complaints(one_integration_binary, "crates/x/tests/it/main.rs", "").is_empty());
        assert!(complaints(one_integration_binary, "crates/x/src/tests/a.rs", "").is_empty());
    }
}
