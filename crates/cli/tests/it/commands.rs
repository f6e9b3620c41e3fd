//! All commands of the program, as its own help lists them: each prints JSON if it is asked to, and each is known to the
//! shells.

use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use crate::client::{Done, run, with_project};
use crate::program::Place;

/// A command of the command line.
#[derive(Debug)]
struct Command {
    path: Vec<String>,
    help: String,
}

impl Command {
    fn name(&self) -> String {
        self.path.join(" ")
    }

    /// Whether it does something without a command behind it.
    fn is_whole(&self) -> bool {
        let usage = self.help.lines().find(|line| line.starts_with("Usage:"));
        !usage.unwrap().contains("<COMMAND>")
    }
}

/// The commands that a help lists.
fn listed(help: &str) -> impl Iterator<Item = &str> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let lines = lines.take_while(|line| !line.is_empty());
    let names = lines.filter_map(|line| {
        let rest = line
            .strip_prefix("  ")
            .filter(|rest| !rest.starts_with(' '))?;
        rest.split_whitespace().next()
    });
    names.filter(|name| *name != "help")
}

/// Every command that is not hidden.
fn all(place: &Place) -> Vec<Command> {
    let mut found: Vec<Command> = Vec::new();
    let mut waiting = vec![Vec::new()];
    while let Some(path) = waiting.pop() {
        let mut args: Vec<&str> = path.iter().map(String::as_str).collect();
        args.push("-h");
        let shown = place.command(&args).output().unwrap();
        let help = String::from_utf8(shown.stdout).unwrap();
        for name in listed(&help) {
            waiting.push([path.as_slice(), &[name.to_owned()]].concat());
        }
        if !path.is_empty() {
            found.push(Command { path, help });
        }
    }
    found.sort_by_key(Command::name);
    assert!(found.len() > 50, "{found:?}");
    found
}

/// Commands without `--json`, and why.
const WITHOUT: [(&str, &str); 2] = [
    ("completions", "prints a script for a shell"),
    (
        "host attach",
        "is a talk between a person and a conversation",
    ),
];

#[test]
fn every_command_can_be_asked_for_json() {
    let place = Place::new();
    let all = all(&place);
    for (name, _) in WITHOUT {
        assert!(all.iter().any(|one| one.name() == name), "{name} is gone");
    }
    let mute = all.iter().filter(|one| {
        let is_let_off = WITHOUT.iter().any(|(name, _)| *name == one.name());
        one.is_whole() && !is_let_off && !one.help.contains("--json")
    });
    let mute: Vec<String> = mute.map(Command::name).collect();
    assert!(mute.is_empty(), "without --json: {mute:#?}");
}

/// What is run with `--json`: the words behind the command, in an order in which each can be carried out. `ID` is a
/// conversation, `DIR` a folder for files.
const RUNS: &[(&str, &[&str])] = &[
    ("ls", &[]),
    ("new workspace", &["Second"]),
    ("new conversation", &["Talk", "--in", "Project"]),
    ("send", &["ID", "SCRIPT:[{\"say\":\"hello\"}]"]),
    ("watch", &["ID", "--until-idle"]),
    ("history", &["ID"]),
    ("search", &["hello"]),
    ("usage", &[]),
    ("files", &["Project"]),
    ("stop", &["ID"]),
    ("continue", &["ID"]),
    ("rewind", &["ID"]),
    ("fork", &["ID"]),
    ("budget", &[]),
    ("notifications", &[]),
    ("worktrees", &[]),
    ("tasks list", &["--in", "Project"]),
    ("tasks add", &["Tidy up", "Everything", "--in", "Project"]),
    ("tasks worker", &["--in", "Project"]),
    ("sessions list", &["Project"]),
    ("terminal ls", &[]),
    ("deploy", &["status"]),
    ("bugs", &[]),
    (
        "chat",
        &["--simulate", "--print", "SCRIPT:[{\"say\":\"hello\"}]"],
    ),
    ("config", &[]),
    ("config path", &[]),
    ("config example", &[]),
    ("config init", &[]),
    ("devices", &[]),
    ("devices list", &[]),
    ("devices add", &["--name", "Script"]),
    ("doctor", &[]),
    ("host list", &[]),
    ("host status", &[]),
    ("logs", &[]),
    ("man", &["--dir", "DIR/man"]),
    ("policy explain", &["Bash", "{\"command\":\"ls\"}"]),
    ("relay pylons", &["--registry", "DIR/relay.json"]),
    (
        "relay add-pylon",
        &["--registry", "DIR/relay.json", "--id", "7", "--name", "P"],
    ),
    (
        "relay remove-pylon",
        &["--registry", "DIR/relay.json", "--id", "7"],
    ),
    (
        "relay add-device",
        &["--registry", "DIR/relay.json", "--name", "D"],
    ),
    ("service install", &["--no-start"]),
    ("service status", &[]),
    ("service uninstall", &[]),
    ("verify", &[]),
    ("backup", &["DIR/backup"]),
    ("restore", &["DIR/backup", "--database-only"]),
];

