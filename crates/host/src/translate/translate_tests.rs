//! Recorded traffic of the real CLIs, told in our events.

use std::fmt::Write as _;
use std::path::Path;

use estelle_claude::line::Line;

use super::*;

/// The events of a line, kept and passing ones.
fn events(translator: &mut Translator, message: &Message) -> Vec<ClaudeEvent> {
    let found = translator.translate(message, 0);
    let kept = found.durable.into_iter().map(|durable| durable.event);
    kept.chain(found.passing).collect()
}

/// The events of a recording, one line each; of streamed text the first piece.
fn told(recording: &str) -> String {
    let mut translator = Translator::new(Generation(3));
    let mut told = String::new();
    for message in recorded(recording) {
        for event in events(&mut translator, &message) {
            tell(&mut told, &event);
        }
    }
    told
}

/// What the CLI said in a recording.
fn recorded(recording: &str) -> Vec<Message> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../claude/tests/fixtures/transcripts");
    let text = std::fs::read_to_string(folder.join(recording)).expect("a recording");
    let lines = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"));
    lines
        .filter(|line: &serde_json::Value| line["dir"] == "out")
        .map(|line| Message::parse(Line::from(line["line"].to_string())))
        .collect()
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the other events have tests of their own"
)]
fn tell(told: &mut String, event: &ClaudeEvent) {
    let parent = |id: &Option<ToolUseId>| if id.is_some() { "  sub: " } else { "" };
    match event {
        ClaudeEvent::Init(init) => writeln!(told, "init {}", init.model),
        ClaudeEvent::Text(text) if text.at == Some(0) => {
            writeln!(
                told,
                "{}text {}",
                parent(&text.parent_tool_use_id),
                text.content
            )
        }
        ClaudeEvent::Thinking(thought) if thought.at == Some(0) => {
            writeln!(told, "thinking {}", thought.content)
        }
        ClaudeEvent::ThinkingComplete(thought) => writeln!(told, "thought {}", thought.text),
        ClaudeEvent::TextComplete(text) => writeln!(
            told,
            "{}complete {}",
            parent(&text.parent_tool_use_id),
            text.text
        ),
        ClaudeEvent::ToolInfo(tool) => writeln!(
            told,
            "{}call {}",
            parent(&tool.parent_tool_use_id),
            tool.tool_name
        ),
        ClaudeEvent::ToolComplete(tool) => writeln!(
            told,
            "{}back {} {}",
            parent(&tool.parent_tool_use_id),
            tool.tool_name,
            tool.error
                .as_deref()
                .unwrap_or(if tool.success { "ok" } else { "failed" })
        ),
        ClaudeEvent::Result(result) => writeln!(
            told,
            "result {} {:.6}",
            result.subtype, result.total_cost_usd
        ),
        ClaudeEvent::Error(error) => writeln!(told, "error {}", error.error),
        ClaudeEvent::Task(task) => writeln!(told, "task {}", task.status),
        _ => Ok(()),
    }
    .expect("memory");
}

#[test]
fn a_turn_with_thinking_is_told_by_its_thoughts_and_its_text() {
    assert_eq!(
        told("01_baseline.jsonl"),
        "init claude-opus-4-8[1m]\nthinking hmm\nthought hmm\ntext hello w\ncomplete hello world from fake\nresult success 0.001125\n"
    );
}

#[test]
fn a_background_task_is_told_beside_the_turns_and_costs_are_those_of_each_turn() {
    assert_eq!(
        told("08c_bash_bg_open.jsonl"),
        "init claude-opus-4-8[1m]\ncall Bash\ntask started\nback Bash ok\ntext st\ncomplete started\n\
         result success 0.002250\ntask completed\ntext [scr\ncomplete [script end]\nresult success 0.001125\n"
    );
}

