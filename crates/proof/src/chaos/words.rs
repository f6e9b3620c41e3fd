//! What people ask of the agent: scripts of every kind, each with last words that no other has.

use estelle_sim::script::{Answer as Say, Script, ToolCall};
use fastrand::Rng;
use serde_json::json;

/// The question that scripts ask.
pub(super) const QUESTION: &str = "Which one?";

/// A prompt that ends with these words.
pub(super) fn prompt(dice: &mut Rng, last: &str) -> String {
    let script = Script::new();
    let script = match dice.u8(0..10) {
        0..4 => script,
        4 | 5 => script.tool("Bash", bash(last, 1)),
        6 => script
            .tool("Bash", bash(last, 1))
            .tool("Bash", bash(last, 2)),
        7 => script.tools([1, 2].map(|number| ToolCall::new("Bash", bash(last, number)))),
        8 => script.tool("AskUserQuestion", question()),
        // A response that only says something would end the turn, so it calls a tool as well.
        _ => script.answer(Say {
            think: Some("a thought".to_owned()),
            say: Some(format!("{last}: first")),
            calls: vec![ToolCall::new("Bash", bash(last, 1))],
            ..Say::default()
        }),
    };
    script.answer(slowly(dice, last)).prompt()
}

/// Text in pieces, some of it quick and some of it slow.
fn slowly(dice: &mut Rng, last: &str) -> Say {
    let chunks = dice.usize(3..40);
    let words: Vec<String> = (0..chunks).map(|word| format!("word {word}")).collect();
    Say {
        say: Some(format!("{last}: {}", words.join(", "))),
        chunks: Some(chunks),
        delay_ms: dice.u64(0..25),
        ..Say::default()
    }
}

fn bash(last: &str, number: u8) -> serde_json::Value {
    let name = last.replace(' ', "-");
    json!({"command": format!("echo {number} > {name}-{number}.txt")})
}

fn question() -> serde_json::Value {
    json!({"questions": [{
        "question": QUESTION, "header": "One", "multiSelect": false,
        "options": [{"label": "this", "description": ""}, {"label": "that", "description": ""}],
    }]})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_prompt_is_a_script_that_ends_with_its_own_words() {
        let mut dice = Rng::with_seed(3);
        for number in 0..100 {
            let last = format!("anna {number}");
            let script = Script::find(&prompt(&mut dice, &last)).unwrap().unwrap();
            let step = script.steps.last().unwrap();
            let estelle_sim::script::Action::Answer(answer) = &step.action else {
                panic!("{step:?}");
            };
            assert!(answer.say.as_ref().unwrap().starts_with(&last));
            let before = &script.steps[..script.steps.len() - 1];
            let calls = |step: &estelle_sim::script::Step| matches!(&step.action, estelle_sim::script::Action::Answer(answer) if !answer.calls.is_empty());
            assert!(
                before.iter().all(calls),
                "a turn ends before its last words"
            );
        }
    }
}
