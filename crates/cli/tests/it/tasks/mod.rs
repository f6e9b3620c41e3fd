//! Tasks of a workspace: files, written over the protocol and by hand, against the running programs.

mod planner;
mod worker;

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::client::{run, with_project};
use crate::host::stage::Agent;
use crate::up::client::Client;
use crate::up::stage::Machine;

/// A file of the workspace's folder `task`.
fn file(machine: &Machine, name: &str) -> PathBuf {
    machine.path("work/task").join(name)
}

/// Somebody who looks at a workspace.
struct Desk {
    client: Client,
    workspace: Value,
}

impl Desk {
    async fn open(machine: &Machine) -> Self {
        Self::open_with(machine, &machine.phone).await
    }

    /// The same with the secret of another device.
    async fn open_with(machine: &Machine, secret: &str) -> Self {
        let mut client = machine.connect(secret).await;
        let wanted = json!({"name": "Project", "workingDir": machine.path("work")});
        let made = client.done("workspace_create", wanted).await;
        let workspace = made["workspace"]["workspaceId"].clone();
        Self { client, workspace }
    }

    fn with(&self, mut more: Value) -> Value {
        more["workspaceId"] = self.workspace.clone();
        more
    }

    async fn ask(&mut self, kind: &str, more: Value) -> Value {
        let payload = self.with(more);
        self.client.ask(kind, payload).await
    }

