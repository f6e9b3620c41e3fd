//! The simulated CLI against the real ones: the same scenarios, the same host, the normalised streams compared.
//!
//! Compared are the order of the lines, the set of fields of every kind of line, and the values of a result that do not
//! depend on time. Ids, times, costs and texts may differ. Every other difference must be listed with its reason in
//! `CONFORMANCE.md`, and every listed one must still be there.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Stdio;
use std::time::Duration;

use anyhow::Context as _;
use estelle_sim::api::{Config, FakeApi, RealCli};
use estelle_sim::script::{Answer, Script};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

const LISTED: &str = include_str!("../../CONFORMANCE.md");
const PATIENCE: Duration = Duration::from_mins(1);
/// These end a response and race with what its calls do.
const RACING: [&str; 3] = ["content_block_stop", "message_delta", "message_stop"];
/// Objects whose keys are names and not fields.
const OPAQUE: [&str; 5] = [
    "input",
    "tool_input",
    "modelUsage",
    "model_usage_since_last_result",
    "by_type",
];
const UUID: &str = "3f0c6d1e-8b7a-4c1d-9e2f-0a1b2c3d4e5f";

/// One thing a host does.
enum Deed {
    /// Sends a prompt with a uuid and serves until a result.
    Turn(String),
    /// Sends a control request and waits for its answer.
    Request(Value),
    /// Serves until one more result.
    Result,
    /// Sends a prompt and interrupts at its first delta.
    Cut(String),
}

/// How a host answers what it is asked.
#[derive(Clone, Copy)]
enum Policy {
    Allow,
    Deny,
    DenyAndStop,
    Interrupt,
}

struct Scenario {
    name: &'static str,
    args: &'static [&'static str],
    policy: Policy,
    deeds: Vec<Deed>,
}

fn scenario(name: &'static str, policy: Policy, deeds: Vec<Deed>) -> Scenario {
    Scenario {
        name,
        args: &[],
        policy,
        deeds,
    }
}

fn turn(script: &Script) -> Deed {
    Deed::Turn(script.prompt())
}

fn chown() -> Script {
    Script::new()
        .tool("Bash", json!({ "command": "chown 0 /etc/hostname" }))
        .say("end")
}

fn scenarios() -> Vec<Scenario> {
    let mut all = asking();
    all.extend(working());
    all
}

/// Scenarios about answers, permissions and hooks.
fn asking() -> Vec<Scenario> {
    let initialize = || Deed::Request(json!({ "subtype": "initialize" }));
    let events = [
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "PostToolBatch",
        "PermissionRequest",
        "MessageDisplay",
        "Stop",
    ];
    let hooks = events.map(|event| (event.to_owned(), json!([{ "hookCallbackIds": [event] }])));
    let hooks = Value::Object(hooks.into_iter().collect());
    let hooked = Deed::Request(json!({ "subtype": "initialize", "hooks": hooks }));
    let options =
        json!([{ "label": "A", "description": "a" }, { "label": "B", "description": "b" }]);
    let question = json!({ "questions": [{ "question": "Q?", "header": "H", "options": options, "multiSelect": false }] });
    let question = Script::new().tool("AskUserQuestion", question).say("end");
    let write = json!({ "file_path": "WORK/a.txt", "content": "x" });
    let write = Script::new().tool("Write", write).say("end");
    let say = |text: &str| turn(&Script::new().say(text));
    vec![
        scenario(
            "text",
            Policy::Allow,
            vec![initialize(), say("hello"), say("again")],
        ),
        scenario("allow", Policy::Allow, vec![turn(&write), turn(&chown())]),
        scenario(
            "thinking",
            Policy::Allow,
            vec![turn(&Script::new().think_and_say("hm", "x"))],
        ),
        scenario("deny", Policy::Deny, vec![turn(&chown())]),
        scenario(
            "deny and stop",
            Policy::DenyAndStop,
            vec![turn(&chown()), say("next")],
        ),
        scenario(
            "interrupt while asked",
            Policy::Interrupt,
            vec![turn(&chown())],
        ),
        scenario("question", Policy::Allow, vec![turn(&question)]),
        scenario("hooks", Policy::Allow, vec![hooked, turn(&chown())]),
    ]
}

