//! Backups that are made and put back while everything runs, on a machine that has lost everything, and a database that is
//! made anew from the host's logs.

use std::path::Path;

use estelle_sim::script::Script;
use serde_json::Value;

use crate::client::{run, with_project};
use crate::up::client::Client;
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
    let refused = run(&machine, &["restore", &folder]).with_code(1);
    assert!(refused.err.contains("--database-only"), "{refused:?}");
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
