//! Deploys with real programs: a repository, builds, switches, restarts, and everything that may go wrong with them.

mod itself;
mod killed;
mod refusals;
pub(crate) mod stage;
mod stumbling;

use std::process::Command;

use estelle_sim::script::Script;
use serde_json::{Value, json};

use stage::{BUILT, SOUND, Stage, runs_build};

/// A conversation in which a permission waits.
struct Waiting {
    machine: u32,
    workspace: Value,
    id: Value,
    call: Value,
    file: std::path::PathBuf,
}

impl Waiting {
    async fn begin(stage: &mut Stage, machine: u32) -> Self {
        let folder = stage.house.work(&format!("on-{machine}"));
        let wanted = json!({"name": format!("On {machine}"), "workingDir": folder});
        let made = stage.owner.done(machine, "workspace_create", &wanted).await;
        let (workspace, id) = (
            made["workspace"]["workspaceId"].clone(),
            made["conversation"]["conversationId"].clone(),
        );
        let both = json!({"workspaceId": workspace, "conversationId": id});
        stage
            .owner
            .done(machine, "conversation_select", &both)
            .await;
        let file = folder.join("a.txt");
        let script = Script::new()
            .tool("Write", json!({"file_path": file, "content": "written"}))
            .say("after");
        let mut send = both.clone();
        send["message"] = json!(script.prompt());
        stage.owner.done(machine, "claude_send", &send).await;
        let asked = stage.owner.find_event(&id, "permission_request").await;
        Self {
            machine,
            workspace,
            id,
            call: asked["payload"]["event"]["toolUseId"].clone(),
            file,
        }
    }

    fn with(&self, more: &Value) -> Value {
        let mut payload = json!({"workspaceId": self.workspace, "conversationId": self.id});
        for (name, value) in more.as_object().unwrap() {
            payload[name] = value.clone();
        }
        payload
    }