#[test]
fn a_sub_agent_is_told_under_its_call() {
    let told = told("08a_subagent_fg.jsonl");
    assert!(told.contains("call Agent\ntask started\n"), "{told}");
    assert!(told.contains("  sub: call Bash\n"), "{told}");
    assert!(told.contains("  sub: back Bash"), "{told}");
}

#[test]
fn an_api_error_is_told_as_an_error_beside_the_result() {
    let told = told("11b_403.jsonl");
    assert!(
        told.contains("error Failed to authenticate. API Error: 403 forbidden\n"),
        "{told}"
    );
    assert!(told.ends_with("result success 0.001125\n"), "{told}");
}

#[test]
fn long_output_is_cut_and_a_call_that_was_not_seen_is_said_so() {
    let long = "ä".repeat(1500);
    let line = serde_json::json!({"type": "user", "session_id": "s", "message": {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "t", "content": long, "is_error": true}]}});
    let events = events(
        &mut Translator::new(Generation(1)),
        &Message::parse(Line::from(line.to_string())),
    );
    let [ClaudeEvent::ToolComplete(tool)] = &events[..] else {
        panic!("{events:?}")
    };
    assert_eq!((tool.tool_name.as_str(), tool.success), ("Unknown", false));
    assert_eq!(tool.result.chars().count(), 1000);
    assert_eq!(tool.truncated, Some(true));
    assert_eq!(
        tool.error.as_deref().map(|error| error.chars().count()),
        Some(200)
    );
}

#[test]
fn a_piece_of_text_says_where_it_belongs() {
    let stream = |event: serde_json::Value| {
        let line = serde_json::json!({"type": "stream_event", "event": event, "session_id": "s", "uuid": "u"});
        Message::parse(Line::from(line.to_string()))
    };
    let delta = |text: &str| {
        let delta = serde_json::json!({"type": "text_delta", "text": text});
        stream(serde_json::json!({"type": "content_block_delta", "index": 1, "delta": delta}))
    };
    let mut translator = Translator::new(Generation(1));
    let places: Vec<_> = ["a😀", "b"]
        .iter()
        .flat_map(|text| events(&mut translator, &delta(text)))
        .map(|event| {
            let ClaudeEvent::Text(text) = event else {
                panic!("{event:?}");
            };
            (text.block, text.at)
        })
        .collect();
    assert_eq!(places, [(Some(1), Some(0)), (Some(1), Some(3))]);
}

#[test]
fn a_piece_that_is_printed_in_both_forms_is_told_once() {
    let piece = |text: &str| serde_json::json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}});
    let parse = |line: serde_json::Value| Message::parse(Line::from(line.to_string()));
    let both = |text: &str| {
        let event = piece(text);
        let stream = serde_json::json!({"type": "stream_event", "event": event, "session_id": "s", "uuid": "u"});
        [parse(stream), parse(event)]
    };
    let mut translator = Translator::new(Generation(1));
    // A release that prints no stream events at all.
    let alone = events(&mut translator, &parse(piece("alone ")));
    let mixed = both("one ").into_iter().chain(both("two"));
    let mixed = mixed.flat_map(|message| events(&mut translator, &message));
    let told: String = alone
        .into_iter()
        .chain(mixed.collect::<Vec<_>>())
        .filter_map(|event| {
            if let ClaudeEvent::Text(text) = event {
                return Some(text.content);
            }
            None
        })
        .collect();
    assert_eq!(told, "alone one two");
}

#[test]
fn what_is_complete_is_no_longer_being_written() {
    let mut translator = Translator::new(Generation(3));
    let mut open = Vec::new();
    for message in recorded("01_baseline.jsonl") {
        for event in events(&mut translator, &message) {
            let blocks = translator.open_blocks();
            let blocks = blocks
                .iter()
                .map(|block| format!("{} {}", block.kind, block.content));
            open.push(format!("{}: {}", event.kind(), blocks.collect::<String>()));
        }
    }
    let open: Vec<_> = open
        .iter()
        .filter(|line| !line.starts_with("stateUpdate"))
        .collect();
    assert_eq!(
        open,
        [
            "init: ",
            "thinking: thinking hmm",
            "thinkingComplete: ",
            "text: text hello w",
            "text: text hello world fr",
            "text: text hello world from fake",
            "textComplete: ",
            "result: "
        ]
    );
}

