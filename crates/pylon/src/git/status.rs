//! What is not committed: which files, how they differ, and by how many lines.
//!
//! Both answers of git come with zero bytes between paths, so that no name can break them; parsing is pure and takes
//! whatever comes.

use std::collections::BTreeMap;

use estelle_proto::PathText;
use estelle_proto::changes::{ChangeKind, ChangedFile};

use super::command::GitError;
use super::repository::Repository;

/// Most bytes of a list of files; some tens of thousands of them.
const MOST: usize = 8 * 1024 * 1024;

/// What is not committed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Status {
    /// The branch, unless none is checked out.
    pub branch: Option<String>,
    /// The last commit, unless there is none.
    pub head: Option<String>,
    /// The branch it follows.
    pub upstream: Option<String>,
    /// Commits that only we have, and only the upstream has.
    pub ahead_behind: Option<(u64, u64)>,
    /// The files, by path.
    pub files: Vec<ChangedFile>,
    /// Whether there are more.
    pub is_cut: bool,
}

/// Lines that came and went, or nothing for what is no text.
type Lines = Option<(u64, u64)>;

impl Repository {
    /// What is not committed in the folder.
    pub async fn status(&self) -> Result<Status, GitError> {
        let args = [
            "status",
            "--porcelain=v2",
            "--branch",
            "-z",
            "--untracked-files=all",
            "--ignore-submodules=all",
            "--find-renames",
            "--",
            ".",
        ];
        let said = self.ask(args, MOST).await?;
        let prefix = self.line(["rev-parse", "--show-prefix"]).await?;
        let mut status = parse(&said.out, &prefix);
        status.is_cut = said.is_cut;
        let base = self.base(status.head.as_deref()).await?;
        self.count(&mut status, &base).await?;
        Ok(status)
    }

    /// The same with all that was committed since a commit.
    pub async fn status_since(&self, commit: &str) -> Result<Status, GitError> {
        let mut status = self.status().await?;
        let args = diff_args(&["--name-status", "-z"], commit);
        let args = args.into_iter().chain([".".to_owned()]);
        let said = self.ask(args, MOST).await?;
        status.is_cut |= said.is_cut;
        let files = name_status(&said.out).into_iter();
        let mut files: BTreeMap<String, ChangedFile> =
            files.map(|file| (file.path.to_string(), file)).collect();
        for open in std::mem::take(&mut status.files) {
            match files.get_mut(open.path.as_str()) {
                Some(file) => {
                    (file.staged, file.unstaged) = (open.staged, open.unstaged);
                    if open.kind == ChangeKind::Conflicted {
                        file.kind = open.kind;
                    }
                }
                // What git does not know is in none of its diffs; what else is missing is as it was.
                None if open.kind == ChangeKind::Untracked => {
                    files.insert(open.path.to_string(), open);
                }
                None => {}
            }
        }
        status.files = files.into_values().collect();
        self.count(&mut status, commit).await?;
        Ok(status)
    }

    /// Where the commit that is checked out meets a branch; none if they have nothing in common.
    pub async fn meets(&self, branch: &str) -> Result<Option<String>, GitError> {
        let args = ["merge-base", "--end-of-options", branch, "HEAD"];
        if !self.succeeds(args).await? {
            return Ok(None);
        }
        Ok(Some(self.line(args).await?).filter(|commit| !commit.is_empty()))
    }

    async fn count(&self, status: &mut Status, base: &str) -> Result<(), GitError> {
        let args = diff_args(&["--numstat", "-z"], base);
        let said = self
            .ask(args.into_iter().chain([".".to_owned()]), MOST)
            .await?;
        let lines = numstat(&said.out);
        for file in &mut status.files {
            match lines.get(file.path.as_str()) {
                Some(Some((insertions, deletions))) => {
                    file.insertions = Some(*insertions);
                    file.deletions = Some(*deletions);
                }
                Some(None) => file.binary = Some(true),
                None => {}
            }
        }
        Ok(())
    }
}

