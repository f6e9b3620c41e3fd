//! Worktrees in real repositories: made, merged, removed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use estelle_proto::worktrees::{Worktree, WorktreeState, WorktreeWish};
use estelle_proto::{ConversationId, Name, PathText, Timestamp, WorkspaceId};

use super::{Merged, NewWorktree, Unsaved, WorktreeError, Worktrees};
use crate::git::git_tests::Scene;
use crate::store::{Store, WorktreeRow};

/// A repository with one commit, and a place for worktrees.
pub(super) struct Yard {
    pub(super) scene: Scene,
    worktrees: Worktrees,
    pub(super) store: Store,
}

impl Yard {
    pub(super) fn new() -> Self {
        Self::of(Scene::new())
    }

    pub(super) fn of(scene: Scene) -> Self {
        let place = scene.base.parent().unwrap().to_owned();
        let store = Store::open(&scene.elsewhere().join("store")).unwrap();
        let root = place.join("trees");
        let worktrees = Worktrees {
            patience: Duration::ZERO,
            ..Worktrees::new(scene.git.clone(), store.clone(), root)
        };
        Self {
            scene,
            worktrees,
            store,
        }
    }

    pub(super) fn wish(&self, id: &str, wish: WorktreeWish) -> NewWorktree {
        NewWorktree {
            conversation: conversation(id),
            workspace: workspace(),
            folder: PathText::parse(self.scene.base.to_str().unwrap()).unwrap(),
            name: Name::parse("Log in").unwrap(),
            wish,
            at: Timestamp(1),
        }
    }

    pub(super) async fn try_make(
        &self,
        id: &str,
        wish: WorktreeWish,
    ) -> Result<WorktreeRow, WorktreeError> {
        self.worktrees.make(self.wish(id, wish)).await
    }

    pub(super) async fn make(&self, id: &str) -> Tree {
        let new = self.wish(id, WorktreeWish::default());
        let row = self.worktrees.make(new).await.unwrap();
        self.mark(id, WorktreeState::Ready).await;
        Tree {
            path: PathBuf::from(row.path.as_str()),
            row,
        }
    }

    /// What the store does together with the conversation, or what a crash left.
    pub(super) async fn mark(&self, id: &str, state: WorktreeState) {
        let marked = self.store.mark_worktree(conversation(id), state);
        marked.await.unwrap();
    }

    pub(super) async fn view(&self, id: &str) -> Option<Worktree> {
        let (all, _) = self.worktrees.list(None, None).await.unwrap();
        all.into_iter()
            .find(|one| one.conversation_id == conversation(id))
    }

    pub(super) async fn merge(&self, id: &str) -> Result<Merged, WorktreeError> {
        self.worktrees.merge(&workspace(), &conversation(id)).await
    }

    pub(super) async fn remove(
        &self,
        id: &str,
        unsaved: Unsaved,
    ) -> Result<Vec<String>, WorktreeError> {
        self.worktrees
            .remove(&workspace(), &conversation(id), unsaved)
            .await
    }

    pub(super) async fn settle(&self) {
        let left = self.worktrees.left().await.unwrap();
        self.worktrees.settle(left).await;
    }

    pub(super) fn branches(&self) -> Vec<String> {
        let said = self
            .scene
            .run(&["for-each-ref", "--format=%(refname:short)", "refs/heads"]);
        said.lines().map(str::to_owned).collect()
    }
}

/// A worktree that was made.
pub(super) struct Tree {
    pub(super) row: WorktreeRow,
    pub(super) path: PathBuf,
}

impl Tree {
    pub(super) fn git(&self, args: &[&str]) {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=A", "-c", "user.email=a@example.org"]);
        command.args(args).current_dir(&self.path).env_clear();
        let command = command.env("PATH", std::env::var_os("PATH").unwrap());
        let output = command.env("HOME", &self.path).output().unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
    }

    pub(super) fn commit(&self, file: &str, text: &str) {
        fs::write(self.path.join(file), text).unwrap();
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", file]);
    }
}

fn conversation(id: &str) -> ConversationId {
    ConversationId::parse(id).unwrap()
}

fn workspace() -> WorkspaceId {
    WorkspaceId::parse("ws-1").unwrap()
}

