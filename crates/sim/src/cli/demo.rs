//! The demo agent: plain words become a script, so that a newcomer can play without knowing the grammar.

use serde_json::json;

use crate::script::{Action, Answer, Mischief, Script, ToolCall};

const HELP: &str = "I am a simulated agent. You can say:\n\n\
- `say <text>`: I repeat it, word by word\n\
- `think <text>`: I think first, then answer\n\
- `run <command>`: I ask whether I may run it, unless it only reads (nothing is really run)\n\
- `write <file> <text>`: I ask, then write the file here\n\
- `ask`: I ask you a question with options\n\
- `plan`: I propose a plan and wait for your word\n\
- `agent`: I send a sub-agent\n\
- `background`: I start a command that reports later\n\
- `flood <n>`: I answer with n pieces at full speed\n\
- `crash`: I die in the middle of the turn\n\
- `help`: this list";
/// Deltas of an answer that is meant to be watched.
const WORD_DELAY_MS: u64 = 30;
const MOST_FLOOD: u64 = 100_000;

/// The script for a prompt without one.
pub(crate) fn script(prompt: &str) -> Script {
    let prompt = prompt.trim();
    let (word, rest) = prompt
        .split_once(char::is_whitespace)
        .unwrap_or((prompt, ""));
    let rest = rest.trim();
    match word.to_lowercase().as_str() {
        "help" => slowly(Script::new(), HELP),
        "say" => slowly(Script::new(), rest),
        "think" => Script::new().answer(Answer {
            think: Some(rest.to_owned()),
            ..watched("I have thought about it.")
        }),
        "run" => {
            let run = Script::new().tool("Bash", json!({ "command": rest }));
            slowly(
                run,
                &format!("That was `{rest}`. Nothing was really run: I am simulated."),
            )
        }
        "write" => {
            let (file, text) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            let write = Script::new().tool("Write", json!({ "file_path": file, "content": text }));
            slowly(write, &format!("I am done with {file}."))
        }
        "ask" => slowly(
            Script::new().tool("AskUserQuestion", question()),
            "Thank you, I will keep that in mind.",
        ),
        "plan" => slowly(
            Script::new().tool(
                "ExitPlanMode",
                json!({ "plan": "1. Look around\n2. Do it\n3. Check it" }),
            ),
            "The plan is settled.",
        ),
        "agent" => slowly(
            Script::new().tools([sub_agent()]),
            "I have sent a sub-agent.",
        )
        // The turn that its end may start.
        .answer(watched("The sub-agent is back: it has looked around.")),
        "background" => {
            let command = json!({ "command": "sleep 3; echo done", "run_in_background": true });
            slowly(
                Script::new().tool("Bash", command),
                "It runs behind; I will hear of it.",
            )
            .answer(watched("The command behind is done."))
        }
        "flood" => {
            let count = rest.parse().unwrap_or(1000).min(MOST_FLOOD);
            Script::new().step(Action::Mischief(Mischief::Flood(count)))
        }
        // A text alone would end the turn before the end could come.
        "crash" => Script::new()
            .tool("Bash", json!({ "command": "echo I do not feel so well" }))
            .step(Action::Mischief(Mischief::Exit(1))),
        _ => slowly(
            Script::new(),
            "I am a simulated agent, so I only play a part: no model reads this. Say `help` and I tell you what I can do.",
        ),
    }
}

fn watched(text: &str) -> Answer {
    Answer {
        say: Some(text.to_owned()),
        chunks: Some(text.split_whitespace().count().max(1)),
        delay_ms: WORD_DELAY_MS,
        ..Answer::default()
    }
}

fn slowly(script: Script, text: &str) -> Script {
    script.answer(watched(text))
}

fn question() -> serde_json::Value {
    json!({ "questions": [{
        "question": "Which colour do you like best?",
        "header": "Colour",
        "options": [
            { "label": "Red", "description": "warm" },
            { "label": "Blue", "description": "cool" },
            { "label": "Green", "description": "calm" }
        ],
        "multiSelect": false
    }] })
}

fn sub_agent() -> ToolCall {
    let inner = Script::new()
        .tool("Bash", json!({ "command": "echo looking around" }))
        .say("I have looked around.");
    ToolCall::new(
        "Agent",
        json!({
            "description": "look around",
            "prompt": inner.prompt(),
            "subagent_type": "general-purpose"
        }),
    )
}

#[cfg(test)]
mod tests {
    use super::script;
    use crate::script::Action;

    #[test]
    fn every_word_of_the_help_does_something() {
        for word in [
            "help",
            "say hi",
            "think hm",
            "run ls",
            "write a b",
            "ask",
            "plan",
            "agent",
            "background",
            "flood 3",
            "crash",
            "hello",
        ] {
            assert!(!script(word).steps.is_empty(), "{word}");
        }
    }

    #[test]
    fn run_asks_for_the_command() {
        let steps = script("run rm -rf x").steps;
        let Action::Answer(answer) = &steps[0].action else {
            panic!("no answer");
        };
        assert_eq!(answer.calls[0].input.as_str(), r#"{"command":"rm -rf x"}"#);
    }
}
