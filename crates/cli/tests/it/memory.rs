//! `estelle verify` holds the Pylon's database against the host's logs.

use estelle_sim::script::Script;
use serde_json::Value;

use crate::client::{run, with_project};
use crate::up::half_said;
use crate::up::stage::Machine;

fn verify(machine: &Machine, code: i32) -> Value {
    let report = run(machine, &["verify", "--json"]).with_code(code);
    report.lines().remove(0)
}

fn wrong(report: &Value) -> [u64; 4] {
    ["lost", "duplicated", "gap", "damage"].map(|kind| report[kind].as_u64().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entry_that_was_altered_on_the_disk_is_found() {
    let (mut machine, id) = with_project().await;
    for text in ["apples", "quinces"] {
        let script = Script::new().say(text).prompt();
        run(&machine, &["send", "-q", &id, &script]).with_code(0);
    }
    let running = verify(&machine, 0);
    assert_eq!(wrong(&running), [0; 4], "{running}");
    // Ended in order, it leaves one file.
    let up = machine.end_up();
    assert!(up.success(), "{up:?}");
    let sound = verify(&machine, 0);
    assert_eq!(wrong(&sound), [0; 4], "{sound}");
    assert_eq!(sound["database"]["entries"], 6, "{sound}");

    let file = machine.path("data/pylon/pylon.db");
    let mut bytes = std::fs::read(&file).unwrap();
    let (old, new) = (b"\"content\":\"quinces\"", b"\"content\":\"peaches\"");
    let place = bytes.windows(old.len()).position(|part| part == old);
    let place = place.expect("the entry is in the file as it is");
    bytes[place..place + new.len()].copy_from_slice(new);
    std::fs::write(&file, bytes).unwrap();
    let report = verify(&machine, 1);
    assert_eq!(wrong(&report), [0, 0, 0, 1], "{report}");
    let told = run(&machine, &["verify"]).with_code(1).out;
    assert!(told.contains("say something else"), "{told}");
    machine.up();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_pylon_has_not_taken_in_yet_is_unproven() {
    let (mut machine, id) = with_project().await;
    let args = ["send", "--detach", &id, &half_said("one two three four")];
    run(&machine, &args).with_code(0);
    machine.kill_up();
    machine.open_gate("half");
    let log = machine.path(&format!("data/conversations/{id}/log.jsonl"));
    let is_over = || {
        let text = std::fs::read_to_string(&log).unwrap_or_default();
        text.contains("\"type\":\"result\"") && text.trim_end().ends_with('}')
    };
    while !is_over() {}
    let report = verify(&machine, 0);
    assert_eq!(wrong(&report), [0; 4], "{report}");
    assert!(report["unproven"].as_u64().unwrap() > 0, "{report}");
    machine.up();
}
