//! Rules about documentation: modules say what they own, `lib.rs` is a table of contents, documents stay short.

use super::{Finding, SourceFile};

/// Documents that must exist, with the most lines each may have.
const DOCUMENTS: [(&str, usize); 3] = [
    ("README.md", 120),
    ("ARCHITECTURE.md", 500),
    ("CONTRIBUTING.md", 150),
];

/// Every Rust file starts with its module documentation.
pub(super) fn module_docs(file: &SourceFile) -> Vec<Finding> {
    if !file.is_rust() || file.text.starts_with("//! ") {
        return Vec::new();
    }
    vec![file.finding_at(
        1,
        "start the file with `//!`: what it owns and what it does not do",
    )]
}

/// `lib.rs` holds documentation, attributes, `mod` and `pub use` lines, nothing else.
pub(super) fn no_logic_in_lib(file: &SourceFile) -> Vec<Finding> {
    if file.name() != "lib.rs" {
        return Vec::new();
    }
    // Set while a statement or attribute that is allowed goes on over several lines: what ends it.
    let mut until: Option<char> = None;
    let mut findings = Vec::new();
    for (number, line, _) in file.lines() {
        let line = line.trim();
        if let Some(end) = until {
            until = Some(end).filter(|end| !line.ends_with(*end));
        } else if let Some(end) = allowed_in_lib(line) {
            until = Some(end).filter(|end| !line.ends_with(*end));
        } else if !line.is_empty() && !line.starts_with("//") {
            findings.push(file.finding_at(
                number,
                "lib.rs holds only docs, attributes, `mod` and `pub use`; move this into a module",
            ));
        }
    }
    findings
}

/// The character that ends the item that starts on this line, if such an item may stand in `lib.rs`.
fn allowed_in_lib(line: &str) -> Option<char> {
    if line.starts_with("#[") || line.starts_with("#![") {
        return Some(']');
    }
    // A module with a body is code in the wrong place.
    let modules = ["mod ", "pub mod ", "pub(crate) mod "];
    let is_module = modules.iter().any(|start| line.starts_with(start)) && line.ends_with(';');
    let exports = ["pub use ", "pub(crate) use "];
    let is_item = is_module || exports.iter().any(|start| line.starts_with(start));
    is_item.then_some(';')
}

/// The documents a newcomer reads have a limit.
pub(super) fn document_length(file: &SourceFile) -> Vec<Finding> {
    let limit = DOCUMENTS.iter().find(|(path, _)| *path == file.path);
    let lines = file.text.lines().count();
    match limit {
        Some((_, limit)) if lines > *limit => {
            vec![file.finding(format!("{lines} lines, at most {limit}: shorten it"))]
        }
        _ => Vec::new(),
    }
}

/// The documents a newcomer reads are there.
pub(super) fn missing_documents(files: &[SourceFile]) -> Vec<Finding> {
    let missing = DOCUMENTS
        .iter()
        .filter(|(path, _)| !files.iter().any(|file| file.path == *path));
    let finding = |path: &str| Finding {
        path: path.to_owned(),
        line: None,
        message: "is missing".to_owned(),
    };
    missing.map(|(path, _)| finding(path)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::{complaints, file};

    #[test]
    fn a_module_without_docs_is_refused() {
        assert_eq!(
            complaints(module_docs, "crates/x/src/a.rs", "use std::fmt;\n"),
            [1]
        );
        assert_eq!(
            complaints(module_docs, "crates/x/src/a.rs", "\n//! Late.\n"),
            [1]
        );
        assert!(complaints(module_docs, "crates/x/src/a.rs", "//! Owns a.\n").is_empty());
        assert!(complaints(module_docs, "notes.md", "text").is_empty());
    }

    #[test]
    fn logic_in_lib_is_refused() {
        let text = "//! Doc.\n\nmod a;\nuse std::fmt;\nmod b { fn f() {} }\n";
        assert_eq!(
            complaints(no_logic_in_lib, "crates/x/src/lib.rs", text),
            [4, 5]
        );
        assert!(complaints(no_logic_in_lib, "crates/x/src/a.rs", text).is_empty());
    }

    #[test]
    fn a_table_of_contents_over_several_lines_passes() {
        let text = "//! Doc.\n#![cfg_attr(\n    docsrs,\n    feature(doc_cfg)\n)]\n// Why.\npub mod a;\n#[cfg(test)]\nmod b_tests;\n\
            pub use a::{\n    One,\n    Two,\n};\n";
        assert_eq!(
            complaints(no_logic_in_lib, "crates/x/src/lib.rs", text),
            [] as [usize; 0]
        );
    }

    #[test]
    fn long_and_missing_documents_are_refused() {
        let long = "x\n".repeat(121);
        assert_eq!(complaints(document_length, "README.md", &long), [0]);
        assert!(complaints(document_length, "docs/README.md", &long).is_empty());
        let missing = missing_documents(&[file("README.md", ""), file("CONTRIBUTING.md", "")]);
        assert_eq!(missing.len(), 1);
        assert_eq!(missing[0].path, "ARCHITECTURE.md");
    }
}
