//! `estelle worktrees`: conversations in folders of their own, over restarts.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use estelle_sim::api::RealCli;
use estelle_sim::script::Script;
use serde_json::{Value, json};

use super::{run, with_project};
use crate::conformance::files::{git, repository};
use crate::host::stage::Agent;
use crate::up::half_said;
use crate::up::stage::Machine;

fn listed(machine: &Machine) -> Vec<Value> {
    run(machine, &["worktrees", "--json"]).with_code(0).lines()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_works_in_a_folder_of_its_own_until_it_is_merged() {
    let (mut machine, main) = with_project().await;
    let work = machine.path("work");
    let new = [
        "new",
        "conversation",
        "Log in",
        "--in",
        "Project",
        "--worktree",
        "--mode",
        "bypassPermissions",
    ];
    let none = run(&machine, &new).with_code(1);
    assert!(none.err.contains("no git repository"), "{none:?}");
    std::fs::write(work.join("a.txt"), "one\n").unwrap();
    repository(&work);
    // One in which nothing was said yet can be given up.
    let given_up = new.map(|word| if word == "Log in" { "Given up" } else { word });
    run(&machine, &given_up).with_code(0);
    let untouched = PathBuf::from(listed(&machine)[0]["path"].as_str().unwrap());
    run(&machine, &["worktrees", "remove", "Given up"]).with_code(0);
    assert!(!untouched.exists());
    let id = run(&machine, &new).with_code(0).out.trim().to_owned();
    let script = Script::new()
        .tool(
            "Write",
            json!({"file_path": "where.txt", "content": "here"}),
        )
        .say("done")
        .prompt();
    run(&machine, &["send", "-q", &id, &script]).with_code(0);
    assert!(!work.join("where.txt").exists());

    // Found again after everything that knew of it was killed.
    machine.kill_up();
    machine.up();
    let all = listed(&machine);
    assert_eq!(
        (all.len(), &all[0]["uncommitted"], &all[0]["state"]),
        (1, &json!(1), &json!("ready"))
    );
    let folder = PathBuf::from(all[0]["path"].as_str().unwrap());
    assert!(folder.join("where.txt").exists());
    let diff = run(&machine, &["diff", "Log in"]).with_code(0).out;
    assert!(diff.contains("where.txt"), "{diff}");
    let refused = run(&machine, &["worktrees", "remove", "Log in"]).with_code(1);
    assert!(refused.err.contains("in no commit"), "{refused:?}");
    run(&machine, &["worktrees", "merge", "Log in"]).with_code(1);

    git(&folder, &["add", "-A"]);
    git(&folder, &["commit", "-q", "-m", "where"]);
    // What is committed is in no diff any more, but in what would be merged.
    let diff = run(&machine, &["diff", "Log in"]).with_code(0).out;
    assert_eq!(diff, "");
    std::fs::write(folder.join("more.txt"), "more\n").unwrap();
    let diff = run(&machine, &["diff", "Log in", "--base"])
        .with_code(0)
        .out;
    assert!(
        diff.contains("where.txt") && diff.contains("more.txt"),
        "{diff}"
    );
    let stat = run(&machine, &["diff", "Log in", "--base", "--stat"]);
    assert!(stat.with_code(0).out.contains("where.txt"));
    std::fs::remove_file(folder.join("more.txt")).unwrap();
    let refused = run(&machine, &["diff", "Project", "--base"]).with_code(1);
    assert!(refused.err.contains("worktree"), "{refused:?}");
    run(&machine, &["worktrees", "merge", "Log in"]).with_code(0);
    assert!(work.join("where.txt").exists());
    // Its process waits for the next message, and is ended.
    run(&machine, &["worktrees", "remove", "Log in"]).with_code(0);
    assert!(!folder.exists());
    assert_eq!(listed(&machine), [Value::Null; 0]);
    let refused = run(&machine, &["send", &id, "go on"]).with_code(1);
    assert!(refused.err.contains("removed"), "{refused:?}");
    let quiet = Script::new().say("still here").prompt();
    run(&machine, &["send", "-q", &main, &quiet]).with_code(0);
    run(&machine, &["worktrees", "merge", "nothing"]).with_code(5);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_merged_under_an_agent_of_another_workspace() {
    let (machine, _) = with_project().await;
    let work = machine.path("work");
    std::fs::create_dir(work.join("part")).unwrap();
    std::fs::write(work.join("part/a.txt"), "one\n").unwrap();
    repository(&work);
    let new = ["new", "conversation", "Log in", "--in", "Project"];
    let new = [new.as_slice(), &["--worktree"]].concat();
    run(&machine, &new).with_code(0);
    let folder = PathBuf::from(listed(&machine)[0]["path"].as_str().unwrap());
    std::fs::write(folder.join("b.txt"), "two\n").unwrap();
    git(&folder, &["add", "-A"]);
    git(&folder, &["commit", "-q", "-m", "two"]);

    let part = work.join("part").to_string_lossy().into_owned();
    let made = run(&machine, &["new", "workspace", "Part", "--folder", &part]).with_code(0);
    let other = made.out.trim().to_owned();
    let half = half_said("one two three four");
    run(&machine, &["send", "--detach", &other, &half]).with_code(0);
    let refused = run(&machine, &["worktrees", "merge", "Log in"]).with_code(1);
    assert!(refused.err.contains("works in this folder"), "{refused:?}");
    assert!(!work.join("b.txt").exists());
    machine.open_gate("half");
    run(
        &machine,
        &["watch", &other, "--until-idle", "--timeout", "40"],
    )
    .with_code(0);
    run(&machine, &["worktrees", "merge", "Log in"]).with_code(0);
    assert!(work.join("b.txt").exists());
}

/// Git stops in the middle of writing the files of a new worktree: this one cannot be read until somebody writes to it.
fn stop_git_at(work: &Path, file: &str) -> (PathBuf, Vec<u8>) {
    let hash = said(work, &["rev-parse", &format!("HEAD:{file}")]);
    let (folder, name) = hash.split_at(2);
    let object = work.join(".git/objects").join(folder).join(name);
    let bytes = std::fs::read(&object).unwrap();
    std::fs::remove_file(&object).unwrap();
    let made = Command::new("mkfifo").arg(&object).status().unwrap();
    assert!(made.success());
    (object, bytes)
}

fn said(folder: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .args(args)
        .current_dir(folder)
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worktree_that_was_half_made_when_the_pylon_died_is_gone_and_can_be_made_again() {
    let (mut machine, main) = with_project().await;
    let work = machine.path("work");
    std::fs::write(work.join("a.txt"), "one\n").unwrap();
    repository(&work);
    let (object, bytes) = stop_git_at(&work, "a.txt");
    let new = ["new", "conversation", "Log in", "--in", "Project"];
    let new = [new.as_slice(), &["--worktree", "--branch", "log-in"]].concat();
    let mut asking = machine.command(&new);
    asking.stdin(Stdio::null()).stderr(Stdio::null());
    let mut asking = asking.spawn().unwrap();
    let entries = work.join(".git/worktrees");
    let begun = || {
        let mut found = std::fs::read_dir(&entries).into_iter().flatten().flatten();
        found.any(|entry| entry.path().join("gitdir").exists())
    };
    while !begun() {
        assert!(
            asking.try_wait().unwrap().is_none(),
            "it is made in the end"
        );
        std::thread::yield_now();
    }
    machine.kill_up();
    asking.wait().unwrap();
    machine.up();
    // Git lives on and has the folder, so nothing is taken from under it.
    let all = listed(&machine);
    assert_eq!(
        (all.len(), &all[0]["state"]),
        (1, &json!("making")),
        "{all:?}"
    );
    let id = all[0]["conversationId"].as_str().unwrap();
    let refused = run(&machine, &["worktrees", "remove", id]).with_code(1);
    assert!(refused.err.contains("making"), "{refused:?}");
    assert!(said(&work, &["branch", "--list", "log-in"]).contains("log-in"));

    // An object without contents lets git fail; who reads it later finds it whole.
    let mut fifo = std::fs::OpenOptions::new();
    let fifo = fifo.read(true).write(true).open(&object).unwrap();
    let whole = object.with_extension("whole");
    std::fs::write(&whole, bytes).unwrap();
    std::fs::rename(&whole, &object).unwrap();
    while !listed(&machine).is_empty() {}
    drop(fifo);
    assert_eq!(said(&work, &["branch", "--list", "log-in"]), "");
    assert_eq!(said(&work, &["status", "--porcelain"]), "");
    assert!(!begun());
    let id = run(&machine, &new).with_code(0).out.trim().to_owned();
    let quiet = Script::new().say("here").prompt();
    run(&machine, &["send", "-q", &id, &quiet]).with_code(0);
    run(&machine, &["send", "-q", &main, &quiet]).with_code(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn claude_2_1_325_works_in_a_worktree_that_is_merged() {
    let machine = Machine::start(&Agent::Real(RealCli::v325().unwrap())).await;
    let work = machine.path("work");
    std::fs::write(work.join("a.txt"), "one\n").unwrap();
    repository(&work);
    run(&machine, &["new", "workspace", "Project"]).with_code(0);
    let new = ["new", "conversation", "Log in", "--in", "Project"];
    let apart = ["--worktree", "--mode", "acceptEdits"];
    let id = run(&machine, &[&new[..], &apart].concat()).with_code(0).out;
    let folder = PathBuf::from(listed(&machine)[0]["path"].as_str().unwrap());
    let script = Script::new()
        .tool(
            "Write",
            json!({"file_path": folder.join("where.txt"), "content": "here"}),
        )
        .say("done")
        .prompt();
    run(&machine, &["send", "-q", id.trim(), &script]).with_code(0);
    assert!(folder.join("where.txt").exists() && !work.join("where.txt").exists());
    let diff = run(&machine, &["diff", "Log in"]).with_code(0).out;
    assert!(diff.contains("where.txt"), "{diff}");
    git(&folder, &["add", "-A"]);
    git(&folder, &["commit", "-q", "-m", "where"]);
    run(&machine, &["worktrees", "merge", "Log in"]).with_code(0);
    assert_eq!(
        std::fs::read_to_string(work.join("where.txt")).unwrap(),
        "here"
    );
    run(&machine, &["worktrees", "remove", "Log in"]).with_code(0);
    assert!(!folder.exists());
}
