//! Real repositories, some of them made to run something when they are looked at.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use estelle_proto::PathText;
use estelle_state::policy::DenyPatterns;
use tempfile::TempDir;

use super::{Diff, Git, GitError, Repository, Status};
use crate::files::Guard;

/// A folder with a repository in it.
pub(crate) struct Scene {
    place: TempDir,
    pub(crate) base: PathBuf,
    pub(crate) git: Git,
    pub(crate) guard: Guard,
}

impl Scene {
    /// Without a repository.
    pub(crate) fn bare(name: &str) -> Self {
        let place = tempfile::tempdir().unwrap();
        let base = place.path().join(name);
        fs::create_dir(&base).unwrap();
        Self {
            guard: Guard::new(DenyPatterns::default(), &place.path().join("data")),
            git: Git::default(),
            base,
            place,
        }
    }

    /// With one commit.
    pub(crate) fn new() -> Self {
        Self::begun(Self::bare("work"))
    }

    /// The same in this folder, whose disk may be another one.
    pub(crate) fn on(base: &Path) -> Self {
        fs::create_dir(base).unwrap();
        let base = base.to_owned();
        Self::begun(Self {
            base,
            ..Self::bare("unused")
        })
    }

    fn begun(scene: Self) -> Self {
        scene.run(&["init", "-q", "-b", "main"]);
        scene.write("kept.txt", "one\ntwo\nthree\n");
        scene.write("gone.txt", "gone\n");
        scene.write("sub/deep.txt", "deep\n");
        scene.commit("first");
        scene
    }

    /// A folder on an ordinary disk.
    pub(crate) fn elsewhere(&self) -> &Path {
        self.place.path()
    }

    /// Git as anybody would call it, who trusts the repository.
    pub(crate) fn run(&self, args: &[&str]) -> String {
        let output = self.plain(args);
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn plain(&self, args: &[&str]) -> Output {
        let mut command = Command::new("git");
        command.args(args).current_dir(&self.base).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap());
        command.env("HOME", self.place.path());
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "A");
            command.env(format!("GIT_{who}_EMAIL"), "a@example.org");
        }
        command.output().unwrap()
    }

    pub(crate) fn commit(&self, message: &str) {
        self.run(&["add", "-A"]);
        self.run(&["commit", "-q", "-m", message]);
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.base.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    async fn status(&self) -> Result<Status, GitError> {
        Repository::find(&self.git, &self.base)
            .await?
            .status()
            .await
    }

    async fn diff(&self, path: Option<&str>) -> Result<Diff, GitError> {
        let path = path.map(|path| PathText::parse(path).unwrap());
        let repository = Repository::find(&self.git, &self.base).await?;
        repository.diff(path.as_ref(), None, &self.guard).await
    }
}

fn told(status: &Status) -> Vec<String> {
    let files = status.files.iter().map(|file| {
        let lines = file.insertions.zip(file.deletions);
        let lines = lines.map_or_else(String::new, |(came, went)| format!(" +{came} -{went}"));
        format!("{} {}{lines}", file.kind.as_str(), file.path)
    });
    files.collect()
}

#[tokio::test]
async fn what_is_not_committed_is_told_file_by_file() {
    let scene = Scene::new();
    scene.write("kept.txt", "one\n2\nthree\nfour\n");
    fs::remove_file(scene.base.join("gone.txt")).unwrap();
    scene.run(&["mv", "sub/deep.txt", "sub/moved.txt"]);
    scene.write("new.txt", "new\n");
    scene.run(&["add", "new.txt"]);
    scene.write("un\nknown", "x");
    scene.write("ignored.log", "x");
    scene.write(".gitignore", "*.log\n");
    let status = scene.status().await.unwrap();
    assert_eq!(status.branch.as_deref(), Some("main"));
    assert_eq!(
        status.head.as_deref(),
        Some(scene.run(&["rev-parse", "HEAD"]).trim())
    );
    let wanted = [
        "untracked .gitignore",
        "deleted gone.txt +0 -1",
        "modified kept.txt +2 -1",
        "added new.txt +1 -0",
        "renamed sub/moved.txt +0 -0",
        "untracked un\nknown",
    ];
    assert_eq!(told(&status), wanted);
    let diff = scene.diff(None).await.unwrap();
    for part in [
        "-two\n+2\n",
        "+four\n",
        "rename to sub/moved.txt",
        "+*.log",
        "\"b/un\\nknown\"",
    ] {
        assert!(diff.text.contains(part), "{part} in {}", diff.text);
    }
    assert!(!diff.is_cut);
    let one = scene.diff(Some("kept.txt")).await.unwrap();
    assert!(
        one.text.contains("+four") && !one.text.contains("new.txt"),
        "{}",
        one.text
    );
    assert_ne!(one.digest(), diff.digest());
    assert_eq!(
        one.digest(),
        scene.diff(Some("kept.txt")).await.unwrap().digest()
    );
}