#[test]
fn a_thought_that_is_kept_secret_is_not_told() {
    let line = serde_json::json!({"type": "assistant", "session_id": "s", "uuid": "u", "message": {
        "id": "m", "type": "message", "role": "assistant", "model": "x",
        "content": [{"type": "thinking", "thinking": "", "signature": "c2ln"}]}});
    let message = Message::parse(Line::from(line.to_string()));
    let told = events(&mut Translator::new(Generation(1)), &message);
    assert!(told.is_empty(), "{told:?}");
}

/// The error that a failed turn is told with.
fn failure(errors: &str, terminal: &str) -> String {
    let line = format!(
        r#"{{"type":"result","subtype":"error_during_execution","is_error":true,"terminal_reason":"{terminal}","errors":{errors}}}"#
    );
    let mut translator = Translator::new(Generation(3));
    let message = Message::parse(Line::from(line));
    let mut errors = events(&mut translator, &message)
        .into_iter()
        .filter_map(|event| {
            let ClaudeEvent::Error(error) = event else {
                return None;
            };
            Some(error.error)
        });
    errors.next().expect("an error")
}

#[test]
fn what_the_cli_notes_for_itself_is_not_told_to_people() {
    let note = "[ede_diagnostic] result_type=user stop_reason=null";
    let both = failure(&format!(r#"["{note}","No space left"]"#), "completed");
    assert_eq!(both, "No space left");
    let aborted = failure(&format!(r#"["{note}"]"#), "aborted_tools");
    assert_eq!(aborted, "the turn was broken off");
    let alone = failure(&format!(r#"["{note}"]"#), "completed");
    assert!(alone.contains("without a reason"), "{alone}");
}

/// The kept events of lines of ours.
fn kept(lines: &[serde_json::Value]) -> Vec<ClaudeEvent> {
    let mut translator = Translator::new(Generation(1));
    let messages = lines
        .iter()
        .map(|line| Message::parse(Line::from(line.to_string())));
    messages
        .flat_map(|message| translator.translate(&message, 0).durable)
        .map(|durable| durable.event)
        .collect()
}

fn assistant(blocks: &serde_json::Value) -> serde_json::Value {
    serde_json::json!({
        "type": "assistant", "session_id": "s", "parent_tool_use_id": null,
        "message": {
            "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": blocks,
            "stop_reason": null, "usage": {},
        },
    })
}

#[test]
fn a_call_on_the_side_of_the_api_comes_back() {
    let events = kept(&[assistant(&serde_json::json!([
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}},
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"type": "web_search_result"}]},
        {"type": "server_tool_use", "id": "srvtoolu_2", "name": "web_search", "input": {"query": "y"}},
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_2",
         "content": {"error_code": "max_uses_exceeded"}},
        {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "find", "server_name": "s", "input": {}},
        {"type": "mcp_tool_result", "tool_use_id": "mcptoolu_1", "is_error": false,
         "content": [{"type": "text", "text": "found"}]},
    ]))]);
    let mut told = String::new();
    for event in &events {
        tell(&mut told, event);
    }
    assert_eq!(
        told,
        "call web_search\nback web_search ok\ncall web_search\nback web_search \
         {\"error_code\":\"max_uses_exceeded\"}\ncall find\nback find ok\n"
    );
}