/// A diff from a commit to the folder, in the same form whatever the repository wishes; paths follow.
pub(super) fn diff_args(form: &[&str], base: &str) -> Vec<String> {
    let mut args: Vec<String> = vec!["diff".to_owned()];
    args.extend(form.iter().map(|&arg| arg.to_owned()));
    args.extend(
        [
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
            "--ignore-submodules=all",
            "--find-renames",
            "--relative",
            "--src-prefix=a/",
            "--dst-prefix=b/",
            "--end-of-options",
            base,
            "--",
        ]
        .map(str::to_owned),
    );
    args
}

/// Reads the answer of `git status`.
fn parse(out: &[u8], prefix: &str) -> Status {
    let mut status = Status::default();
    let mut parts = out.split(|byte| *byte == 0);
    while let Some(part) = parts.next() {
        let part = String::from_utf8_lossy(part);
        match part.split_at_checked(2) {
            Some(("# ", header)) => take_header(&mut status, header),
            Some(("1 ", rest)) => status.files.extend(ordinary(rest, 7, None, prefix)),
            Some(("2 ", rest)) => {
                let old = parts.next().map(String::from_utf8_lossy);
                status
                    .files
                    .extend(ordinary(rest, 8, old.as_deref(), prefix));
            }
            Some(("u ", rest)) => {
                let path = rest.splitn(10, ' ').nth(9);
                status.files.extend(path.and_then(|path| {
                    change(path, None, ChangeKind::Conflicted, (false, true), prefix)
                }));
            }
            Some(("? ", path)) => {
                status.files.extend(change(
                    path,
                    None,
                    ChangeKind::Untracked,
                    (false, true),
                    prefix,
                ));
            }
            Some(_) | None => {}
        }
    }
    status
        .files
        .sort_by(|one, other| one.path.as_str().cmp(other.path.as_str()));
    status
}

fn take_header(status: &mut Status, header: &str) {
    let Some((name, value)) = header.split_once(' ') else {
        return;
    };
    match name {
        "branch.oid" if value != "(initial)" => status.head = Some(value.to_owned()),
        "branch.head" if value != "(detached)" => status.branch = Some(value.to_owned()),
        "branch.upstream" => status.upstream = Some(value.to_owned()),
        "branch.ab" => {
            let mut numbers = value
                .split(' ')
                .filter_map(|part| part.trim_start_matches(['+', '-']).parse().ok());
            status.ahead_behind = numbers.next().zip(numbers.next());
        }
        _ => {}
    }
}

/// A file that git knows: `XY`, some fields, and its path behind the last of them.
fn ordinary(rest: &str, fields: usize, old: Option<&str>, prefix: &str) -> Option<ChangedFile> {
    let path = rest.splitn(fields + 1, ' ').nth(fields)?;
    let mut letters = rest.chars();
    let (staged, unstaged) = (letters.next()?, letters.next()?);
    let has = |letter| staged == letter || unstaged == letter;
    let kind = if has('D') {
        ChangeKind::Deleted
    } else if has('R') {
        ChangeKind::Renamed
    } else if has('C') {
        ChangeKind::Copied
    } else if has('A') {
        ChangeKind::Added
    } else if has('T') {
        ChangeKind::TypeChanged
    } else {
        ChangeKind::Modified
    };
    change(path, old, kind, (staged != '.', unstaged != '.'), prefix)
}

/// A change, if its path is one that can be told: in the folder, and text.
fn change(
    path: &str,
    old: Option<&str>,
    kind: ChangeKind,
    (staged, unstaged): (bool, bool),
    prefix: &str,
) -> Option<ChangedFile> {
    let inside = |path: &str| PathText::parse(path.strip_prefix(prefix)?).ok();
    Some(ChangedFile {
        old_path: old.and_then(inside),
        ..ChangedFile::new(inside(path)?, kind, staged, unstaged)
    })
}

/// Reads the answer of `git diff --name-status -z`.
fn name_status(out: &[u8]) -> Vec<ChangedFile> {
    let mut files = Vec::new();
    let mut parts = out.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    while let (Some(letter), Some(path)) = (parts.next(), parts.next()) {
        let letter = letter.chars().next();
        let kind = match letter {
            Some('A') => ChangeKind::Added,
            Some('D') => ChangeKind::Deleted,
            Some('R') => ChangeKind::Renamed,
            Some('C') => ChangeKind::Copied,
            Some('T') => ChangeKind::TypeChanged,
            Some('U') => ChangeKind::Conflicted,
            Some(_) | None => ChangeKind::Modified,
        };
        let is_moved = matches!(letter, Some('R' | 'C'));
        let new = if is_moved { parts.next() } else { None };
        let (path, old) = match &new {
            Some(new) => (new.as_ref(), Some(path.as_ref())),
            None => (path.as_ref(), None),
        };
        files.extend(change(path, old, kind, (false, false), ""));
    }
    files
}

