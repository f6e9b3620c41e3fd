//! Backups that are made and put back while everything runs, on a machine that has lost everything, and a database that is
//! made anew from the host's logs.

use std::path::Path;
use std::process::{Child, Stdio};

use estelle_sim::script::Script;
use serde_json::Value;

use crate::client::lasting::see;
use crate::client::{Done, run, with_project};
use crate::up::client::Client;
use crate::up::half_said;
use crate::up::stage::Machine;

fn say(machine: &Machine, id: &str, text: &str) {
    let script = Script::new().say(text).prompt();
    run(machine, &["send", "-q", id, &script]).with_code(0);
}

/// What the agent said, in order.
fn said(machine: &Machine, id: &str) -> Vec<String> {
    let history = run(machine, &["history", id, "--all", "--json"]).with_code(0);
    let lines = history.lines();
    let texts = lines.iter().filter(|entry| entry["role"] == "assistant");
    texts
        .map(|entry| entry["content"].as_str().unwrap().to_owned())
        .collect()
}

fn workspaces(machine: &Machine) -> Vec<String> {
    let listed = run(machine, &["ls", "--json"]).with_code(0).lines();
    let listed = listed[0]["machines"][0]["workspaces"].as_array().unwrap();
    listed
        .iter()
        .map(|workspace| workspace["name"].as_str().unwrap().to_owned())
        .collect()
}

/// Everything that lies in a folder, as one text.
fn contents(folder: &Path) -> String {
    let mut all = String::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all += &contents(&path);
        } else {
            all.push_str(&path.to_string_lossy());
            all += &String::from_utf8_lossy(&std::fs::read(&path).unwrap());
        }
    }
    all
}

fn backup(machine: &Machine) -> String {
    let folder = machine.path("backup");
    let folder = folder.to_str().unwrap();
    run(machine, &["backup", folder]).with_code(0);
    let again = run(machine, &["backup", folder]).with_code(1);
    assert!(again.err.contains("is there already"), "{again:?}");
    folder.to_owned()
}