#[tokio::test]
async fn before_the_first_commit_everything_is_new() {
    let scene = Scene::bare("work");
    scene.run(&["init", "-q", "-b", "main"]);
    scene.write("a", "a\n");
    scene.write("b", "no line feed");
    scene.run(&["add", "a"]);
    let status = scene.status().await.unwrap();
    assert_eq!(
        (status.head.clone(), status.branch.as_deref()),
        (None, Some("main"))
    );
    assert_eq!(told(&status), ["added a +1 -0", "untracked b"]);
    let diff = scene.diff(None).await.unwrap().text;
    assert!(
        diff.contains("+a\n") && diff.contains("\\ No newline"),
        "{diff}"
    );
}

#[tokio::test]
async fn of_a_larger_repository_only_the_folder_is_shown() {
    let mut scene = Scene::new();
    scene.write("kept.txt", "changed outside\n");
    scene.write("sub/deep.txt", "changed inside\n");
    scene.write("sub/new", "new\n");
    scene.base.push("sub");
    let status = scene.status().await.unwrap();
    assert_eq!(told(&status), ["modified deep.txt +1 -1", "untracked new"]);
    let diff = scene.diff(None).await.unwrap().text;
    assert!(
        diff.contains("b/deep.txt") && !diff.contains("outside"),
        "{diff}"
    );
}

#[tokio::test]
async fn secrets_are_named_and_not_shown() {
    let scene = Scene::new();
    scene.write(".env", "PASSWORD=old\n");
    scene.write("plain", "plain\n");
    scene.run(&["add", "-f", "-A"]);
    scene.run(&["commit", "-q", "-m", "with a secret"]);
    scene.write(".env", "PASSWORD=new\n");
    scene.write("id_rsa", "PRIVATE\n");
    scene.run(&["mv", "plain", "prod.env"]);
    symlink(".env", scene.base.join("link")).unwrap();
    let diff = scene.diff(None).await.unwrap();
    assert_eq!(diff.withheld, 3, "{}", diff.text);
    for secret in ["PASSWORD", "PRIVATE", "plain\n"] {
        assert!(!diff.text.contains(secret), "{}", diff.text);
    }
    let none = scene.diff(Some(".env")).await.unwrap();
    assert_eq!((none.text.as_str(), none.withheld), ("", 1));
}

/// A program that leaves a mark when it is run, and passes its input on.
fn trap(scene: &Scene, name: &str) -> (String, PathBuf) {
    let mark = scene.place.path().join(format!("{name}.mark"));
    let program = scene.place.path().join(format!("{name}.sh"));
    let text = format!("#!/bin/sh\n: > '{}'\nexec cat\n", mark.display());
    fs::write(&program, text).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    (program.to_str().unwrap().to_owned(), mark)
}

/// Everything that a repository can name to be run when somebody looks.
fn plant(scene: &Scene) -> Vec<PathBuf> {
    let settings = [
        ("core.fsmonitor", "monitor"),
        ("diff.external", "external"),
        ("diff.odd.textconv", "textconv"),
        ("diff.odd.command", "command"),
        ("filter.a=b c.clean", "clean"),
        ("filter.a=b c.smudge", "smudge"),
        ("filter.named.clean", "named"),
        ("filter.named.smudge", "named-out"),
        ("core.pager", "pager"),
        ("core.sshCommand", "ssh"),
        ("credential.helper", "helper"),
        ("core.editor", "editor"),
        ("gpg.program", "gpg"),
    ];
    let mut marks = Vec::new();
    for (key, name) in settings {
        let (program, mark) = trap(scene, name);
        scene.run(&["config", key, &program]);
        marks.push(mark);
    }
    let (hook, mark) = trap(scene, "hook");
    let hooks = scene.base.join(".git/hooks");
    fs::create_dir_all(&hooks).unwrap();
    for name in [
        "post-index-change",
        "fsmonitor-watchman",
        "pre-commit",
        "post-checkout",
    ] {
        fs::copy(&hook, hooks.join(name)).unwrap();
    }
    scene.run(&["config", "status.submoduleSummary", "true"]);
    scene.run(&["config", "log.showSignature", "true"]);
    marks.push(mark);
    scene.run(&["config", "filter.named.required", "true"]);
    let attributes = "*.txt filter=named diff=odd\n";
    fs::write(scene.base.join(".git/info/attributes"), attributes).unwrap();
    scene.write(".gitattributes", attributes);
    marks
}