#[tokio::test]
async fn a_worktree_is_made_worked_in_merged_and_removed() {
    let yard = Yard::new();
    let tree = yard.make("one").await;
    assert_eq!(tree.row.branch, "estelle/log-in-one");
    assert_eq!(
        fs::read_to_string(tree.path.join("kept.txt")).unwrap(),
        "one\ntwo\nthree\n"
    );
    tree.commit("new.txt", "new\n");
    fs::write(tree.path.join("kept.txt"), "one\n").unwrap();
    let view = yard.view("one").await.unwrap();
    assert_eq!(view.state, WorktreeState::Ready);
    assert_eq!(
        (view.ahead, view.behind, view.uncommitted),
        (Some(1), Some(0), Some(1))
    );
    assert_eq!(
        (view.insertions, view.deletions, view.detached),
        (Some(1), Some(2), None)
    );
    assert!(
        view.disk_bytes.unwrap() > 0 && view.problem.is_none(),
        "{view:?}"
    );
    tree.commit("kept.txt", "one\n");
    // The workspace has moved on meanwhile, elsewhere.
    yard.scene.write("gone.txt", "other\n");
    yard.scene.commit("other");
    let merged = yard.merge("one").await.unwrap();
    assert_eq!(merged.commits, 2);
    assert_eq!(merged.head, yard.scene.run(&["rev-parse", "main"]).trim());
    assert_eq!(
        fs::read_to_string(yard.scene.base.join("kept.txt")).unwrap(),
        "one\n"
    );
    assert_eq!(yard.scene.run(&["status", "--porcelain"]), "");
    assert_eq!(yard.merge("one").await.unwrap().commits, 0);
    assert_eq!(yard.remove("one", Unsaved::Keep).await.unwrap(), [""; 0]);
    assert!(!tree.path.exists());
    assert_eq!(yard.branches(), ["main"]);
    assert_eq!(yard.view("one").await, None);
    let again = yard.remove("one", Unsaved::Keep).await.unwrap_err();
    assert!(matches!(again, WorktreeError::Unknown { .. }), "{again}");
}

#[tokio::test]
async fn what_is_in_no_commit_is_neither_removed_nor_merged_over() {
    let yard = Yard::new();
    let tree = yard.make("one").await;
    fs::write(tree.path.join("new.txt"), "only here").unwrap();
    for refused in [
        yard.remove("one", Unsaved::Keep).await.unwrap_err(),
        yard.merge("one").await.unwrap_err(),
    ] {
        assert!(
            matches!(refused, WorktreeError::Uncommitted { files: 1, .. }),
            "{refused}"
        );
    }
    assert_eq!(
        fs::read_to_string(tree.path.join("new.txt")).unwrap(),
        "only here"
    );
    tree.commit("new.txt", "committed");
    yard.scene
        .write("kept.txt", "not committed in the workspace\n");
    let refused = yard.merge("one").await.unwrap_err();
    assert!(
        matches!(refused, WorktreeError::Uncommitted { .. }),
        "{refused}"
    );
    assert!(!yard.scene.base.join("new.txt").exists());
    fs::write(tree.path.join("more.txt"), "to be thrown away").unwrap();
    let kept = yard.remove("one", Unsaved::Discard).await.unwrap();
    assert_eq!(kept, std::slice::from_ref(&tree.row.branch));
    assert!(!tree.path.exists());
}

#[tokio::test]
async fn no_commit_is_lost_with_a_folder() {
    let yard = Yard::new();
    let tree = yard.make("one").await;
    tree.commit("a.txt", "on the branch\n");
    tree.git(&["checkout", "-q", "--detach"]);
    tree.commit("b.txt", "on no branch\n");
    assert_eq!(yard.view("one").await.unwrap().detached, Some(true));
    let kept = yard.remove("one", Unsaved::Keep).await.unwrap();
    assert_eq!(kept.len(), 2, "{kept:?}");
    assert!(!tree.path.exists());
    for (branch, file) in [(&tree.row.branch, "a.txt"), (&kept[0], "b.txt")] {
        let name = format!("{branch}:{file}");
        assert!(
            yard.scene.run(&["show", &name]).starts_with("on "),
            "{name}"
        );
    }
}

#[tokio::test]
async fn nothing_goes_under_a_running_process() {
    let yard = Yard::new();
    let tree = yard.make("one").await;
    let mut cat = Command::new("cat");
    let cat = cat.current_dir(tree.path.join("sub")).stdin(Stdio::piped());
    let mut cat = cat.spawn().unwrap();
    let refused = yard.remove("one", Unsaved::Discard).await.unwrap_err();
    assert!(
        matches!(&refused, WorktreeError::Busy { who, .. } if who.contains("process")),
        "{refused}"
    );
    assert!(tree.path.join("kept.txt").exists());
    drop(cat.stdin.take());
    cat.wait().unwrap();
    yard.remove("one", Unsaved::Keep).await.unwrap();
}

