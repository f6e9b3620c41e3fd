//! What keeps a machine well: the doctor, logs, the unit, and manual pages.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use serde_json::Value;

use crate::host::stage::Agent;
use crate::program::Place;
use crate::up::stage::Machine;

fn text(output: &std::process::Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_doctor_sees_what_runs_and_what_is_missing() {
    let machine = Machine::start(&Agent::Simulator).await;
    let checked = machine.command(&["doctor", "--json"]).output().unwrap();
    let report: Value = serde_json::from_slice(&checked.stdout).unwrap();
    let check = |name: &str| {
        let checks = report["checks"].as_array().unwrap();
        let found = checks.iter().find(|check| check["name"] == name);
        found
            .unwrap_or_else(|| panic!("{name}: {report:#}"))
            .clone()
    };
    for name in ["config", "data", "sockets", "disk", "host", "up", "clock"] {
        assert_eq!(check(name)["health"], "good", "{report:#}");
    }
    assert!(
        check("up")["found"]
            .as_str()
            .unwrap()
            .contains("machines: ")
    );
    let claude = check("claude");
    assert_eq!(claude["health"], "bad", "there is none on this PATH");
    assert!(claude["found"].as_str().unwrap().contains("npm install"));
    assert_eq!(checked.status.code(), Some(1));
    let human = text(&machine.command(&["doctor"]).output().unwrap());
    assert!(
        human.contains("✗ claude") && human.contains("→ "),
        "{human}"
    );
}

#[test]
fn the_doctor_says_that_a_port_is_taken() {
    let place = Place::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let mut command = place.command(&["doctor"]);
    let address = taken.local_addr().unwrap().to_string();
    let checked = command.env("ESTELLE_RELAY_LISTEN", address).output();
    let said = text(&checked.unwrap());
    assert!(
        said.contains("✗ port") && said.contains("relay.listen"),
        "{said}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn logs_are_shown_and_followed() {
    let machine = Machine::start(&Agent::Simulator).await;
    let shown = text(&machine.command(&["logs", "pylon"]).output().unwrap());
    assert!(shown.contains("estelle_pylon"), "{shown}");
    assert!(!shown.contains("estelle_relay::"), "{shown}");
    let mut following = machine
        .command(&["logs", "host", "-f", "--json"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(following.stdout.take().unwrap()).lines();
    let mut lines = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    // What was there is shown first; what comes now can only be seen by looking again.
    assert!(lines.any(|line| line["line"].as_str().unwrap().contains("is ready")));
    let log = machine.path("data/host.log");
    let mut log = std::fs::File::options().append(true).open(log).unwrap();
    std::io::Write::write_all(&mut log, b"something new\n").unwrap();
    assert!(lines.any(|line| line["line"] == "something new" && line["log"] == "host"));
    following.kill().unwrap();
    following.wait().unwrap();
}

#[test]
fn the_unit_runs_this_program_and_spares_the_runs() {
    let place = Place::new();
    let install = ["service", "install", "--print", "--data", "/srv/my data"];
    let unit = text(&place.command(&install).output().unwrap());
    let program = env!("CARGO_BIN_EXE_estelle");
    let start = format!("ExecStart=\"{program}\" up --json --data \"/srv/my data\"\n");
    assert!(unit.contains(&start), "{unit}");
    assert!(unit.contains("\nKillMode=process\n"), "{unit}");
    let written = place
        .command(&["service", "install", "--no-start"])
        .output();
    assert!(written.unwrap().status.success());
    let status = place
        .command(&["service", "status", "--json"])
        .output()
        .unwrap();
    let status: Value = serde_json::from_slice(&status.stdout).unwrap();
    assert_eq!(status["state"], "installed");
    let file = status["unit"].as_str().unwrap();
    assert!(
        std::fs::read_to_string(file)
            .unwrap()
            .contains("KillMode=process")
    );
}

/// systemd itself reads the unit, where it is installed; it need not run.
#[test]
fn systemd_understands_the_unit() {
    if !std::path::Path::new("/usr/bin/systemd-analyze").exists() {
        println!("there is no systemd-analyze here: the unit was not verified");
        return;
    }
    let place = Place::new();
    let install = [
        "service",
        "install",
        "--print",
        "--data",
        "/srv/my $data 100%",
    ];
    let unit = text(&place.command(&install).output().unwrap());
    let verify = |unit: &str| {
        let file = place.folder().join("estelle.service");
        std::fs::write(&file, unit).unwrap();
        let mut command = std::process::Command::new("/usr/bin/systemd-analyze");
        command
            .args(["verify", "--user", "--man=no", "--recursive-errors=no"])
            .arg(&file)
            .env_clear()
            .env("HOME", place.folder())
            .env("XDG_RUNTIME_DIR", place.folder());
        command.output().unwrap()
    };
    let verified = verify(&unit);
    assert!(verified.status.success(), "{unit}\n{verified:?}");
    let wrong = verify(&unit.replace("KillMode=process", "KillMode=porcess"));
    assert!(!wrong.status.success(), "{wrong:?}");
}

#[test]
fn there_are_manual_pages() {
    let place = Place::new();
    let folder = place.folder().join("man");
    let dir = folder.to_str().unwrap();
    let made = place.command(&["man", "--dir", dir]).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    for page in ["estelle.1", "estelle-send.1", "estelle-service-install.1"] {
        let page = std::fs::read_to_string(folder.join(page)).unwrap();
        assert!(page.contains(".TH"), "{page}");
    }
}

#[test]
fn under_its_second_name_the_program_is_the_simulated_agent() {
    let place = Place::new();
    let second = place.folder().join("estelle-sim-claude");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_estelle"), &second).unwrap();
    let mut command = place.command(&["chat", "--sim", "--print", "SCRIPT:[{\"say\":\"hello\"}]"]);
    let answered = command.env("ESTELLE_SIM_CLAUDE", &second).output().unwrap();
    assert_eq!(text(&answered), "hello\n", "{answered:?}");
}
