//! The diff from a commit to the folder, with files that git does not know yet as new ones.
//!
//! Contents of files with secrets are left out, and counted. The whole diff is made for every chunk of it that somebody
//! asks for; its digest says whether it still is the same.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Component, Path};

use estelle_proto::PathText;
use estelle_proto::changes::ChangeKind;

use super::command::GitError;
use super::repository::Repository;
use super::status::diff_args;
use crate::files::{Contents, Guard, Piece, read};

/// Most bytes of a diff: more than anybody reads.
const MOST: usize = 4 * 1024 * 1024;
/// Most bytes of a file that git does not know.
const MOST_OF_NEW: usize = 256 * 1024;
/// Most files that git does not know.
const MOST_NEW: usize = 500;
/// Most files that are left out one by one.
const MOST_WITHHELD: usize = 1000;

/// A diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diff {
    /// In git's unified form.
    pub text: String,
    /// Files whose contents are left out.
    pub withheld: usize,
    /// Whether it is larger than is made.
    pub is_cut: bool,
}

impl Diff {
    /// Names the diff.
    pub fn digest(&self) -> String {
        let mut hasher = DefaultHasher::new();
        self.text.hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }
}

/// Whether a path is one of a file in the folder, as git takes it.
pub fn is_plain(path: &str) -> bool {
    let mut parts = Path::new(path).components();
    parts.all(|part| matches!(part, Component::Normal(_)))
}

impl Repository {
    /// The diff of the folder, or of one file or folder in it; the path is plain. From a commit, or else from the last one.
    pub async fn diff(
        &self,
        path: Option<&PathText>,
        since: Option<&str>,
        guard: &Guard,
    ) -> Result<Diff, GitError> {
        let (status, base) = if let Some(commit) = since {
            (self.status_since(commit).await?, commit.to_owned())
        } else {
            let status = self.status().await?;
            let base = self.base(status.head.as_deref()).await?;
            (status, base)
        };
        let wanted = |changed: &str| match path {
            None => true,
            Some(path) => Path::new(changed).starts_with(path.as_str()),
        };
        let files = status.files.iter();
        let files: Vec<_> = files.filter(|file| wanted(file.path.as_str())).collect();
        let is_secret = |path: &PathText| guard.is_secret(&self.folder().join(path.as_str()));
        let secrets = files.iter().flat_map(|file| {
            let names = [Some(&file.path), file.old_path.as_ref()];
            let is_one = names.iter().flatten().any(|name| is_secret(name));
            names.into_iter().flatten().filter(move |_| is_one)
        });
        let secrets: Vec<&PathText> = secrets.collect();
        if secrets.len() > MOST_WITHHELD {
            return Err(GitError::Overloaded);
        }
        let mut diff = self.known(&base, path, &secrets).await?;
        let withheld = files.iter().filter(|file| secrets.contains(&&file.path));
        diff.withheld = withheld.count();
        let new = files
            .iter()
            .filter(|file| file.kind == ChangeKind::Untracked);
        let new = new.map(|file| file.path.clone());
        let new: Vec<PathText> = new.filter(|path| !secrets.contains(&path)).collect();
        diff.is_cut |= status.is_cut || new.len() > MOST_NEW;
        let (folder, guard) = (self.folder().to_owned(), guard.clone());
        let added = tokio::task::spawn_blocking(move || {
            for path in new.iter().take(MOST_NEW) {
                if diff.text.len() >= MOST {
                    diff.is_cut = true;
                    break;
                }
                append_new(&mut diff, &folder, path, &guard);
            }
            diff
        });
        added
            .await
            .map_err(|error| std::io::Error::other(error).into())
    }

    /// The diff of what git knows.
    async fn known(
        &self,
        base: &str,
        path: Option<&PathText>,
        secrets: &[&PathText],
    ) -> Result<Diff, GitError> {
        let args = diff_args(&["--patch", "--unified=3", "--inter-hunk-context=0"], base);
        let mut args: Vec<OsString> = args.into_iter().map(OsString::from).collect();
        args.push(match path {
            Some(path) => format!(":(literal){path}").into(),
            None => ".".into(),
        });
        args.extend(
            secrets
                .iter()
                .map(|secret| format!(":(exclude,literal){secret}").into()),
        );
        let said = self.ask(args, MOST).await?;
        Ok(Diff {
            text: String::from_utf8_lossy(&said.out).into_owned(),
            withheld: 0,
            is_cut: said.is_cut,
        })
    }
}

/// Adds a file that git does not know, in the form in which git would show it.
fn append_new(diff: &mut Diff, folder: &Path, path: &PathText, guard: &Guard) {
    let piece = Piece {
        offset: 0,
        limit: MOST_OF_NEW,
        is_encoded: false,
    };
    // A link or a pipe has no contents to show; a file may be gone by now.
    let Ok(chunk) = read(folder, Path::new(path.as_str()), piece, guard) else {
        return;
    };
    // What a link leads to is not new.
    if chunk.relative != Path::new(path.as_str()) {
        return;
    }
    diff.is_cut |= chunk.next.is_some();
    let text = &mut diff.text;
    let (old, new) = (quoted("a/", path), quoted("b/", path));
    // Writing to a text does not fail.
    let _ = write!(text, "diff --git {old} {new}\nnew file mode 100644\n");
    match chunk.contents {
        Contents::Text(contents) if !contents.is_empty() => {
            let lines = contents.lines().count();
            let _ = write!(text, "--- /dev/null\n+++ {new}\n@@ -0,0 +1,{lines} @@\n");
            for line in contents.split_inclusive('\n') {
                text.push('+');
                text.push_str(line);
            }
            if !contents.ends_with('\n') {
                text.push_str("\n\\ No newline at end of file\n");
            }
        }
        Contents::Text(_) => {}
        Contents::Base64(_) | Contents::Binary => {
            let _ = writeln!(text, "Binary files /dev/null and {new} differ");
        }
    }
}

/// A path as git writes it: one that could be taken for more than a path stands in quotes.
fn quoted(prefix: &str, path: &PathText) -> String {
    let path = path.as_str();
    let is_odd = |c: char| c.is_control() || matches!(c, '"' | '\\');
    if !path.chars().any(is_odd) {
        return format!("{prefix}{path}");
    }
    let mut text = format!("\"{prefix}");
    for c in path.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            c if c.is_control() => {
                let mut bytes = [0; 4];
                for byte in c.encode_utf8(&mut bytes).bytes() {
                    let _ = write!(text, "\\{byte:03o}");
                }
            }
            c => text.push(c),
        }
    }
    text.push('"');
    text
}