/// Commands whose JSON is looked at elsewhere, or that need somebody or something that is not here.
const ELSEWHERE: &[(&str, &str)] = &[
    ("answer", "needs a question"),
    ("approve", "needs a decision"),
    ("deny", "needs a decision"),
    ("devices revoke", "needs a key; see the devices of `up`"),
    ("diff", "needs a repository"),
    ("host", "runs until it is ended"),
    ("host stop", "ends the machine under the others"),
    ("pair", "waits for a phone"),
    ("pylon", "runs until it is ended"),
    ("rebuild", "needs a machine that rests; see the archive"),
    ("relay serve", "runs until it is ended"),
    ("sessions continue", "needs a session; see what is saved"),
    ("sessions show", "needs a session; see what is saved"),
    ("tasks continue", "needs a worker; see the tasks"),
    ("tasks show", "needs the id of a task; see the tasks"),
    ("tasks start", "needs a worker; see the tasks"),
    ("tasks status", "needs the id of a task; see the tasks"),
    ("tasks stop", "needs a worker; see the tasks"),
    ("terminal", "is for a person at a terminal"),
    ("terminal agent", "is for a person at a terminal"),
    ("terminal attach", "is for a person at a terminal"),
    ("terminal close", "needs a terminal"),
    ("terminal open", "is for a person at a terminal"),
    ("up", "runs already; its greeting is JSON in every test"),
    ("worktrees merge", "needs a repository; see the worktrees"),
    ("worktrees remove", "needs a repository; see the worktrees"),
];