/// Reads the answer of `git diff --numstat -z`: lines by path.
pub(super) fn numstat(out: &[u8]) -> BTreeMap<String, Lines> {
    let mut lines = BTreeMap::new();
    let mut parts = out.split(|byte| *byte == 0);
    while let Some(part) = parts.next() {
        let part = String::from_utf8_lossy(part);
        let mut fields = part.splitn(3, '\t');
        let (Some(came), Some(went), Some(path)) = (fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        let path = if path.is_empty() {
            // A rename: the old name and the new one follow.
            let _old = parts.next();
            parts.next().map(String::from_utf8_lossy)
        } else {
            Some(path.into())
        };
        let count = came.parse().ok().zip(went.parse().ok());
        if let Some(path) = path {
            lines.insert(path.into_owned(), count);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_change_is_told_with_any_name() {
        let zeros = "0000000 0000000";
        let out = [
            "# branch.oid abc".to_owned(),
            "# branch.head main".to_owned(),
            "# branch.upstream origin/main".to_owned(),
            "# branch.ab +2 -1".to_owned(),
            format!("1 .M N... 100644 100644 100644 {zeros} sub/a b\n.txt"),
            format!("1 A. N... 000000 100644 100644 {zeros} sub/new"),
            format!("1 .D N... 100644 100644 000000 {zeros} sub/gone"),
            format!("1 .T N... 100644 100644 120000 {zeros} sub/link"),
            format!("2 R. N... 100644 100644 100644 {zeros} R100 sub/to"),
            "sub/from".to_owned(),
            format!("u UU N... 100644 100644 100644 100644 {zeros} 0000000 sub/both"),
            "? sub/-rf $(x)".to_owned(),
            "? elsewhere".to_owned(),
            "nonsense".to_owned(),
            String::new(),
        ]
        .join("\0");
        let status = parse(out.as_bytes(), "sub/");
        assert_eq!(status.branch.as_deref(), Some("main"));
        assert_eq!(status.head.as_deref(), Some("abc"));
        assert_eq!(status.upstream.as_deref(), Some("origin/main"));
        assert_eq!(status.ahead_behind, Some((2, 1)));
        let told = status.files.iter().map(|file| {
            let marks = format!("{}{}", u8::from(file.staged), u8::from(file.unstaged));
            format!("{} {} {marks}", file.path, file.kind.as_str())
        });
        let told: Vec<String> = told.collect();
        let wanted = [
            "-rf $(x) untracked 01",
            "a b\n.txt modified 01",
            "both conflicted 01",
            "gone deleted 01",
            "link type_changed 01",
            "new added 10",
            "to renamed 10",
        ];
        assert_eq!(told, wanted);
        let renamed = status.files.iter().find(|one| one.old_path.is_some());
        assert_eq!(renamed.unwrap().old_path.as_ref().unwrap().as_str(), "from");
    }

    #[test]
    fn files_are_told_with_their_old_names() {
        let files = name_status(b"M\0a b\0R100\0old\0new\0D\0gone\0");
        let told = files.iter().map(|file| {
            let old = file.old_path.as_ref().map_or("", PathText::as_str);
            format!("{} {} {old}", file.kind.as_str(), file.path)
        });
        let told: Vec<String> = told.collect();
        assert_eq!(told, ["modified a b ", "renamed new old", "deleted gone "]);
    }

    #[test]
    fn lines_are_counted_by_the_new_name() {
        let lines = numstat(b"1\t2\ta\tb\0-\t-\tpicture\x003\t0\t\0old\0new\0broken\0");
        let wanted = [
            ("a\tb", Some((1, 2))),
            ("new", Some((3, 0))),
            ("picture", None),
        ];
        let wanted = wanted.map(|(path, lines)| (path.to_owned(), lines));
        assert_eq!(lines, wanted.into());
    }
}
