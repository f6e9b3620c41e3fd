//! A good history, written by hand: two conversations, two people, a host that is restarted, a CLI that is killed; and two
//! apps behind a Pylon.

mod pylon;
mod stage;

use estelle_proof::history::{Fact, History};
use estelle_sim::script::Script;
use serde_json::json;

use stage::{Stage, Who};

/// Anna watches from the start, Ben comes and goes.
const ANNA: Who = Who(0);
const BEN: Who = Who(1);

/// The history.
pub(crate) fn history() -> History {
    let mut stage = Stage::new(["anna", "ben"]);
    let first = stage.begin("first");
    stage.connect(ANNA);
    stage.connect(BEN);
    stage.subscribe(ANNA, first);
    stage.subscribe(BEN, first);
    plain_turn(&mut stage);
    permissions(&mut stage);
    question(&mut stage);
    let second = stage.begin("second");
    stage.subscribe(ANNA, second);
    stage.subscribe(BEN, second);
    killed_and_taken_up(&mut stage);
    pylon::behind(stage.finish())
}

/// A message, a text in pieces, a result.
fn plain_turn(stage: &mut Stage) {
    let first = 0;
    stage.send(
        ANNA,
        first,
        "m1",
        &Script::new().say("one is said").prompt(),
    );
    stage.start(first, 100);
    stage.hand(first, "m1");
    stage.pieces(first, &["one ", "is ", "said"]);
    stage.says(first, "one is said", None);
    stage.result(first);
}

/// One allowed by a person over a restart of the host, one denied, one left to the policy.
fn permissions(stage: &mut Stage) {
    let first = 0;
    let script = Script::new()
        .tool("Write", json!({"file_path": "/a", "content": "b"}))
        .tool("Bash", json!({"command": "rm x"}))
        .tool("Read", json!({"file_path": "/a"}))
        .say("two is said");
    stage.send(BEN, first, "m2", &script.prompt());
    stage.hand(first, "m2");
    stage.calls(
        first,
        "toolu_1",
        "Write",
        json!({"file_path": "/a", "content": "b"}),
    );
    stage.asks(first, "toolu_1");
    stage.shows(first, "toolu_1");
    // The host dies and comes back; nothing of it reaches the CLI.
    stage.lose(ANNA);
    stage.lose(BEN);
    stage.connect(ANNA);
    stage.subscribe(ANNA, first);
    stage.answers(ANNA, first, "toolu_1", "allow");
    stage.runs(first, "toolu_1");
    stage.returns(first, "toolu_1", false);
    stage.calls(first, "toolu_2", "Bash", json!({"command": "rm x"}));
    stage.asks(first, "toolu_2");
    stage.shows(first, "toolu_2");
    stage.connect(BEN);
    stage.subscribe(BEN, first);
    stage.answers(BEN, first, "toolu_2", "deny");
    stage.is_refused(ANNA, first, "toolu_2");
    stage.returns(first, "toolu_2", true);
    stage.calls(first, "toolu_3", "Read", json!({"file_path": "/a"}));
    stage.asks(first, "toolu_3");
    stage.rules(first, "toolu_3", "allow");
    stage.runs(first, "toolu_3");
    stage.returns(first, "toolu_3", false);
    stage.pieces(first, &["two "]);
    stage.lose(BEN);
    stage.connect(BEN);
    stage.subscribe_within(BEN, first, "two ");
    stage.pieces_from(first, 4, &["is said"]);
    stage.says(first, "two is said", None);
    stage.result(first);
}

fn question(stage: &mut Stage) {
    let first = 0;
    let input = json!({"questions": [{"question": "Which?", "header": "w", "options": [], "multiSelect": false}]});
    let script = Script::new()
        .tool("AskUserQuestion", input.clone())
        .say("three is said");
    stage.send(ANNA, first, "m3", &script.prompt());
    stage.hand(first, "m3");
    // A host that died after writing cannot know, and writes again: the CLI runs it once.
    stage.tell(
        first,
        Fact::Read {
            kind: "user".to_owned(),
            uuid: Some("m3".to_owned()),
        },
    );
    stage.calls(first, "toolu_4", "AskUserQuestion", input);
    stage.asks(first, "toolu_4");
    stage.shows(first, "toolu_4");
    stage.answers(BEN, first, "toolu_4", "allow");
    stage.runs(first, "toolu_4");
    stage.returns(first, "toolu_4", false);
    stage.says(first, "three is said", None);
    stage.result(first);
}

/// The CLI is killed between two turns; the next run ends with a prompt that is open.
fn killed_and_taken_up(stage: &mut Stage) {
    let second = 1;
    stage.send(
        BEN,
        second,
        "n1",
        &Script::new().say("four is said").prompt(),
    );
    stage.start(second, 200);
    stage.hand(second, "n1");
    stage.says(second, "a sub-agent says", Some("toolu_9"));
    stage.says(second, "four is said", None);
    stage.result(second);
    stage.kill(second);
    stage.send(
        BEN,
        second,
        "n2",
        &Script::new().say("five is said").prompt(),
    );
    stage.start(second, 201);
    stage.hand(second, "n2");
    stage.says(second, "five is said", None);
    stage.result(second);
    let script = Script::new()
        .tool("Write", json!({"file_path": "/c", "content": "d"}))
        .say("never said");
    stage.send(ANNA, second, "n3", &script.prompt());
    stage.hand(second, "n3");
    stage.calls(
        second,
        "toolu_5",
        "Write",
        json!({"file_path": "/c", "content": "d"}),
    );
    stage.asks(second, "toolu_5");
    stage.shows(second, "toolu_5");
    stage.lose(ANNA);
    stage.connect(ANNA);
    stage.subscribe(ANNA, second);
    stage.subscribe(ANNA, 0);
}
