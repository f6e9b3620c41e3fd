//! `estelle up` replaces itself: relay, Pylon and host are of the new build, and a turn that waits for an answer goes on.

use estelle_sim::script::Script;
use serde_json::json;

use super::stage::{BUILD, BUILT, SOUND, lay_out_repository, runs_build};
use crate::client::run;
use crate::host::stage::Agent;
use crate::up::Talk;
use crate::up::stage::Machine;

#[tokio::test(flavor = "multi_thread")]
async fn estelle_up_replaces_itself_in_the_middle_of_a_turn_and_loses_nothing() {
    let repository = tempfile::tempdir().unwrap();
    lay_out_repository(repository.path(), "2.0", SOUND);
    let path = std::env::var("PATH").unwrap();
    let settings = [
        ("PATH", path.as_str()),
        ("BUILT", BUILT),
        (
            "ESTELLE_DEPLOY_REPOSITORY",
            repository.path().to_str().unwrap(),
        ),
        ("ESTELLE_DEPLOY_BUILD", BUILD),
        ("ESTELLE_DEPLOY_NPM", "true"),
    ];
    let mut machine = Machine::start_with(&Agent::Simulator, &settings).await;
    machine.end_up();
    let program = machine.path("estelle");
    std::fs::copy(BUILT, &program).unwrap();
    let mut output = machine.up_from(&program);
    let (up, host) = (machine.up_pid(), machine.host_pid());
    assert!(!runs_build(up, "2.0"));

    let mut talk = Talk::begin(&machine).await;
    let file = machine.path("work/a.txt");
    let script = Script::new()
        .tool("Write", json!({"file_path": &file, "content": "written"}))
        .say("after");
    talk.send(&script.prompt(), "m1").await;
    let asked = talk.client.event("permission_request").await;

    run(&machine, &["deploy", "prepare", "--alone"]).with_code(0);
    run(&machine, &["deploy", "confirm"]).with_code(0);
    // It ends before it has seen the end of it.
    run(&machine, &["deploy", "go"]);
    machine.greeted(&mut output);
    assert_eq!(machine.up_pid(), up, "a supervisor notices nothing");
    assert!(runs_build(up, "2.0"));
    assert_ne!(machine.host_pid(), host);
    assert!(runs_build(machine.host_pid(), "2.0"));

    let mut talk = talk.again(&machine).await;
    talk.look().await;
    assert!(!file.exists(), "nothing runs without an answer");
    let answered = loop {
        let answered = talk.allow(&asked["toolUseId"]).await;
        if answered["errorCode"] != "host_unavailable" {
            break answered;
        }
    };
    assert_eq!(answered["success"], true, "{answered}");
    talk.client.event("result").await;
    talk.client.idle().await;
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "written");
    // The same message again, as after a lost connection, runs once.
    talk.send(&script.prompt(), "m1").await;
    let expected = [
        "user: <script>",
        "tool_start Write",
        "user_response",
        "tool_complete Write",
        "assistant: after",
        "result",
    ];
    assert_eq!(talk.history().await, expected);
}