#[tokio::test]
async fn branches_that_do_not_merge_change_nothing() {
    let yard = Yard::new();
    let tree = yard.make("one").await;
    tree.commit("kept.txt", "theirs\n");
    yard.scene.write("kept.txt", "ours\n");
    yard.scene.commit("ours");
    let before = yard.scene.run(&["rev-parse", "HEAD"]);
    let refused = yard.merge("one").await.unwrap_err();
    assert!(
        matches!(&refused, WorktreeError::Conflicts { files } if files == &["kept.txt"]),
        "{refused}"
    );
    assert_eq!(yard.scene.run(&["rev-parse", "HEAD"]), before);
    assert_eq!(yard.scene.run(&["status", "--porcelain"]), "");
    yard.scene.run(&["checkout", "-q", "-b", "other"]);
    let refused = yard.merge("one").await.unwrap_err();
    assert!(
        matches!(&refused, WorktreeError::NoBase { said } if said.contains("main")),
        "{refused}"
    );
}

#[tokio::test]
async fn a_wish_that_cannot_be_granted_leaves_nothing() {
    let yard = Yard::new();
    let wish = |branch: Option<&str>, base: Option<&str>| WorktreeWish {
        branch: branch.map(str::to_owned),
        base: base.map(str::to_owned),
    };
    for branch in [
        "-f", "a..b", "a b", "", "x.lock", "/", "HEAD", "a\0b", "a\nb", "../up",
    ] {
        let new = yard.wish("one", wish(Some(branch), None));
        let refused = yard.worktrees.make(new).await.unwrap_err();
        assert!(
            matches!(refused, WorktreeError::BadName { .. }),
            "{branch}: {refused}"
        );
    }
    for base in ["--all", "HEAD\n", ""] {
        let new = yard.wish("one", wish(None, Some(base)));
        let refused = yard.worktrees.make(new).await.unwrap_err();
        assert!(
            matches!(refused, WorktreeError::BadName { .. }),
            "{base}: {refused}"
        );
    }
    let new = yard.wish("one", wish(None, Some("nowhere")));
    let refused = yard.worktrees.make(new).await.unwrap_err();
    assert!(matches!(refused, WorktreeError::NoBase { .. }), "{refused}");
    for branch in ["main", "main/below"] {
        let new = yard.wish("one", wish(Some(branch), None));
        let refused = yard.worktrees.make(new).await.unwrap_err();
        assert!(matches!(refused, WorktreeError::Taken { .. }), "{refused}");
    }
    assert_eq!(
        (yard.branches(), yard.store.worktrees().await.unwrap()),
        (vec!["main".to_owned()], vec![])
    );
    // Something is where the folder would be: what was begun is taken back.
    let place = yard.worktrees.root.join("ws-1");
    fs::create_dir_all(&yard.worktrees.root).unwrap();
    fs::write(&place, "in the way").unwrap();
    let new = yard.wish("one", WorktreeWish::default());
    yard.worktrees.make(new).await.unwrap_err();
    fs::remove_file(&place).unwrap();
    assert_eq!(
        (yard.branches(), yard.store.worktrees().await.unwrap()),
        (vec!["main".to_owned()], vec![])
    );

    let empty = Yard::of(Scene::bare("work"));
    empty.scene.run(&["init", "-q"]);
    let new = empty.wish("one", WorktreeWish::default());
    let refused = empty.worktrees.make(new).await.unwrap_err();
    assert!(matches!(refused, WorktreeError::NoBase { .. }), "{refused}");
}

#[tokio::test]
async fn what_others_have_stays_theirs() {
    let yard = Yard::new();
    // A worktree of somebody else, on a disk that is not there now.
    let theirs = yard.scene.base.parent().unwrap().join("theirs");
    let path = theirs.to_str().unwrap();
    yard.scene
        .run(&["worktree", "add", "-q", "-b", "theirs", path]);
    fs::remove_dir_all(&theirs).unwrap();
    let tree = yard.make("one").await;
    // Its branch is checked out in the workspace by now.
    tree.git(&["checkout", "-q", "--detach"]);
    yard.scene.run(&["checkout", "-q", &tree.row.branch]);
    let kept = yard.remove("one", Unsaved::Keep).await.unwrap();
    assert_eq!(kept, std::slice::from_ref(&tree.row.branch));
    yard.scene.run(&["rev-parse", "HEAD"]);
    assert!(yard.scene.run(&["worktree", "list"]).contains("theirs"));
}