    async fn done(&mut self, kind: &str, more: Value) -> Value {
        let payload = self.with(more);
        self.client.done(kind, payload).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_writes_reads_and_marks_tasks_in_the_terminal() {
    let (machine, _) = with_project().await;
    let empty = run(&machine, &["tasks", "list"]).with_code(0).out;
    assert!(empty.contains("estelle tasks add"), "{empty}");
    let text = "# Goal\n\nOne parser.";
    let added = run(&machine, &["tasks", "add", "Tidy: the parser", text]).with_code(0);
    let id = added.out.trim();
    assert!(id.ends_with("-tidy-the-parser"), "{id}");
    let written = std::fs::read_to_string(file(&machine, &format!("{id}.md"))).unwrap();
    assert!(
        written.contains("title: \"Tidy: the parser\"\nstatus: pending\n"),
        "{written}"
    );
    let listed = run(&machine, &["tasks", "ls", "--in", "Project"])
        .with_code(0)
        .out;
    assert!(
        listed.contains("Tidy: the parser") && listed.contains("pending"),
        "{listed}"
    );
    let why = [
        "tasks",
        "status",
        id,
        "failed",
        "--error",
        "there is one already",
    ];
    run(&machine, &why).with_code(0);
    let shown = run(&machine, &["tasks", "show", id]).with_code(0).out;
    assert!(
        shown.contains("there is one already") && shown.contains("One parser."),
        "{shown}"
    );
    let json = run(&machine, &["tasks", "show", id, "--json"])
        .with_code(0)
        .lines();
    assert_eq!(json[0]["task"]["status"], "failed");
    assert_eq!(json[0]["task"]["content"], "\n# Goal\n\nOne parser.\n");
    let missing = run(&machine, &["tasks", "show", "../../etc/passwd"]).with_code(5);
    assert!(missing.err.contains("there is no task"), "{missing:?}");
    run(&machine, &["tasks", "status", id, "someday"]).with_code(2);
    run(&machine, &["tasks", "list", "--in", "nowhere"]).with_code(5);
    run(&machine, &["tasks", "add", " ", "text"]).with_code(1);
}

#[tokio::test(flavor = "multi_thread")]
async fn files_made_by_hand_are_tasks_and_keep_what_else_is_in_them() {
    let machine = Machine::start(&Agent::Simulator).await;
    let mut desk = Desk::open(&machine).await;
    std::fs::create_dir(machine.path("work/task")).unwrap();
    let by_hand = "---\r\nid: mine\r\nowner: [me, you]\r\nstatus: pending # soon\r\n---\r\n# Mine\r\n\r\ntext";
    std::fs::write(file(&machine, "20260101-mine.md"), by_hand).unwrap();
    let broken = "---\nstatus: pending\nid: open\n";
    std::fs::write(file(&machine, "20260102-open.md"), broken).unwrap();
    let list = desk.done("task_list", json!({})).await;
    assert_eq!(list["tasks"][1]["title"], "Mine");
    assert_eq!(list["tasks"][0]["file"], "20260102-open.md");
    let problem = list["tasks"][0]["problem"].as_str().unwrap();
    assert!(problem.contains("not closed"), "{list}");
    let queue = &list["workerStatus"]["queue"];
    assert_eq!(*queue, json!({"pending": 1, "total": 2}));

    let set = json!({"taskId": "mine", "status": "running"});
    let set = desk.done("task_status", set).await;
    let began = set["task"]["startedAt"].as_str().unwrap();
    let expected = by_hand.replace(
        "status: pending # soon\r\n",
        &format!("status: running\r\nstartedAt: {began}\r\n"),
    );
    // The key went to the end, which is where the status was.
    let now = std::fs::read_to_string(file(&machine, "20260101-mine.md")).unwrap();
    assert_eq!(now, expected);

    let mend = json!({"taskId": "20260102-open.md", "status": "done"});
    let refused = desk.ask("task_status", mend).await;
    assert_eq!(refused["errorCode"], "conflict", "{refused}");
    let kept = std::fs::read_to_string(file(&machine, "20260102-open.md")).unwrap();
    assert_eq!(kept, broken);
    let shown = desk
        .done("task_get", json!({"taskId": "20260102-open"}))
        .await;
    assert_eq!(shown["task"]["content"], broken, "{shown}");

    std::fs::write(file(&machine, "20260103-copy.md"), "---\nid: mine\n---\n").unwrap();
    let twice = desk.ask("task_get", json!({"taskId": "mine"})).await;
    assert_eq!(twice["errorCode"], "conflict", "{twice}");
    let told = twice["error"].as_str().unwrap();
    assert!(told.contains("20260103-copy.md"), "{told}");
    desk.done("task_get", json!({"taskId": "20260103-copy.md"}))
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn everybody_is_told_of_a_new_task_and_nothing_leaves_the_workspace() {
    let machine = Machine::start(&Agent::Simulator).await;
    let mut desk = Desk::open(&machine).await;
    let mut other = machine.connect(&machine.viewer).await;
    // It is in the room once it was answered.
    other.done("workspace_list", json!({})).await;
    let new = json!({"title": "파서 정리", "content": "text"});
    let made = desk.done("task_create", new.clone()).await;
    let told = |frame: &Value| {
        frame["type"] == "task_list_result" && frame["payload"]["requestId"].is_null()
    };
    let told = other.until(told).await;
    assert_eq!(told["payload"]["tasks"][0], made["task"]);
    let listed = other
        .until(|frame| {
            let of = &frame["payload"]["workspaces"][0];
            frame["type"] == "workspace_list_result" && of["tasks"][0] == made["task"]
        })
        .await;
    let worker = &listed["payload"]["workspaces"][0]["workerStatus"];
    assert_eq!(worker["queue"], json!({"pending": 1, "total": 1}));
    let refused = other.ask("task_create", desk.with(new.clone())).await;
    assert_eq!(refused["errorCode"], "forbidden", "{refused}");

    let (tasks, outside) = (machine.path("work/task"), machine.path("outside"));
    std::fs::rename(&tasks, &outside).unwrap();
    std::os::unix::fs::symlink(&outside, &tasks).unwrap();
    for (kind, more) in [
        ("task_list", json!({})),
        ("task_get", json!({"taskId": made["task"]["id"]})),
        ("task_create", new),
        (
            "task_status",
            json!({"taskId": made["task"]["id"], "status": "done"}),
        ),
    ] {
        let refused = desk.ask(kind, more).await;
        assert_eq!(refused["errorCode"], "bad_path", "{refused}");
    }
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 1);
    // A workspace whose tasks cannot be looked at is listed without them.
    let list = desk.client.done("workspace_list", json!({})).await;
    assert_eq!(list["workspaces"][0]["tasks"], json!([]));
}