#[test]
fn an_image_that_a_tool_gave_does_not_disappear() {
    let image = serde_json::json!({
        "type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A".repeat(8192)},
    });
    let content = serde_json::json!([{"type": "text", "text": "before"}, image, {"type": "text", "text": "after"}]);
    let line = serde_json::json!({
        "type": "user", "session_id": "s", "parent_tool_use_id": null,
        "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "toolu_1", "content": content},
        ]},
    });
    let events = kept(&[line]);
    let [ClaudeEvent::ToolComplete(tool)] = events.as_slice() else {
        panic!("{events:?}");
    };
    assert_eq!(tool.result, "before\n[image: image/png, 6 KiB]\nafter");
    let images = tool.images.as_deref().unwrap_or_default();
    assert_eq!(images.len(), 1);
    assert_eq!(
        (images[0].mime_type.as_str(), images[0].size),
        ("image/png", 6144)
    );
}

#[test]
fn pictures_are_kept_that_an_app_can_draw_and_that_fit() {
    let image = |kind: &str, data: &str| {
        serde_json::json!({
            "type": "image", "source": {"type": "base64", "media_type": kind, "data": data},
        })
    };
    let large = "A".repeat(2 * 1024 * 1024);
    let line = serde_json::json!({
        "type": "user", "session_id": "s", "parent_tool_use_id": null,
        "message": {"role": "user", "content": [{
            "type": "tool_result", "tool_use_id": "toolu_1", "content": [
                image("image/svg+xml", "AAAA"),
                image("image/png", "not base64"),
                image("image/webp", &large),
                image("image/png", &large),
                image("image/jpeg", "AAAA"),
            ],
        }]},
    });
    let message = Message::parse(Line::from(line.to_string()));
    let found = Translator::new(Generation(1)).translate(&message, 0);
    let [durable] = found.durable.as_slice() else {
        panic!("{:?}", found.durable.len());
    };
    let ClaudeEvent::ToolComplete(tool) = &durable.event else {
        panic!("{:?}", durable.event);
    };
    let kinds = tool.images.iter().flatten();
    let kinds: Vec<_> = kinds.map(|image| image.mime_type.as_str()).collect();
    assert_eq!(kinds, ["image/webp", "image/jpeg"]);
    assert_eq!(durable.images, [large, "AAAA".to_owned()]);
    assert!(
        tool.result.contains("image/svg+xml"),
        "the others are named"
    );
}

/// What the CLI asks for in a recording.
fn asked(
    translator: &mut Translator,
    recording: &[Message],
) -> Vec<estelle_state::conversation::Request> {
    let mut asked = Vec::new();
    for message in recording {
        for seen in translator.translate(message, 0).seen {
            if let Seen::Asked(request) = seen {
                asked.push(*request);
            }
        }
    }
    asked
}

#[test]
fn a_sub_agent_asks_under_the_call_that_began_it() {
    let recording = recorded("08a_subagent_fg.jsonl");
    let asked_by = asked(&mut Translator::new(Generation(1)), &recording);
    let parent = asked_by[0]
        .parent_tool_use_id
        .as_ref()
        .map(ToolUseId::as_str);
    assert_eq!(parent, Some("toolu_7b3ad0e491e746d08b07"));
    let own = asked(
        &mut Translator::new(Generation(1)),
        &recorded("08d_bash_bg_close.jsonl"),
    );
    assert_eq!(own[0].parent_tool_use_id, None, "the agent itself asks");
}

#[test]
fn a_request_without_a_usable_id_gets_one_that_says_what_it_is() {
    let line = |tool: &str| {
        let line = serde_json::json!({
            "type": "control_request", "request_id": "r1",
            "request": {"subtype": "can_use_tool", "tool_name": tool, "tool_use_id": "", "input": {}},
        });
        Message::parse(Line::from(line.to_string()))
    };
    for (tool, id) in [
        ("AskUserQuestion", "q_r1"),
        ("Bash", "perm_r1"),
        ("ExitPlanMode", "perm_r1"),
    ] {
        let asked = asked(&mut Translator::new(Generation(1)), &[line(tool)]);
        assert_eq!(asked[0].tool_use_id.as_str(), id);
    }
}