    /// The permission waits on, is answered, and the turn ends as if nothing had been.
    async fn goes_on(&self, stage: &mut Stage) {
        let owner = &mut stage.owner;
        let look = self.with(&json!({}));
        owner.done(self.machine, "conversation_select", &look).await;
        assert!(!self.file.exists());
        let allow = self.with(&json!({"toolUseId": self.call, "decision": "allow"}));
        // A Pylon that was just started may not have its host yet.
        let told = loop {
            let told = owner.ask(self.machine, "claude_permission", &allow).await;
            if told["payload"]["errorCode"] != "host_unavailable" {
                break told;
            }
        };
        assert_eq!(told["payload"]["success"], true, "{told}");
        owner.find_event(&self.id, "result").await;
        assert_eq!(std::fs::read_to_string(&self.file).unwrap(), "written");
        let wanted = self.with(&json!({"limit": 200}));
        let history = owner.done(self.machine, "history_request", &wanted).await;
        let entries = history["messages"].as_array().unwrap();
        let texts: Vec<&str> = entries
            .iter()
            .filter(|entry| entry["type"] == "text" && entry["role"] == "assistant")
            .map(|entry| entry["content"].as_str().unwrap())
            .collect();
        assert_eq!(texts, ["after"], "{history:#}");
        let results = entries.iter().filter(|entry| entry["type"] == "result");
        assert_eq!(results.count(), 1, "{history:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deploy_in_the_middle_of_a_turn_loses_nothing() {
    let mut stage = Stage::new(&[1, 2]).await;
    let mut waiting = Vec::new();
    for machine in [1, 2] {
        waiting.push(Waiting::begin(&mut stage, machine).await);
    }
    let commit = stage.commit("2.0", SOUND);
    let ready = stage.prepare(1, true).await;
    let wanted = json!({
        "deviceId": 1, "success": true, "commitHash": commit, "version": "2.0",
        "requestId": ready["requestId"],
    });
    assert_eq!(ready, wanted);
    stage.step(1, "json", "done").await;
    let published = stage.house.data(1).join("deploy/deploy.json");
    assert!(
        !published.exists(),
        "it is published before anybody confirmed it"
    );

    let told = stage.confirm(1).await;
    assert_eq!(told["phase"], "started", "{told}");
    let start = stage.hear(1, "deploy_start").await;
    let wanted = json!({"commitHash": commit, "version": "2.0", "leadPylonId": 1});
    for (name, value) in wanted.as_object().unwrap() {
        assert_eq!(start["payload"][name], *value, "{start}");
    }
    let ack = stage.hear(1, "deploy_ack_received").await;
    assert_eq!(
        ack["payload"],
        json!({"deviceId": 2, "totalAcks": 1, "success": true})
    );
    let (one, two) = (stage.behind(1), stage.behind(2));
    assert!(!published.exists(), "it is published before the word to go");

    let told = stage.tell(1, "deploy_go", &json!({})).await;
    assert_eq!(told["success"], true, "{told}");
    let restart = stage.hear(1, "deploy_restart").await;
    assert_eq!(restart["payload"]["commitHash"], commit);
    for machine in [1, 2] {
        let restarting = |frame: &Value| {
            frame["type"] == "deploy_restarting" && frame["payload"]["deviceId"] == machine
        };
        stage.owner.ever(restarting).await;
        stage.runs(machine, "2.0").await;
        let status = stage.status(machine).await;
        assert_eq!(status["runningCommit"], commit, "{status}");
        assert_eq!(status["phase"], "idle", "{status}");
        assert!(runs_build(stage.house.pylon_pid(machine), "2.0"));
    }
    assert_ne!((stage.behind(1), stage.behind(2)), (one, two));
    let release: Value = serde_json::from_slice(&std::fs::read(&published).unwrap()).unwrap();
    assert_eq!(
        (&release["commit"], &release["version"]),
        (&json!(commit), &json!("2.0"))
    );
    assert_eq!(release["buildTime"].as_str().unwrap().len(), 14);
    let told = stage
        .owner
        .done(1, "version_check_request", &json!({}))
        .await;
    assert_eq!(
        (&told["commit"], &told["version"]),
        (&json!(commit), &json!("2.0"))
    );
    for one in &waiting {
        one.goes_on(&mut stage).await;
    }
    for machine in [1, 2] {
        let status = stage.status(machine).await;
        let log = status["log"].to_string();
        assert!(log.contains("not configured") || machine == 2, "{log}");
        assert!(!log.contains("a-secret-that-nobody-sees"), "{log}");
    }
    stage.house.assert_calm();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_deploys_to_one_machine() {
    let mut stage = Stage::new(&[1]).await;
    let token = stage.house.path("token");
    std::fs::write(&token, &stage.token).unwrap();
    let address = format!("http://{}", stage.house.address());
    let run = |args: &[&str]| {
        let output = Command::new(BUILT)
            .arg("deploy")
            .args(args)
            .arg("--json")
            .env_clear()
            .env("ESTELLE_ADDRESS", &address)
            .env("ESTELLE_TOKEN_FILE", &token)
            .output()
            .unwrap();
        let lines = String::from_utf8(output.stdout).unwrap();
        let last = lines.lines().last().unwrap_or("null");
        let last: Value = serde_json::from_str(last).unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        (output.status.code().unwrap(), last, said)
    };
    let (code, idle, _) = run(&["status"]);
    assert_eq!((code, &idle["phase"]), (0, &json!("idle")), "{idle}");
    let (code, _, said) = run(&["go"]);
    assert_eq!(code, 1);
    assert!(said.contains("no deploy is prepared"), "{said}");
    let commit = stage.commit("3.0", SOUND);
    let (code, ready, said) = run(&["prepare", "--alone"]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(
        (&ready["version"], &ready["commitHash"]),
        (&json!("3.0"), &json!(commit))
    );
    let (_, waiting, _) = run(&["status"]);
    assert_eq!(waiting["phase"], "ready", "{waiting}");
    let (code, cancelled, _) = run(&["cancel"]);
    assert_eq!((code, &cancelled["phase"]), (0, &json!("idle")));
    assert_eq!(run(&["prepare", "--alone"]).0, 0);
    assert_eq!(run(&["confirm"]).1["phase"], "started");
    let (code, _, said) = run(&["go"]);
    assert_eq!(code, 0, "{said}");
    stage.runs(1, "3.0").await;
    let (_, line, _) = run(&["log"]);
    assert!(line["line"].as_str().unwrap().contains(&commit), "{line}");
    let published = stage.house.data(1).join("deploy/deploy.json");
    assert!(!published.exists(), "a machine alone publishes nothing");
    stage.house.assert_calm();
}

/// The new program starts, finds the database in a format that it does not know, and gives up.
const BROKEN: &str = r#"
cat > "$ESTELLE_DEPLOY_OUT/estelle" <<'END'
#!/bin/sh
case "$1" in
  trial|--version) ;;
  *) printf '\000\000\000\143' | dd of="$DATABASE" bs=1 seek=60 conv=notrunc 2>/dev/null ;;
esac
exec "$BUILT" "$@"
END
chmod +x "$ESTELLE_DEPLOY_OUT/estelle"
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_build_that_does_not_start_when_it_counts_gives_way_to_the_former() {
    let mut stage = Stage::new(&[1]).await;
    let waiting = Waiting::begin(&mut stage, 1).await;
    let before = stage.behind(1);
    let contents = std::fs::metadata(&before).unwrap().len();
    stage.commit("2.0", BROKEN);
    assert_eq!(stage.prepare(1, true).await["success"], true);
    stage.confirm(1).await;
    stage.tell(1, "deploy_go", &json!({})).await;
    stage.hear(1, "deploy_restarting").await;
    let error = stage.hear(1, "deploy_error").await;
    let text = error["payload"]["error"].as_str().unwrap();
    assert!(text.contains("the former runs again"), "{text}");
    assert!(text.contains("format 99"), "it says why: {text}");
    let status = stage.status(1).await;
    assert_eq!(
        (&status["phase"], &status["runningCommit"]),
        (&json!("idle"), &Value::Null)
    );
    assert_eq!(std::fs::metadata(stage.behind(1)).unwrap().len(), contents);
    let published = stage.house.data(1).join("deploy/deploy.json");
    assert!(!published.exists(), "what does not run is not published");
    waiting.goes_on(&mut stage).await;
    // The next one is better.
    stage.commit("2.1", SOUND);
    assert_eq!(stage.prepare(1, true).await["success"], true);
    stage.confirm(1).await;
    stage.tell(1, "deploy_go", &json!({})).await;
    stage.runs(1, "2.1").await;
}
