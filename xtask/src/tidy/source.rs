//! The files tidy looks at, and which of their lines are test code.
//!
//! Reads the tree itself instead of asking git, so that it also works in an unpacked archive. Build products,
//! fetched packages and fuzzing finds are left out.

use std::path::Path;

use anyhow::Context as _;

/// Folders (and files) that hold nothing written by hand.
const SKIPPED: [&str; 6] = [
    ".git",
    "target",
    "node_modules",
    "corpus",
    "artifacts",
    "dist",
];
/// Larger files are data.
const LARGEST: u64 = 2 * 1024 * 1024;

/// A text file of the repository.
#[derive(Debug)]
pub(crate) struct SourceFile {
    /// Relative to the root, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl SourceFile {
    pub(crate) fn is_rust(&self) -> bool {
        self.has_extension("rs")
    }

    pub(crate) fn has_extension(&self, extension: &str) -> bool {
        Path::new(&self.path)
            .extension()
            .is_some_and(|found| found == extension)
    }

    /// The last part of the path.
    pub(crate) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// Whether the whole file is test code.
    pub(crate) fn is_test_file(&self) -> bool {
        self.name().ends_with("_tests.rs")
            || self.name() == "tests.rs"
            || self
                .path
                .split('/')
                .any(|part| part == "tests" || part == "benches")
    }

    /// The lines with their numbers (from 1), each with whether it is test code.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str, Code)> {
        let mut region = if self.is_test_file() {
            Region::AllTest
        } else {
            Region::Product
        };
        self.text.lines().enumerate().map(move |(index, line)| {
            region = region.after(line);
            let code = match region {
                Region::Product => Code::Product,
                Region::AllTest | Region::Marked | Region::Inside | Region::Closing => Code::Test,
            };
            (index + 1, line, code)
        })
    }
}

/// Whether a line is part of the product or of its tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    Product,
    Test,
}

/// Where the reader is. Relies on rustfmt: a module at the outer level ends with a `}` in the first column.
#[derive(Clone, Copy)]
enum Region {
    AllTest,
    Product,
    /// After `#[cfg(test)]`, before the item it belongs to is open.
    Marked,
    Inside,
    /// On the last line of a test module.
    Closing,
}

impl Region {
    fn after(self, line: &str) -> Self {
        match self {
            Self::AllTest => Self::AllTest,
            Self::Product | Self::Closing if line.starts_with("#[cfg(test)]") => Self::Marked,
            Self::Product | Self::Closing => Self::Product,
            Self::Marked if line.ends_with('{') => Self::Inside,
            Self::Marked if line.ends_with(';') => Self::Closing,
            Self::Marked => Self::Marked,
            Self::Inside if line.starts_with('}') => Self::Closing,
            Self::Inside => Self::Inside,
        }
    }
}

/// Reads all text files below `root`, in the order of their paths.
pub(crate) fn read_tree(root: &Path) -> anyhow::Result<Vec<SourceFile>> {
    let mut files = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        let entries = std::fs::read_dir(&folder)
            .with_context(|| format!("failed to list {}", folder.display()))?;
        for entry in entries {
            let entry = entry.with_context(|| format!("failed to list {}", folder.display()))?;
            let (kind, name) = (entry.file_type()?, entry.file_name());
            // In a git worktree `.git` is a file, so the name counts for both kinds.
            if SKIPPED.iter().any(|skipped| name == *skipped) {
                continue;
            }
            if kind.is_dir() {
                open.push(entry.path());
            } else if kind.is_file() && entry.metadata()?.len() <= LARGEST {
                files.extend(read(root, &entry.path()));
            }
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// A file that is not UTF-8 is data and left out.
fn read(root: &Path, file: &Path) -> Option<SourceFile> {
    let text = std::fs::read_to_string(file).ok()?;
    let path = file.strip_prefix(root).ok()?.to_str()?.to_owned();
    Some(SourceFile { path, text })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::file;

    fn test_lines(path: &str, text: &str) -> Vec<usize> {
        let file = file(path, text);
        file.lines()
            .filter(|(.., code)| *code == Code::Test)
            .map(|(number, ..)| number)
            .collect()
    }

    #[test]
    fn an_inline_test_module_ends_where_it_ends() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {\n    }\n}\nfn c() {}\n";
        assert_eq!(test_lines("crates/x/src/a.rs", text), [2, 3, 4, 5, 6]);
    }

    #[test]
    fn a_test_module_in_its_own_file_leaves_the_rest_as_product() {
        let text = "#[cfg(test)]\n#[path = \"a_tests.rs\"]\nmod tests;\nfn c() {}\n";
        assert_eq!(test_lines("crates/x/src/a.rs", text), [1, 2, 3]);
    }

    #[test]
    fn test_files_are_test_code_throughout() {
        assert_eq!(test_lines("crates/x/tests/it/main.rs", "fn a() {}\n"), [1]);
        assert_eq!(test_lines("crates/x/src/a_tests.rs", "fn a() {}\n"), [1]);
    }

    #[test]
    fn build_products_are_left_out() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("target")).unwrap();
        std::fs::write(root.path().join("target/a.rs"), "").unwrap();
        std::fs::write(root.path().join("b.rs"), "").unwrap();
        let paths: Vec<_> = read_tree(root.path())
            .unwrap()
            .into_iter()
            .map(|file| file.path)
            .collect();
        assert_eq!(paths, ["b.rs"]);
    }
}
