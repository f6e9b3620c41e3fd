//! Files made from the protocol types: TypeScript for the app, JSON Schema, and the pages of the protocol.
//!
//! The source of all three is `crates/proto`; nothing here knows a message by name. Everything is made in memory first,
//! so that writing and checking cannot differ, and a test compares it with the tree.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, bail};

use crate::workspace;

mod pages;
mod rights;
mod schema;
mod typescript;

/// Folders that hold nothing but made files.
const FOLDERS: [&str; 3] = ["web/src/gen", "docs/protocol", "docs/protocol/schema"];
/// The examples, which the pages show.
const EXAMPLES: &str = "fixtures/proto/v1";

/// A file and what belongs into it.
#[derive(Debug)]
struct Made {
    /// Relative to the root, with `/`.
    path: String,
    text: String,
}

fn make(root: &Path) -> anyhow::Result<Vec<Made>> {
    let mut files = typescript::files();
    files.extend(schema::files()?);
    files.extend(pages::files(&root.join(EXAMPLES))?);
    files.push(rights::file());
    Ok(files)
}

/// Writes every file and removes those that are no longer made.
pub(crate) fn write() -> anyhow::Result<()> {
    let root = workspace::root();
    let files = make(&root)?;
    for path in leftovers(&root, &files)? {
        fs::remove_file(root.join(&path)).with_context(|| format!("remove {path}"))?;
    }
    for file in files {
        let path = root.join(&file.path);
        let folder = path.parent().context("a made file has a folder")?;
        fs::create_dir_all(folder)?;
        fs::write(&path, file.text).with_context(|| format!("write {}", file.path))?;
    }
    Ok(())
}

/// The error lists every file that is missing, differs or should not be there.
pub(crate) fn check() -> anyhow::Result<()> {
    let root = workspace::root();
    let files = make(&root)?;
    let mut stale = leftovers(&root, &files)?;
    let differing = files
        .into_iter()
        .filter(|file| fs::read_to_string(root.join(&file.path)).ok().as_ref() != Some(&file.text));
    stale.extend(differing.map(|file| file.path));
    if stale.is_empty() {
        return Ok(());
    }
    let list = stale.join("\n");
    bail!("out of date; run `cargo xtask gen` and commit the result:\n{list}")
}

/// Files in our folders that nothing makes.
fn leftovers(root: &Path, files: &[Made]) -> anyhow::Result<Vec<String>> {
    let made: BTreeSet<_> = files.iter().map(|file| file.path.as_str()).collect();
    let mut found = Vec::new();
    for folder in FOLDERS {
        let Ok(entries) = fs::read_dir(root.join(folder)) else {
            continue;
        };
        for entry in entries {
            let entry = entry?;
            let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
            if entry.file_type()?.is_file() && !made.contains(path.as_str()) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn made_files_are_fresh() {
        if let Err(error) = check() {
            panic!("{error}");
        }
    }

    #[test]
    fn a_message_without_a_payload_fits_its_type_and_schema() {
        let files = make(&workspace::root()).unwrap();
        let text = |path: &str| &files.iter().find(|file| file.path == path).unwrap().text;
        let types = text("web/src/gen/directions.ts");
        assert!(types.contains(r#""type": "workspace_list", "payload"?: WorkspaceList }"#));
        assert!(types.contains(r#""type": "claude_send", "payload": ClaudeSend }"#));
        let schema = text("docs/protocol/schema/app-to-pylon.json");
        let schema: serde_json::Value = serde_json::from_str(schema).unwrap();
        let required = |kind: &str| {
            let kinds = schema["oneOf"].as_array().unwrap();
            let found = kinds
                .iter()
                .find(|one| one["properties"]["type"]["const"] == kind);
            found.unwrap()["required"].as_array().unwrap().len()
        };
        assert_eq!(
            (required("workspace_list"), required("claude_send")),
            (1, 2)
        );
    }

    #[test]
    fn a_file_that_nothing_makes_is_found() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("web/src/gen")).unwrap();
        for name in ["old.ts", "new.ts"] {
            fs::write(root.path().join("web/src/gen").join(name), "").unwrap();
        }
        let made = Made {
            path: "web/src/gen/new.ts".to_owned(),
            text: String::new(),
        };
        let found = leftovers(root.path(), &[made]).unwrap();
        assert_eq!(found, ["web/src/gen/old.ts"]);
    }
}
