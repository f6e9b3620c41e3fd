//! Worktrees on a disk that is full: a clear word, and nothing half.

use std::fs;
use std::path::Path;

use estelle_proto::worktrees::WorktreeWish;

use super::WorktreeError;
use super::worktrees_tests::{Tree, Yard};
use crate::git::GitError;
use crate::git::git_tests::Scene;
use crate::small_disk::SmallDisk;

/// A repository on a small disk, its worktrees beside it, and the database elsewhere.
fn yard(disk: &SmallDisk) -> Yard {
    Yard::of(Scene::on(&disk.path().join("work")))
}

fn is_full(error: &WorktreeError) -> bool {
    matches!(error, WorktreeError::Git(GitError::Full { .. }))
}

fn noise(seed: u64, bytes: usize) -> Vec<u8> {
    let mut dice = fastrand::Rng::with_seed(seed);
    std::iter::repeat_with(|| dice.u8(..)).take(bytes).collect()
}

/// A branch that changes a file, takes one away and adds large ones, in a folder of their own and beside others.
fn work(tree: &Tree) {
    fs::write(tree.path.join("kept.txt"), "one\ntwo\nthree\nfour\n").unwrap();
    fs::remove_file(tree.path.join("gone.txt")).unwrap();
    fs::create_dir_all(tree.path.join("many/deep")).unwrap();
    for (seed, name) in ["a.bin", "many/b.bin", "many/deep/c.bin", "sub/d.bin"]
        .iter()
        .enumerate()
    {
        fs::write(tree.path.join(name), noise(seed as u64, 120_000)).unwrap();
    }
    tree.git(&["add", "-A"]);
    tree.git(&["commit", "-q", "-m", "work"]);
}

/// Every file of a folder with what is in it, but git's own.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(place) = open.pop() {
        for entry in fs::read_dir(&place).unwrap() {
            let path = entry.unwrap().path();
            let name = path
                .strip_prefix(folder)
                .unwrap()
                .to_string_lossy()
                .into_owned();
            if name == ".git" {
                continue;
            }
            if path.is_dir() {
                found.push((format!("{name}/"), Vec::new()));
                open.push(path);
            } else {
                found.push((name, fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

/// Merges where there is less and less room, until it works; whatever died in between left nothing.
async fn merge_with_little_room(yard: &Yard, disk: &SmallDisk) {
    // Files that nobody committed, in and beside the folders of the merge.
    yard.scene.write("own.txt", "my own");
    yard.scene.write("sub/own.txt", "my own, too");
    let before = files(&yard.scene.base);
    let head = yard.scene.run(&["rev-parse", "HEAD"]);
    let mut died = 0;
    for room in [8, 60, 140, 200, 300, 400, 460] {
        disk.fill_but(room);
        let merged = yard.merge("one").await;
        disk.free();
        let Err(error) = merged else {
            continue;
        };
        died += 1;
        assert!(is_full(&error), "with {room} KiB: {error:?}");
        assert_eq!(
            names(&files(&yard.scene.base)),
            names(&before),
            "with {room} KiB"
        );
        assert_eq!(files(&yard.scene.base), before, "with {room} KiB");
        assert_eq!(yard.scene.run(&["rev-parse", "HEAD"]), head);
        let status = yard.scene.run(&["status", "--porcelain"]);
        assert_eq!(status, "?? own.txt\n?? sub/own.txt\n", "with {room} KiB");
    }
    assert!(died >= 3, "it died {died} times only");
    let merged = yard.merge("one").await.unwrap();
    assert!(merged.commits <= 1);
    assert_eq!(
        yard.scene.run(&["status", "--porcelain"]),
        "?? own.txt\n?? sub/own.txt\n"
    );
    let after = files(&yard.scene.base);
    assert!(
        names(&after).contains(&"many/deep/c.bin"),
        "{:?}",
        names(&after)
    );
    assert_eq!(
        fs::read_to_string(yard.scene.base.join("sub/own.txt")).unwrap(),
        "my own, too"
    );
}

fn names(files: &[(String, Vec<u8>)]) -> Vec<&str> {
    files.iter().map(|(name, _)| name.as_str()).collect()
}

#[tokio::test]
async fn a_merge_that_only_moves_the_branch_on_is_whole_or_not_at_all_on_a_full_disk() {
    let Some(disk) = SmallDisk::of(4096) else {
        return;
    };
    let yard = yard(&disk);
    work(&yard.make("one").await);
    merge_with_little_room(&yard, &disk).await;
}

#[tokio::test]
async fn a_merge_of_two_lines_is_whole_or_not_at_all_on_a_full_disk() {
    let Some(disk) = SmallDisk::of(4096) else {
        return;
    };
    let yard = yard(&disk);
    work(&yard.make("one").await);
    yard.scene.write("other.txt", "another line of work");
    yard.scene.commit("other");
    merge_with_little_room(&yard, &disk).await;
}

#[tokio::test]
async fn a_file_that_somebody_wrote_meanwhile_is_not_taken_back_with_a_merge() {
    let Some(disk) = SmallDisk::of(4096) else {
        return;
    };
    let yard = yard(&disk);
    work(&yard.make("one").await);
    // Git refuses to write over it, whatever else becomes of the merge.
    yard.scene.write("a.bin", "my own");
    disk.fill_but(140);
    yard.merge("one").await.unwrap_err();
    disk.free();
    assert_eq!(
        fs::read_to_string(yard.scene.base.join("a.bin")).unwrap(),
        "my own"
    );
}

#[tokio::test]
async fn a_worktree_that_finds_no_room_leaves_nothing_and_is_made_once_there_is_some() {
    let Some(disk) = SmallDisk::of(4096) else {
        return;
    };
    let yard = yard(&disk);
    fs::write(yard.scene.base.join("large.bin"), noise(1, 400_000)).unwrap();
    yard.scene.commit("large");
    let before = yard.branches();
    for (room, id) in [
        (0, "one"),
        (8, "two"),
        (40, "three"),
        (200, "four"),
        (300, "five"),
    ] {
        disk.fill_but(room);
        let refused = yard.try_make(id, WorktreeWish::default()).await;
        disk.free();
        let refused = refused.unwrap_err();
        let is_full = is_full(&refused)
            || matches!(&refused, WorktreeError::Io(error) if error.kind() == std::io::ErrorKind::StorageFull);
        assert!(is_full, "with {room} KiB: {refused:?}");
        yard.settle().await;
        assert_eq!(yard.branches(), before, "with {room} KiB");
        assert!(yard.view(id).await.is_none());
        let known = yard.scene.run(&["worktree", "list", "--porcelain"]);
        assert_eq!(known.matches("worktree ").count(), 1, "{known}");
    }
    yard.make("six").await;
}