/// Scenarios about limits, errors, background work and requests.
fn working() -> Vec<Scenario> {
    let behind = json!({ "command": "sleep 1; echo x", "run_in_background": true });
    let behind = Script::new().tool("Bash", behind).say("started");
    let slow = Answer {
        say: Some("s".to_owned()),
        chunks: Some(100),
        delay_ms: 50,
        stamp: true,
        ..Answer::default()
    };
    let refused = Script::new().http(403, "permission_error", "no");
    let echo = Script::new()
        .tool("Bash", json!({ "command": "echo 1" }))
        .say("never");
    let clear = Deed::Turn("/clear".to_owned());
    let subtypes = [
        "interrupt",
        "mcp_status",
        "get_binary_version",
        "get_settings",
        "get_session_cost",
        "get_usage",
        "set_model",
        "wibble",
        "stop_task",
        "list_models",
        "set_color",
    ];
    let requests =
        subtypes.map(|subtype| Deed::Request(json!({ "subtype": subtype, "task_id": "nope" })));
    vec![
        scenario(
            "interrupt",
            Policy::Allow,
            vec![Deed::Cut(Script::new().answer(slow).prompt())],
        ),
        scenario(
            "background",
            Policy::Allow,
            vec![turn(&behind), Deed::Result],
        ),
        scenario("refused", Policy::Allow, vec![turn(&refused)]),
        scenario(
            "clear",
            Policy::Allow,
            vec![turn(&Script::new().say("x")), clear],
        ),
        scenario("requests", Policy::Allow, requests.into_iter().collect()),
        Scenario {
            args: &["--max-turns", "1"],
            ..scenario("max turns", Policy::Allow, vec![turn(&echo)])
        },
    ]
}

/// A CLI, real or simulated, on its pipes.
struct Host {
    input: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    work: tempfile::TempDir,
    policy: Policy,
    sent: u32,
    seen: Vec<Value>,
    _home: tempfile::TempDir,
    _child: Child,
}

