//! Worktrees in every state that a crash can leave.

use std::fs;
use std::time::Duration;

use estelle_proto::worktrees::WorktreeState;

use super::Unsaved;
use super::hold::Hold;
use super::worktrees_tests::{Tree, Yard};

/// The state in which a pylon died that was making the worktree.
async fn half_made(yard: &Yard, id: &str) -> Tree {
    let tree = yard.make(id).await;
    yard.mark(id, WorktreeState::Making).await;
    tree
}

#[tokio::test]
async fn what_a_crash_left_half_made_is_undone() {
    let yard = Yard::new();
    // With a lock of git's own, as git leaves it when it is killed.
    let whole = half_made(&yard, "one").await;
    yard.scene
        .run(&["worktree", "lock", whole.row.path.as_str()]);
    let without_files = half_made(&yard, "two").await;
    fs::remove_dir_all(&without_files.path).unwrap();
    // Git had only begun to write down what it makes.
    let begun = half_made(&yard, "five").await;
    fs::remove_dir_all(&begun.path).unwrap();
    fs::remove_file(yard.scene.base.join(".git/worktrees/five/gitdir")).unwrap();
    let only_row = half_made(&yard, "three").await;
    fs::remove_dir_all(&only_row.path).unwrap();
    yard.scene.run(&["worktree", "prune"]);
    yard.scene
        .run(&["branch", "-q", "-D", &only_row.row.branch]);
    // Another one has the branch by now, with a commit of its own.
    let moved = half_made(&yard, "four").await;
    moved.commit("a.txt", "somebody's\n");
    yard.settle().await;
    assert_eq!(yard.store.worktrees().await.unwrap(), []);
    assert_eq!(yard.branches(), [moved.row.branch.as_str(), "main"]);
    assert!(!whole.path.exists() && !moved.path.exists());
    assert_eq!(
        fs::read_dir(yard.scene.base.join(".git/worktrees"))
            .unwrap()
            .count(),
        0
    );
    let beside = whole.path.parent().unwrap();
    assert_eq!(fs::read_dir(beside).unwrap().count(), 0);
    // The same conversation can have one again.
    yard.make("one").await;
}

#[tokio::test]
async fn nothing_is_undone_while_git_still_writes() {
    let yard = Yard::new();
    let tree = half_made(&yard, "one").await;
    let hold = Hold::take(&tree.path).unwrap().unwrap();
    let settled = yard.settle();
    tokio::pin!(settled);
    let short = Duration::from_millis(300);
    let waited = tokio::time::timeout(short, &mut settled).await;
    assert!(waited.is_err() && tree.path.exists());
    drop(hold);
    settled.await;
    assert!(!tree.path.exists());
}

#[tokio::test]
async fn what_was_put_aside_goes_and_what_was_not_stays() {
    let yard = Yard::new();
    let aside = yard.make("one").await;
    aside.commit("a.txt", "not merged\n");
    fs::rename(&aside.path, aside.path.with_extension("removed")).unwrap();
    let gone = yard.make("two").await;
    fs::remove_dir_all(&gone.path).unwrap();
    // Somebody has worked there since it was looked at, perhaps.
    let whole = yard.make("five").await;
    fs::write(whole.path.join("new.txt"), "only here").unwrap();
    for id in ["one", "two", "five"] {
        yard.mark(id, WorktreeState::Removing).await;
    }
    let kept = yard.make("three").await;
    let missing = yard.make("four").await;
    fs::remove_dir_all(&missing.path).unwrap();
    yard.settle().await;
    assert!(kept.path.exists() && whole.path.join("new.txt").exists());
    assert_eq!(yard.view("five").await.unwrap().state, WorktreeState::Ready);
    assert!(!aside.path.with_extension("removed").exists());
    assert_eq!(yard.view("one").await, None);
    assert_eq!(
        yard.view("four").await.unwrap().state,
        WorktreeState::Missing
    );
    let wanted = [&missing.row.branch, &aside.row.branch, &kept.row.branch];
    for branch in wanted {
        assert!(yard.branches().contains(branch), "{branch}");
    }
    assert!(!yard.branches().contains(&gone.row.branch));
    yard.remove("four", Unsaved::Keep).await.unwrap();
    assert!(!yard.branches().contains(&missing.row.branch));
}