/// Ends everything, in good order or not.
fn end(machine: &mut Machine) {
    machine.kill_up();
    run(machine, &["host", "stop", "--all"]).with_code(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_is_made_and_put_back_while_everything_runs() {
    let (machine, id) = with_project().await;
    say(&machine, &id, "before");
    let folder = backup(&machine);
    let all = contents(Path::new(&folder));
    assert!(all.contains("before") && all.contains("relay.json"));
    let terminal = std::fs::read(machine.path("data/terminal.json")).unwrap();
    let terminal: Value = serde_json::from_slice(&terminal).unwrap();
    for secret in [&machine.phone, terminal["token"].as_str().unwrap()] {
        assert!(!all.contains(secret), "a backup holds no secrets");
    }
    assert!(!all.contains("launch.json") && !all.contains("relay.json.revoked"));

    say(&machine, &id, "after");
    run(&machine, &["new", "workspace", "Later"]).with_code(0);
    assert_eq!(workspaces(&machine), ["Project", "Later"]);
    let restored = run(&machine, &["restore", "--database-only", &folder]).with_code(0);
    assert!(restored.out.contains("database"), "{restored:?}");
    assert_eq!(workspaces(&machine), ["Project"]);
    run(&machine, &["watch", &id, "--until-idle", "--timeout", "40"]).with_code(0);
    // What happened since is in the host's log, and comes again.
    say(&machine, &id, "and on");
    assert_eq!(said(&machine, &id), ["before", "after", "and on"]);
    let nothing = run(&machine, &["restore", "/nowhere"]).with_code(1);
    assert!(nothing.err.contains("is no backup"), "{nothing:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_that_lost_everything_has_it_again() {
    let (mut machine, id) = with_project().await;
    say(&machine, &id, "kept");
    let folder = backup(&machine);
    end(&mut machine);
    std::fs::remove_dir_all(machine.path("data")).unwrap();
    let restored = run(&machine, &["restore", &folder]).with_code(0);
    assert!(
        restored.out.contains("database, registry, 1 logs"),
        "{restored:?}"
    );
    machine.up();
    assert_eq!(said(&machine, &id), ["kept"]);
    // The phone was in the registry.
    machine.connect(&machine.phone).await;
    say(&machine, &id, "and on");
    assert_eq!(said(&machine, &id), ["kept", "and on"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_that_was_revoked_does_not_come_back_with_a_backup() {
    let (mut machine, _) = with_project().await;
    let added = run(&machine, &["devices", "add", "--name", "Lost", "--json"]).lines();
    let token = added[0]["token"].as_str().unwrap();
    machine.connect(token).await;
    let folder = backup(&machine);
    let key = added[0]["deviceKey"].as_str().unwrap();
    run(&machine, &["devices", "revoke", key]).with_code(0);
    end(&mut machine);
    run(&machine, &["restore", &folder]).with_code(0);
    machine.up();
    let mut lost = Client::stranger(machine.address()).await;
    let auth =
        serde_json::json!({"type": "auth", "payload": {"deviceType": "app", "token": token}});
    lost.send(&auth).await;
    let refused = lost.until(|frame| frame["type"] == "auth_result").await;
    assert_eq!(refused["payload"]["errorCode"], "auth_failed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_database_is_made_anew_from_the_logs() {
    let (mut machine, id) = with_project().await;
    say(&machine, &id, "one");
    say(&machine, &id, "two");
    let running = run(&machine, &["rebuild"]).with_code(1);
    assert!(running.err.contains("stop it first"), "{running:?}");
    end(&mut machine);
    std::fs::write(machine.path("data/pylon/pylon.db"), "damaged".repeat(2000)).unwrap();
    for wal in ["pylon.db-wal", "pylon.db-shm"] {
        let _ = std::fs::remove_file(machine.path("data/pylon").join(wal));
    }
    let rebuilt = run(&machine, &["rebuild", "--json"]).with_code(0).lines();
    assert_eq!(rebuilt[0]["conversations"], 1, "{rebuilt:?}");
    machine.up();
    assert_eq!(said(&machine, &id), ["one", "two"]);
    say(&machine, &id, "three");
    assert_eq!(said(&machine, &id), ["one", "two", "three"]);
}

/// A turn in the middle of its answer, and the command that waits for the rest.
fn half_sent(machine: &Machine, id: &str) -> Child {
    let half = half_said("one two three four");
    let mut sending = machine
        .command(&["send", "--json", id, &half])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    see(&mut sending, |line| line["event"]["type"] == "text");
    sending
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_is_put_back_while_it_runs_and_a_turn_goes_on() {
    let (machine, id) = with_project().await;
    say(&machine, &id, "before");
    let added = run(&machine, &["devices", "add", "--name", "Lost", "--json"]).lines();
    let folder = backup(&machine);
    let key = added[0]["deviceKey"].as_str().unwrap();
    run(&machine, &["devices", "revoke", key]).with_code(0);
    let later = run(&machine, &["devices", "add", "--name", "Later", "--json"]).lines();
    run(&machine, &["new", "workspace", "Later"]).with_code(0);
    let sending = half_sent(&machine, &id);
    let restored = run(&machine, &["restore", &folder, "--json"])
        .with_code(0)
        .lines();
    let parts = serde_json::json!(["database", "registry", "0 logs"]);
    assert_eq!(restored[0]["restored"], parts);
    assert_eq!(workspaces(&machine), ["Project"]);
    // The phone of the backup comes in where it always did; who was added since or revoked does not.
    machine.connect(&machine.phone).await;
    for shut_out in [&added, &later] {
        let token = shut_out[0]["token"].as_str().unwrap();
        let mut lost = Client::stranger(machine.address()).await;
        let auth =
            serde_json::json!({"type": "auth", "payload": {"deviceType": "app", "token": token}});
        lost.send(&auth).await;
        let refused = lost.until(|frame| frame["type"] == "auth_result").await;
        assert_eq!(refused["payload"]["errorCode"], "auth_failed");
    }
    machine.open_gate("half");
    Done::of(sending.wait_with_output().unwrap()).with_code(0);
    assert_eq!(said(&machine, &id), ["before", "one two three four"]);
    assert!(!machine.path("data/restore.part").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_people_forbade_and_attached_is_in_a_backup_and_comes_back() {
    let (mut machine, id) = with_project().await;
    let deny = machine.path("data/deny.json");
    std::fs::write(&deny, r#"{"commands": ["curl:*"]}"#).unwrap();
    let upload = machine.path("data-uploads").join(&id).join("note.txt");
    std::fs::create_dir_all(upload.parent().unwrap()).unwrap();
    std::fs::write(&upload, "attached").unwrap();
    let folder = backup(&machine);
    end(&mut machine);
    std::fs::remove_file(&deny).unwrap();
    std::fs::remove_dir_all(machine.path("data-uploads")).unwrap();
    let restored = run(&machine, &["restore", &folder]).with_code(0);
    assert!(restored.out.contains("deny.json"), "{restored:?}");
    let lists = std::fs::read_to_string(deny).unwrap();
    assert!(lists.contains("curl"), "{lists}");
    assert_eq!(std::fs::read_to_string(upload).unwrap(), "attached");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_that_is_damaged_changes_nothing_and_everything_goes_on() {
    let (machine, id) = with_project().await;
    say(&machine, &id, "before");
    let folder = backup(&machine);
    run(&machine, &["new", "workspace", "Later"]).with_code(0);
    for file in ["relay.json", "pylon.db"] {
        let file = Path::new(&folder).join(file);
        let sound = std::fs::read(&file).unwrap();
        std::fs::write(&file, "damaged".repeat(900)).unwrap();
        run(&machine, &["restore", &folder]).with_code(1);
        std::fs::write(&file, sound).unwrap();
        assert_eq!(workspaces(&machine), ["Project", "Later"], "{file:?}");
        say(&machine, &id, "on");
    }
    run(&machine, &["restore", &folder]).with_code(0);
    assert_eq!(workspaces(&machine), ["Project"]);
}

/// Killed between two steps, the machine works with what is there, and the same backup can be put back again.
#[tokio::test(flavor = "multi_thread")]
async fn up_is_killed_while_a_backup_is_put_back() {
    for (place, workspaces_then) in [
        ("restore-logs", &["Project", "Later"][..]),
        ("restore-database", &["Project"]),
    ] {
        let (mut machine, id) = with_project().await;
        say(&machine, &id, "before");
        let folder = backup(&machine);
        run(&machine, &["new", "workspace", "Later"]).with_code(0);
        machine.kill_up();
        machine.up_with(&[("ESTELLE_FAILPOINT", &format!("{place}:kill"))]);
        let sending = half_sent(&machine, &id);
        let cut = run(&machine, &["restore", &folder]).with_code(1);
        assert!(cut.err.contains("in the middle"), "{place}: {cut:?}");
        machine.wait_for_up();
        machine.up();
        assert_eq!(workspaces(&machine), workspaces_then, "{place}");
        machine.connect(&machine.phone).await;
        run(&machine, &["restore", &folder]).with_code(0);
        assert_eq!(workspaces(&machine), ["Project"], "{place}");
        machine.open_gate("half");
        Done::of(sending.wait_with_output().unwrap()).with_code(0);
        assert_eq!(
            said(&machine, &id),
            ["before", "one two three four"],
            "{place}"
        );
    }
}