impl Host {
    fn start(
        program: &std::path::Path,
        env: BTreeMap<String, String>,
        scenario: &Scenario,
        home: tempfile::TempDir,
    ) -> anyhow::Result<Self> {
        let work = tempfile::tempdir()?;
        let mut child = Command::new(program)
            .args([
                "--output-format",
                "stream-json",
                "--input-format",
                "stream-json",
                "--verbose",
            ])
            .args([
                "--include-partial-messages",
                "--permission-prompt-tool",
                "stdio",
                "--replay-user-messages",
            ])
            .args(scenario.args)
            .env_clear()
            .envs(env)
            .current_dir(work.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        Ok(Self {
            input: child.stdin.take().context("stdin")?,
            lines: BufReader::new(child.stdout.take().context("stdout")?).lines(),
            work,
            policy: scenario.policy,
            sent: 0,
            seen: Vec::new(),
            _home: home,
            _child: child,
        })
    }

    async fn send(&mut self, line: Value) -> anyhow::Result<()> {
        Ok(self.input.write_all(format!("{line}\n").as_bytes()).await?)
    }

    async fn prompt(&mut self, text: &str) -> anyhow::Result<()> {
        self.sent += 1;
        let text = text.replace("WORK", &self.work.path().to_string_lossy());
        let uuid = format!("{}{:04x}", &UUID[..32], self.sent);
        let message = json!({ "role": "user", "content": text });
        self.send(json!({ "type": "user", "message": message, "parent_tool_use_id": null, "session_id": "", "uuid": uuid })).await
    }

    async fn request(&mut self, request: &Value) -> anyhow::Result<String> {
        self.sent += 1;
        let id = format!("r{}", self.sent);
        self.send(json!({ "type": "control_request", "request_id": id, "request": request }))
            .await?;
        Ok(id)
    }

    /// Serves the CLI until a line that fits.
    async fn until(&mut self, fits: impl Fn(&Value) -> bool) -> anyhow::Result<()> {
        loop {
            let line = tokio::time::timeout(PATIENCE, self.lines.next_line())
                .await
                .context("no line")??;
            let line: Value = serde_json::from_str(&line.context("the CLI ended")?)?;
            self.serve(&line).await?;
            let found = fits(&line);
            self.seen.push(line);
            if found {
                return Ok(());
            }
        }
    }

    async fn serve(&mut self, line: &Value) -> anyhow::Result<()> {
        let body = match (line["request"]["subtype"].as_str(), self.policy) {
            (Some("hook_callback"), _) => json!({}),
            (Some("can_use_tool"), Policy::Allow) => {
                json!({ "behavior": "allow", "updatedInput": line["request"]["input"] })
            }
            (Some("can_use_tool"), Policy::Deny) => json!({ "behavior": "deny", "message": "no" }),
            (Some("can_use_tool"), Policy::DenyAndStop) => {
                json!({ "behavior": "deny", "message": "no", "interrupt": true })
            }
            (Some("can_use_tool"), Policy::Interrupt) => {
                self.request(&json!({ "subtype": "interrupt" })).await?;
                return Ok(());
            }
            (Some(_) | None, _) => return Ok(()),
        };
        let response =
            json!({ "subtype": "success", "request_id": line["request_id"], "response": body });
        self.send(json!({ "type": "control_response", "response": response }))
            .await
    }

    async fn act(&mut self, deed: &Deed) -> anyhow::Result<()> {
        match deed {
            Deed::Turn(text) => {
                self.prompt(text).await?;
                self.until(|line| line["type"] == "result").await
            }
            Deed::Request(request) => {
                let id = self.request(request).await?;
                self.until(|line| line["response"]["request_id"] == *id)
                    .await
            }
            Deed::Result => self.until(|line| line["type"] == "result").await,
            Deed::Cut(text) => {
                self.prompt(text).await?;
                self.until(|line| line["event"]["type"] == "content_block_delta")
                    .await?;
                self.request(&json!({ "subtype": "interrupt" })).await?;
                self.until(|line| line["type"] == "result").await
            }
        }
    }
}

/// What is compared of a run.
#[derive(Default)]
struct Told {
    order: Vec<String>,
    fields: BTreeMap<String, BTreeSet<String>>,
    results: Vec<Value>,
}

fn word(line: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    match line["type"].as_str().unwrap_or_default() {
        "stream_event" => text(&line["event"]["type"]),
        "system" => text(&line["subtype"]),
        "result" => format!("result/{}", text(&line["subtype"])),
        "control_request" => format!("asks {}", text(&line["request"]["subtype"])),
        "control_response" => format!("answers {}", text(&line["response"]["subtype"])),
        "command_lifecycle" => format!("lifecycle {}", text(&line["state"])),
        "user" if line["isReplay"] == true => "echo".to_owned(),
        other => other.to_owned(),
    }
}

fn paths(value: &Value, at: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (key, inner) in fields {
                let path = format!("{at}.{key}");
                if !OPAQUE.contains(&key.as_str()) {
                    paths(inner, &path, found);
                }
                found.insert(path);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| paths(item, at, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn told(lines: &[Value]) -> Told {
    let mut told = Told::default();
    for line in lines {
        let word = word(line);
        paths(line, "", told.fields.entry(word.clone()).or_default());
        if line["type"] == "result" {
            let keys = [
                "subtype",
                "is_error",
                "num_turns",
                "stop_reason",
                "terminal_reason",
            ];
            told.results
                .push(keys.iter().map(|key| line[key].clone()).collect());
        }
        let again = word == "content_block_delta" && told.order.last() == Some(&word);
        if !again && !RACING.contains(&word.as_str()) {
            told.order.push(word);
        }
    }
    told
}

fn compare(version: &str, name: &str, real: &Told, sim: &Told) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    if real.order != sim.order {
        eprintln!(
            "{version} {name}\n real: {:?}\n  sim: {:?}",
            real.order, sim.order
        );
        found.insert(format!("{version} | {name} | order of lines"));
    }
    if real.results != sim.results {
        eprintln!(
            "{version} {name}\n real: {:?}\n  sim: {:?}",
            real.results, sim.results
        );
        found.insert(format!("{version} | {name} | values of a result"));
    }
    let words: BTreeSet<&String> = real.fields.keys().chain(sim.fields.keys()).collect();
    let none = BTreeSet::new();
    for word in words {
        let (ours, theirs) = (
            sim.fields.get(word).unwrap_or(&none),
            real.fields.get(word).unwrap_or(&none),
        );
        for path in theirs.difference(ours) {
            found.insert(format!("{version} | {name} | `{word}` lacks `{path}`"));
        }
        for path in ours.difference(theirs) {
            found.insert(format!("{version} | {name} | `{word}` has `{path}`"));
        }
    }
    found
}

async fn run(cli: &RealCli, scenario: &Scenario) -> anyhow::Result<BTreeSet<String>> {
    let api = FakeApi::start(Config::default()).await?;
    let home = tempfile::tempdir()?;
    let env = cli.env(home.path(), api.url());
    let mut real = Host::start(cli.path(), env, scenario, home)?;
    let home = tempfile::tempdir()?;
    let mut env = cli.env(home.path(), api.url());
    env.insert("ESTELLE_SIM_VERSION".to_owned(), cli.version().to_owned());
    env.insert("ESTELLE_SIM_PLAIN".to_owned(), "1".to_owned());
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_estelle-sim-claude"));
    let mut sim = Host::start(program, env, scenario, home)?;
    for deed in &scenario.deeds {
        real.act(deed)
            .await
            .with_context(|| format!("{} on the real CLI", scenario.name))?;
        sim.act(deed)
            .await
            .with_context(|| format!("{} on the simulator", scenario.name))?;
    }
    let (real, sim) = (told(&real.seen), told(&sim.seen));
    Ok(compare(cli.version(), scenario.name, &real, &sim))
}

/// The rows of the table in `CONFORMANCE.md` for one version, without their reasons.
fn listed(version: &str) -> BTreeSet<String> {
    let rows = LISTED.lines().filter_map(|line| line.strip_prefix("| "));
    let cells = rows.map(|row| row.split(" | ").take(3).collect::<Vec<_>>().join(" | "));
    cells.filter(|row| row.starts_with(version)).collect()
}

async fn conforms(cli: &RealCli) -> anyhow::Result<()> {
    let mut found = BTreeSet::new();
    for scenario in scenarios() {
        found.extend(run(cli, &scenario).await?);
    }
    let listed = listed(cli.version());
    let unlisted: Vec<&String> = found.difference(&listed).collect();
    let gone: Vec<&String> = listed.difference(&found).collect();
    assert!(
        unlisted.is_empty(),
        "differences that CONFORMANCE.md does not list: {unlisted:#?}"
    );
    assert!(
        gone.is_empty(),
        "CONFORMANCE.md lists what is no longer so: {gone:#?}"
    );
    Ok(())
}

#[tokio::test]
async fn the_simulator_conforms_to_197() -> anyhow::Result<()> {
    conforms(&RealCli::v197()?).await
}

#[tokio::test]
async fn the_simulator_conforms_to_325() -> anyhow::Result<()> {
    conforms(&RealCli::v325()?).await
}
