//! `estelle relay`: secrets are given out and taken back, and it goes when it is told to.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};

fn relay(registry: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_estelle"));
    command.args(["relay", "--registry"]).arg(registry);
    command
}

#[test]
fn a_registry_may_stand_in_the_present_folder() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = relay(Path::new("relay.json"));
    let add = ["add-device", "--name", "Phone"];
    let added = command.args(add).current_dir(folder.path()).output();
    assert!(added.unwrap().status.success());
    assert!(folder.path().join("relay.json").is_file());
}

/// A relay that is ended with the test.
struct Running(std::process::Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn pylons_are_added_listed_and_taken_out_while_the_relay_runs_and_while_not() {
    let folder = tempfile::tempdir().unwrap();
    let registry = folder.path().join("relay.json");
    let run = |args: &[&str]| {
        let done = relay(&registry).args(args).arg("--json").output().unwrap();
        let told = String::from_utf8(done.stderr).unwrap();
        let shown = serde_json::from_slice::<serde_json::Value>(&done.stdout);
        shown.map_err(|_| told)
    };
    let names = || {
        let listed = run(&["pylons"]).unwrap();
        let names = listed.as_array().unwrap().iter();
        names.map(|one| one["name"].to_string()).collect::<Vec<_>>()
    };
    let add = |id: &str, name: &str| run(&["add-pylon", "--id", id, "--name", name]).unwrap();
    add("1", "Selene");
    let mut command = relay(&registry);
    command.args(["serve", "--listen", "127.0.0.1:0"]);
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut running = Running(command.spawn().unwrap());
    let mut output = BufReader::new(running.0.stdout.take().unwrap());
    output.read_line(&mut String::new()).unwrap();
    let token = add("2", "Stella")["token"].clone();
    assert!(token.as_str().unwrap().starts_with("est_"));
    assert_eq!(names(), ["\"Selene\"", "\"Stella\""]);
    run(&["remove-pylon", "--id", "1"]).unwrap();
    let told = run(&["remove-pylon", "--id", "1"]).unwrap_err();
    assert!(told.contains("there is no Pylon 1"), "{told}");
    let told = run(&["add-pylon", "--id", "100", "--name", "X"]).unwrap_err();
    assert!(told.contains("1 to 99"), "{told}");
    drop(running);
    assert_eq!(
        names(),
        ["\"Stella\""],
        "it was on the disk when it was said"
    );
    run(&["remove-pylon", "--id", "2"]).unwrap();
    assert!(names().is_empty());
}

#[test]
fn a_relay_serves_and_stops_and_owns_its_registry() {
    let folder = tempfile::tempdir().unwrap();
    let registry = folder.path().join("data/relay.json");
    let add = ["add-pylon", "--id", "1", "--name", "Selene", "--json"];
    let added = relay(&registry).args(add).output().unwrap();
    assert!(added.status.success(), "{added:?}");
    let added: serde_json::Value = serde_json::from_slice(&added.stdout).unwrap();
    assert_eq!(added["deviceId"], 1);
    assert!(added["token"].as_str().unwrap().starts_with("est_"));

    let mut running = relay(&registry)
        .args(["serve", "--listen", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut output = BufReader::new(running.stdout.take().unwrap());
    output.read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("listening on ").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let request = format!("GET /healthz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");

    let second = relay(&registry)
        .args(["serve", "--listen", "127.0.0.1:0"])
        .output()
        .unwrap();
    assert!(!second.status.success());
    let told = String::from_utf8(second.stderr).unwrap();
    assert!(told.contains("running"), "{told}");

    let pid = rustix::process::Pid::from_child(&running);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert!(running.wait().unwrap().success());
    let rights = ["add-device", "--name", "Phone", "--rights", "view,fly"];
    let refused = relay(&registry).args(rights).output().unwrap();
    let told = String::from_utf8(refused.stderr).unwrap();
    assert!(
        told.contains("`fly`") && told.contains("terminal"),
        "{told}"
    );
}
