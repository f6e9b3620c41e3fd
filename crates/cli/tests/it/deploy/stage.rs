//! Machines that can be deployed to: a repository, builds that take no time, and a household around them.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::conformance::house::{HOME, House};
use crate::conformance::probe::Probe;
use crate::host::stage::Agent;

/// The program that is tested.
pub(super) const BUILT: &str = env!("CARGO_BIN_EXE_estelle");
/// A build that is the tested program under another version.
pub(super) const BUILD: &str = r#"cp VERSION "$ESTELLE_DEPLOY_OUT/version" && sh ./make.sh"#;
/// What makes the program: another file than the tested one, which says at its end of which version it is.
pub(super) const SOUND: &str = r#"
new="$ESTELLE_DEPLOY_OUT/estelle"
cp "$BUILT" "$new.part" && printf '\nbuild %s\n' "$(cat VERSION)" >> "$new.part" && mv "$new.part" "$new"
"#;

/// Whether a process runs the build of a version, which is another file than the tested program.
pub(super) fn runs_build(pid: u32, version: &str) -> bool {
    let program = std::fs::read(format!("/proc/{pid}/exe")).unwrap();
    let built = std::fs::metadata(BUILT).unwrap().len();
    program.len() as u64 > built && program.ends_with(format!("\nbuild {version}\n").as_bytes())
}

/// Gives machines a program of their own, and a repository to deploy from. Before they are started.
pub(crate) fn lay_out(house: &mut House, ids: &[u32], more: &[(&str, &str)]) {
    let repository = house.path("repository");
    std::fs::create_dir(&repository).unwrap();
    lay_out_repository(&repository, "1.1", SOUND);
    let path = std::env::var("PATH").unwrap();
    for id in ids {
        house.own_program(*id);
        let text = |path: PathBuf| path.to_str().unwrap().to_owned();
        let (gate, mark) = (house.path("gate"), house.path(&format!("mark-{id}")));
        let database = house.data(*id).join("pylon/pylon.db");
        let own = [
            ("PATH", path.clone()),
            ("BUILT", BUILT.to_owned()),
            ("GATE", text(gate)),
            ("MARK", text(mark)),
            ("DATABASE", text(database)),
            ("ESTELLE_DEPLOY_REPOSITORY", text(repository.clone())),
            ("ESTELLE_DEPLOY_BUILD", BUILD.to_owned()),
            ("ESTELLE_DEPLOY_NPM", "true".to_owned()),
            ("SOME_API_TOKEN", "a-secret-that-nobody-sees".to_owned()),
        ];
        for (name, value) in &own {
            house.configure(*id, name, value);
        }
        for (name, value) in more {
            house.configure(*id, name, value);
        }
    }
}

/// A household with a repository.
pub(super) struct Stage {
    pub(super) house: House,
    pub(super) owner: Probe,
    pub(super) token: String,
    /// The secret of a Pylon that is a script.
    pub(super) scripted: String,
}

/// The id of a Pylon that is a script.
pub(super) const SCRIPTED: u32 = 9;

impl Stage {
    /// Machines of these ids, which run.
    pub(super) async fn new(ids: &[u32]) -> Self {
        Self::configured(ids, &[]).await
    }

    /// The same with more variables.
    pub(super) async fn configured(ids: &[u32], more: &[(&str, &str)]) -> Self {
        let named: Vec<(u32, &str)> = ids.iter().map(|id| (*id, "Machine")).collect();
        let mut house = House::new(&Agent::Simulator, &named).await;
        lay_out(&mut house, ids, more);
        let token = house.app_token(HOME, "Owner", "view,prompt,approve,admin");
        let scripted = house.pylon_token(HOME, SCRIPTED, "Scripted");
        house.start();
        let owner = house.app(&token).await;
        let mut stage = Self {
            house,
            owner,
            token,
            scripted,
        };
        for id in ids {
            stage.is_there(*id).await;
        }
        stage
    }

    pub(super) fn repository(&self) -> PathBuf {
        self.house.path("repository")
    }

    /// The next commit: its version, and the script that makes its program.
    pub(super) fn commit(&self, version: &str, script: &str) -> String {
        commit(&self.repository(), version, script)
    }

    /// Waits until a machine says how it is.
    pub(super) async fn is_there(&mut self, id: u32) -> Value {
        let is_it = |frame: &Value| {
            frame["type"] == "pylon_status"
                && frame["payload"]["deviceId"] == id
                && frame["payload"]["hostConnected"] == true
        };
        self.owner.ever(is_it).await
    }

    /// Waits until a machine runs a version.
    pub(super) async fn runs(&mut self, id: u32, version: &str) {
        let is_it = |frame: &Value| {
            frame["type"] == "pylon_status"
                && frame["payload"]["deviceId"] == id
                && frame["payload"]["version"] == version
                && frame["payload"]["hostConnected"] == true
        };
        self.owner.ever(is_it).await;
    }