#[tokio::test]
async fn a_worktree_with_submodules_goes_only_if_that_is_asked_for() {
    let yard = Yard::new();
    let tree = yard.make("one").await;
    fs::create_dir_all(yard.scene.base.join(".git/worktrees/one/modules/lib")).unwrap();
    let refused = yard.remove("one", Unsaved::Keep).await.unwrap_err();
    assert!(
        matches!(refused, WorktreeError::Submodules { .. }),
        "{refused}"
    );
    assert!(tree.path.exists());
    yard.remove("one", Unsaved::Discard).await.unwrap();
    assert!(!tree.path.exists());
}

#[tokio::test]
async fn a_merge_that_is_under_way_is_left_alone() {
    let yard = Yard::new();
    let tree = yard.make("one").await;
    tree.commit("new.txt", "new\n");
    yard.scene.run(&["checkout", "-q", "-b", "side"]);
    yard.scene.write("side.txt", "side\n");
    yard.scene.commit("side");
    yard.scene.run(&["checkout", "-q", "main"]);
    yard.scene
        .run(&["merge", "-q", "--no-ff", "--no-commit", "side"]);
    yard.scene.run(&["reset", "-q", "--", "side.txt"]);
    let refused = yard.merge("one").await.unwrap_err();
    assert!(
        matches!(&refused, WorktreeError::NoBase { said } if said.contains("under way")),
        "{refused}"
    );
    yard.scene.run(&["rev-parse", "MERGE_HEAD"]);
}

#[tokio::test]
async fn a_file_in_the_way_of_a_merge_is_not_written_over() {
    let yard = Yard::new();
    let tree = yard.make("one").await;
    tree.commit("new.txt", "theirs\n");
    yard.scene.write("new.txt", "mine, unknown to git\n");
    let refused = yard.merge("one").await.unwrap_err();
    assert!(matches!(refused, WorktreeError::Git(_)), "{refused}");
    let text = fs::read_to_string(yard.scene.base.join("new.txt")).unwrap();
    assert_eq!(text, "mine, unknown to git\n");
    assert_eq!(yard.scene.run(&["status", "--porcelain"]), "?? new.txt\n");
}

#[tokio::test]
async fn making_and_merging_run_nothing_of_the_repository() {
    let yard = Yard::new();
    let mark = yard.scene.base.parent().unwrap().join("mark");
    let hooks = yard.scene.base.join(".git/hooks");
    fs::create_dir_all(&hooks).unwrap();
    for name in [
        "post-checkout",
        "post-merge",
        "pre-merge-commit",
        "commit-msg",
        "prepare-commit-msg",
        "reference-transaction",
    ] {
        script(&hooks.join(name), &mark);
    }
    let filter = yard.scene.base.parent().unwrap().join("filter.sh");
    script(&filter, &mark);
    let filter = filter.to_str().unwrap();
    yard.scene.run(&["config", "filter.odd.smudge", filter]);
    yard.scene.run(&["config", "merge.odd.driver", filter]);
    yard.scene
        .run(&["config", "branch.main.mergeoptions", "-s odd"]);
    fs::write(
        yard.scene.base.join(".git/info/attributes"),
        "* filter=odd merge=odd\n",
    )
    .unwrap();
    let tree = yard.make("one").await;
    fs::write(tree.path.join("new.txt"), "new\n").unwrap();
    tree.git(&[
        "-c",
        "core.hooksPath=/dev/null",
        "-c",
        "filter.odd.smudge=cat",
        "add",
        "-A",
    ]);
    tree.git(&[
        "-c",
        "core.hooksPath=/dev/null",
        "commit",
        "-q",
        "-m",
        "new",
    ]);
    yard.merge("one").await.unwrap();
    yard.remove("one", Unsaved::Keep).await.unwrap();
    assert!(!mark.exists());
    // The traps are alive.
    let other = yard.scene.base.parent().unwrap().join("other");
    yard.scene
        .run(&["worktree", "add", "-q", "--detach", other.to_str().unwrap()]);
    assert!(mark.exists());
}

fn script(path: &Path, mark: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let text = format!("#!/bin/sh\n: > '{}'\nexec cat\n", mark.display());
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}