/// The output as JSON: one value, or one a line.
fn values(done: &Done) -> Option<Vec<Value>> {
    if let Ok(value) = serde_json::from_str(&done.out) {
        return Some(vec![value]);
    }
    let lines = done.out.lines();
    lines.map(|line| serde_json::from_str(line).ok()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_command_that_is_asked_for_json_prints_it() {
    let place = Place::new();
    let named = |name: &str| RUNS.iter().any(|(own, _)| *own == name);
    let mut unseen = all(&place);
    unseen.retain(|one| {
        let is_let_off = WITHOUT
            .iter()
            .chain(ELSEWHERE)
            .any(|(own, _)| *own == one.name());
        one.is_whole() && !is_let_off && !named(&one.name())
    });
    let unseen: Vec<String> = unseen.iter().map(Command::name).collect();
    assert!(unseen.is_empty(), "neither run nor let off: {unseen:#?}");

    let (machine, id) = with_project().await;
    std::fs::write(machine.path("work/a.txt"), "a").unwrap();
    let dir = machine.path("home");
    let dir = dir.to_str().unwrap();
    for (name, words) in RUNS {
        let mut args: Vec<String> = name.split(' ').map(str::to_owned).collect();
        args.extend(words.iter().map(|word| match *word {
            "ID" => id.clone(),
            word => word.replace("DIR", dir),
        }));
        args.push("--json".to_owned());
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let done = run(&machine, &args);
        let values = values(&done);
        assert!(values.is_some(), "{name} prints something else: {done:?}");
        let may_be_empty = ["bugs", "worktrees"].contains(name);
        assert!(may_be_empty || !done.out.is_empty(), "{name}: {done:?}");
    }
}

#[test]
fn servers_say_in_json_that_they_are_ready() {
    use std::io::{BufRead as _, BufReader};
    let place = Place::new();
    let folder = place.folder().to_str().unwrap();
    let data = format!("{folder}/data");
    let registry = format!("{folder}/relay.json");
    for (args, wanted) in [
        (
            &[
                "relay",
                "serve",
                "--registry",
                &registry,
                "--listen",
                "127.0.0.1:0",
            ][..],
            "listening",
        ),
        (&["host", "--data", &data][..], "ready"),
    ] {
        let mut command = place.command(args);
        let mut serving = command
            .arg("--json")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(serving.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        serving.kill().unwrap();
        serving.wait().unwrap();
        let value: Value = serde_json::from_str(&line).unwrap();
        assert!(!value[wanted].is_null(), "{line}");
    }
}

#[test]
fn a_talk_is_not_for_programs_and_says_what_is() {
    let place = Place::new();
    let refused = place.command(&["chat", "--simulate", "--json"]).output();
    let refused = refused.unwrap();
    let told = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(1), "{told}");
    assert!(told.contains("estelle send"), "{told}");
}

#[test]
fn shells_know_every_command() {
    let place = Place::new();
    let all = all(&place);
    for shell in ["bash", "zsh", "fish"] {
        let shown = place.command(&["completions", shell]).output().unwrap();
        let script = String::from_utf8(shown.stdout).unwrap();
        for command in &all {
            let mut names = command.path.iter();
            let last = names.next_back().unwrap();
            let is_known = script
                .split(|c: char| !c.is_ascii_alphanumeric() && c != '-')
                .any(|word| word == last);
            assert!(is_known, "{shell} does not know {}", command.name());
        }
    }
}

/// What bash itself offers behind these words, the last of which is being typed.
fn offered(script: &Path, words: &[&str]) -> Vec<String> {
    let cur = words.last().unwrap();
    let prev = words[words.len() - 2];
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let program = format!(
        "source '{}'; COMP_WORDS=({}); COMP_CWORD={}; _estelle estelle '{cur}' '{prev}'; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        script.display(),
        quoted.join(" "),
        words.len() - 1,
    );
    let mut bash = std::process::Command::new("bash");
    bash.args(["--noprofile", "--norc", "-c", &program]);
    let output = bash.env_clear().env("PATH", "/usr/bin:/bin").output();
    let output = output.unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn bash_completes_what_is_typed() {
    let place = Place::new();
    let shown = place.command(&["completions", "bash"]).output().unwrap();
    let script = place.folder().join("estelle.bash");
    std::fs::write(&script, shown.stdout).unwrap();
    assert_eq!(offered(&script, &["estelle", "app"]), ["approve"]);
    assert_eq!(
        offered(&script, &["estelle", "service", "unin"]),
        ["uninstall"]
    );
    assert_eq!(
        offered(&script, &["estelle", "history", "--exp"]),
        ["--export"]
    );
    assert_eq!(
        offered(&script, &["estelle", "history", "--export", "j"]),
        ["json"]
    );
    let all = all(&place);
    let top: Vec<&str> = all
        .iter()
        .filter(|command| command.path.len() == 1)
        .map(|command| command.path[0].as_str())
        .collect();
    let every = offered(&script, &["estelle", ""]);
    for name in top {
        assert!(every.iter().any(|word| word == name), "{name}: {every:?}");
    }
}