    /// Prepares a deploy, and gives the answer.
    pub(super) async fn prepare(&mut self, id: u32, leads: bool) -> Value {
        let wanted = json!({"relayDeploy": leads});
        let ready = self.owner.ask(id, "deploy_prepare", &wanted).await;
        assert_eq!(ready["type"], "deploy_ready", "{ready}");
        ready["payload"].clone()
    }

    /// Asks for something that is answered with the state of the deploy.
    pub(super) async fn tell(&mut self, id: u32, kind: &str, payload: &Value) -> Value {
        let told = self.owner.ask(id, kind, payload).await;
        assert_eq!(told["type"], "deploy_status_result", "{told}");
        told["payload"].clone()
    }

    pub(super) async fn status(&mut self, id: u32) -> Value {
        self.tell(id, "deploy_status_request", &json!({})).await
    }

    pub(super) async fn confirm(&mut self, id: u32) -> Value {
        let payload = json!({"preApproved": true, "cancel": false});
        self.tell(id, "deploy_confirm", &payload).await
    }

    pub(super) async fn cancel(&mut self, id: u32) -> Value {
        let payload = json!({"preApproved": false, "cancel": true});
        self.tell(id, "deploy_confirm", &payload).await
    }

    /// Waits for a message of a kind from a machine.
    pub(super) async fn hear(&mut self, id: u32, kind: &str) -> Value {
        let is_it = |frame: &Value| frame["type"] == kind && frame["from"]["deviceId"] == id;
        self.owner.until(is_it).await
    }

    /// Waits until a step of a machine has this state.
    pub(super) async fn step(&mut self, id: u32, step: &str, state: &str) {
        let is_it = |frame: &Value| {
            frame["type"] == "deploy_status"
                && frame["from"]["deviceId"] == id
                && frame["payload"]["tasks"][step] == state
        };
        self.owner.until(is_it).await;
    }

    /// What a machine starts.
    pub(super) fn program(&self, id: u32) -> PathBuf {
        self.house.path(&format!("bin-{id}")).join("estelle")
    }

    /// What lies behind what a machine starts.
    pub(super) fn behind(&self, id: u32) -> PathBuf {
        self.program(id).canonicalize().unwrap()
    }

    /// A step that waits at the gate, and says by which process it waits.
    pub(super) fn close_gate(&self) {
        let gate = self.house.path("gate");
        let made = Command::new("mkfifo").arg(gate).status().unwrap();
        assert!(made.success());
    }

    pub(super) fn open_gate(&self) {
        let gate = self.house.path("gate");
        // Opening it waits for the step that reads.
        std::fs::write(gate, "").unwrap();
    }

    /// The process that waits at the gate.
    pub(super) fn waiting(&self, id: u32) -> u32 {
        let mark = self.house.path(&format!("mark-{id}"));
        let text = std::fs::read_to_string(mark).unwrap();
        text.trim().parse().unwrap()
    }
}

/// A command that waits at the gate. Nothing is left of it when it is ended.
pub(super) const WAIT: &str = r#"sh -c 'echo $$ > "$MARK.new"; mv "$MARK.new" "$MARK"; echo waiting; read line < "$GATE"; true'"#;

/// Waits until a process is gone.
pub(super) async fn is_gone(pid: u32) {
    let path = format!("/proc/{pid}/stat");
    let mut pace = tokio::time::interval(std::time::Duration::from_millis(20));
    let gone = async {
        loop {
            let stat = std::fs::read_to_string(&path).unwrap_or_default();
            // One that nobody has asked about yet is dead as well.
            if stat.is_empty() || stat.contains(") Z ") {
                return;
            }
            pace.tick().await;
        }
    };
    let limit = std::time::Duration::from_mins(1);
    tokio::time::timeout(limit, gone).await.unwrap();
}

/// A repository in an empty folder: its version, and the script that makes its program.
pub(super) fn lay_out_repository(folder: &Path, version: &str, script: &str) {
    git(folder, &["init", "--quiet", "-b", "main"]);
    commit(folder, version, script);
}

fn commit(repository: &Path, version: &str, script: &str) -> String {
    std::fs::write(repository.join("VERSION"), version).unwrap();
    std::fs::write(repository.join("make.sh"), script).unwrap();
    git(repository, &["add", "."]);
    git(repository, &["commit", "--quiet", "-m", version]);
    git(repository, &["rev-parse", "HEAD"])
}

pub(super) fn git(folder: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=Test", "-c", "user.email=test@example.org"])
        .args(["-c", "commit.gpgsign=false"])
        .args(args)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}