#[tokio::test]
async fn looking_runs_nothing_of_the_repository() {
    let scene = Scene::new();
    let marks = plant(&scene);
    scene.write("kept.txt", "changed\n");
    let status = scene.status().await.unwrap();
    assert!(
        told(&status).contains(&"modified kept.txt +1 -3".to_owned()),
        "{status:?}"
    );
    let diff = scene.diff(None).await.unwrap();
    assert!(diff.text.contains("+changed"), "{}", diff.text);
    let ran: Vec<_> = marks.iter().filter(|mark| mark.exists()).collect();
    assert!(ran.is_empty(), "{ran:?}");
    // The traps are alive: who trusts the repository runs into them.
    scene.plain(&["status"]);
    // A monitor that says nothing would hide the change.
    scene.plain(&["-c", "core.fsmonitor=false", "diff"]);
    scene.plain(&["-c", "core.fsmonitor=false", "diff", "--no-ext-diff"]);
    for name in ["monitor", "command", "textconv", "named"] {
        let mark = scene.place.path().join(format!("{name}.mark"));
        assert!(mark.exists(), "{name} is no trap");
    }
}

#[tokio::test]
async fn no_name_in_git_reaches_a_shell() {
    let scene = Scene::new();
    let ran = scene.place.path().join("ran");
    let trap = format!("$(touch {0});`touch {0}`\";touch {0};\"", ran.display());
    for key in ["user.name", "user.email", "author.email"] {
        scene.run(&["config", key, &trap]);
    }
    scene.run(&["branch", "-m", "$(touch${IFS}ran)"]);
    scene.run(&["config", "branch.$(touch${IFS}ran).remote", &trap]);
    let name = "$(touch ran);`touch ran`.txt";
    scene.write(name, "one\n");
    scene.run(&["add", "-A"]);
    let status = scene.status().await.unwrap();
    assert_eq!(status.branch.as_deref(), Some("$(touch${IFS}ran)"));
    assert_eq!(told(&status), [format!("added {name} +1 -0")]);
    scene.diff(Some(name)).await.unwrap();
    assert!(!ran.exists() && !scene.base.join("ran").exists());
}

#[tokio::test]
async fn a_repository_that_is_none_or_elsewhere_is_said_to_be() {
    let scene = Scene::bare("; rm -rf ~ $(x)\n-rf");
    assert!(matches!(scene.status().await, Err(GitError::NoRepository)));
    // A bare repository that lies in a folder is data, not a repository of the folder.
    scene.run(&["init", "-q", "--bare", "."]);
    assert!(scene.status().await.is_err());

    let scene = Scene::new();
    let elsewhere = scene.place.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("private"), "private").unwrap();
    scene.run(&["config", "core.worktree", elsewhere.to_str().unwrap()]);
    assert!(matches!(scene.status().await, Err(GitError::Elsewhere)));

    let linked = Scene::bare("linked");
    let real = Scene::new();
    symlink(real.base.join(".git"), linked.base.join(".git")).unwrap();
    linked.write("kept.txt", "one\ntwo\nthree\n");
    let status = linked.status().await.unwrap();
    assert!(
        !told(&status).iter().any(|file| file.contains("kept.txt")),
        "{status:?}"
    );
}

#[tokio::test]
async fn a_damaged_repository_and_one_that_takes_too_long_are_failures() {
    let scene = Scene::new();
    fs::write(scene.base.join(".git/index"), "no index").unwrap();
    let error = scene.status().await.unwrap_err();
    assert!(
        matches!(&error, GitError::Refused { said } if !said.is_empty()),
        "{error}"
    );
    let scene = Scene::new();
    // A settings file that nobody ever writes: git waits for it for ever.
    let settings = scene.base.join(".git/config");
    fs::remove_file(&settings).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &settings,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    let hasty = scene.git.clone().within(Duration::from_millis(50));
    let error = Repository::find(&hasty, &scene.base).await.unwrap_err();
    assert!(matches!(error, GitError::TooLong(_)), "{error}");
    let gone = Repository::find(&scene.git, Path::new("/no/such/folder")).await;
    assert!(matches!(gone, Err(GitError::Io(_))));
}
