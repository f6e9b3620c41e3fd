//! The scenarios: what a host does with a CLI, part by part, several parts in one process where they do not disturb each other.

use serde_json::{Value, json};

/// One thing a host does.
pub(super) enum Deed {
    /// Changes how the host answers, until the end of the part.
    Policy(Policy),
    /// Sends a prompt and serves until a result.
    Turn(String),
    /// Sends a prompt with more fields and goes on.
    Send(String, Value),
    /// Sends a control request and waits for its answer.
    Request(Value),
    /// Sends a control request and goes on.
    Ask(Value),
    /// Serves until a line has this value there.
    Until(&'static str, Value),
    /// Sends a line as it is.
    Raw(&'static str),
    /// Serves until the process has ended.
    Exit,
    /// Ends the process and starts another in the same place; `SESSION` is the last session.
    Restart(&'static [&'static str]),
}

/// How a host answers what it is asked.
#[derive(Clone, Copy)]
pub(super) enum Policy {
    Allow,
    Answer,
    Change,
    Deny,
    DenyAndStop,
    /// Interrupts instead of an answer.
    Interrupt,
    /// Initialises again before it allows.
    Reinitialize,
    /// The tool hook denies, the stop hook blocks once.
    HooksRefuse,
}

/// A part of a scenario; the differences are listed under its name.
pub(super) struct Part {
    pub(super) name: &'static str,
    pub(super) deeds: Vec<Deed>,
}

/// What is played in one process, or in several that follow each other.
pub(super) struct Scenario {
    pub(super) args: &'static [&'static str],
    pub(super) env: &'static [(&'static str, &'static str)],
    pub(super) parts: Vec<Part>,
}

fn scenario(parts: Vec<Part>) -> Scenario {
    Scenario {
        args: &[],
        env: &[],
        parts,
    }
}

fn part(name: &'static str, deeds: Vec<Deed>) -> Part {
    Part { name, deeds }
}

fn script(steps: &Value) -> String {
    format!("SCRIPT:{steps}")
}

fn turn(steps: &Value) -> Deed {
    Deed::Turn(script(steps))
}

fn tool(name: &str, input: &Value) -> Value {
    json!([{ "tool": name, "input": input }, { "say": "end" }])
}

fn chown() -> Value {
    tool("Bash", &json!({ "command": "chown 0 /etc/hostname" }))
}

fn request(subtype: &str) -> Deed {
    Deed::Request(json!({ "subtype": subtype, "task_id": "nope" }))
}

fn result() -> Deed {
    Deed::Until("/type", json!("result"))
}

/// All of them.
pub(super) fn all() -> Vec<Scenario> {
    vec![
        talking(),
        asking(),
        hooked(),
        serving(),
        working(),
        overhearing(),
        injecting(),
        failing(),
        limited(),
        resuming(),
        Scenario {
            args: &["--resume", "11111111-1111-4111-8111-111111111111"],
            ..scenario(vec![part("resume unknown", vec![Deed::Exit])])
        },
        scenario(vec![part(
            "bad line",
            vec![Deed::Raw("{nonsense"), Deed::Exit],
        )]),
        ending(),
    ]
}

fn talking() -> Scenario {
    let streamed = json!([{ "say": "hello to all of you", "chunks": 3 }]);
    let again = json!({ "uuid": "3f0c6d1e-8b7a-4c1d-9e2f-0a1b2c3d0002" });
    let mode =
        |mode: &str| Deed::Request(json!({ "subtype": "set_permission_mode", "mode": mode }));
    let write = tool(
        "Write",
        &json!({ "file_path": "WORK/m.txt", "content": "x" }),
    );
    scenario(vec![
        part("initialize", vec![request("initialize")]),
        part(
            "text",
            vec![turn(&streamed), turn(&json!([{ "say": "more" }]))],
        ),
        part(
            "thinking",
            vec![turn(&json!([{ "think": "hm", "say": "x" }]))],
        ),
        part(
            "same uuid",
            vec![
                Deed::Send("again".to_owned(), again),
                Deed::Until("/isReplay", json!(true)),
                request("get_binary_version"),
            ],
        ),
        part(
            "unknown command",
            vec![Deed::Turn("/nosuchcommand".to_owned())],
        ),
        part(
            "no query",
            vec![
                Deed::Send("noted".to_owned(), json!({ "shouldQuery": false })),
                result(),
            ],
        ),
        part(
            "set model",
            vec![
                Deed::Request(json!({ "subtype": "set_model", "model": "haiku" })),
                turn(&json!([{ "say": "small" }])),
                Deed::Request(json!({ "subtype": "set_model" })),
            ],
        ),
        part(
            "set mode",
            vec![
                mode("acceptEdits"),
                turn(&write),
                mode("default"),
                mode("bogus"),
                mode("bypassPermissions"),
                mode("default"),
            ],
        ),
        part("compact", vec![Deed::Turn("/compact".to_owned())]),
        part(
            "clear",
            vec![
                Deed::Turn("/clear".to_owned()),
                turn(&json!([{ "say": "new" }])),
            ],
        ),
        part(
            "end",
            vec![Deed::Ask(json!({ "subtype": "end_session" })), Deed::Exit],
        ),
    ])
}

fn asking() -> Scenario {
    let write = |name: &str| {
        tool(
            "Write",
            &json!({ "file_path": format!("WORK/{name}.txt"), "content": "x\n" }),
        )
    };
    let options =
        json!([{ "label": "A", "description": "a" }, { "label": "B", "description": "b" }]);
    let question = json!({ "questions": [{ "question": "Q?", "header": "H", "options": options, "multiSelect": false }] });
    let question = tool("AskUserQuestion", &question);
    let mode =
        |mode: &str| Deed::Request(json!({ "subtype": "set_permission_mode", "mode": mode }));
    scenario(vec![
        part("allow", vec![turn(&write("a")), turn(&chown())]),
        part(
            "changed input",
            vec![Deed::Policy(Policy::Change), turn(&write("b"))],
        ),
        part("deny", vec![Deed::Policy(Policy::Deny), turn(&chown())]),
        part(
            "initialize while asked",
            vec![Deed::Policy(Policy::Reinitialize), turn(&chown())],
        ),
        part(
            "question",
            vec![Deed::Policy(Policy::Answer), turn(&question)],
        ),
        part("unanswered question", vec![turn(&question)]),
        part(
            "plan",
            vec![
                mode("plan"),
                turn(&write("c")),
                turn(&tool("ExitPlanMode", &json!({ "plan": "do it" }))),
            ],
        ),
        part(
            "deny and stop",
            vec![Deed::Policy(Policy::DenyAndStop), turn(&chown())],
        ),
        part(
            "interrupt while asked",
            vec![Deed::Policy(Policy::Interrupt), turn(&chown())],
        ),
        part("after a stop", vec![turn(&json!([{ "say": "next" }]))]),
    ])
}

fn hooked() -> Scenario {
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
    scenario(vec![
        part(
            "hooks",
            vec![
                Deed::Request(json!({ "subtype": "initialize", "hooks": hooks })),
                turn(&chown()),
            ],
        ),
        part(
            "hooks refuse",
            vec![
                Deed::Policy(Policy::HooksRefuse),
                turn(
                    &json!([{ "tool": "Bash", "input": { "command": "chown 0 /etc/hostname" } }, { "say": "end" }, { "say": "really" }]),
                ),
            ],
        ),
    ])
}

fn serving() -> Scenario {
    let initialize = json!({ "subtype": "initialize", "sdkMcpServers": ["inproc"] });
    scenario(vec![part(
        "in-process server",
        vec![
            Deed::Request(initialize),
            turn(&tool("mcp__inproc__add", &json!({ "x": 1 }))),
            request("mcp_status"),
        ],
    )])
}

/// Lets a sub-agent play these steps.
fn sub(steps: &Value, behind: bool) -> Value {
    let input = json!({
        "description": "sub task",
        "prompt": script(steps),
        "subagent_type": "general-purpose",
        "run_in_background": behind,
    });
    json!([{ "tool": "Agent", "input": input }, { "say": "main done" }])
}

/// A sub-agent that thinks and speaks before it calls a tool, and speaks again.
fn talkative() -> Value {
    json!([
        { "think": "hm", "say": "looking", "tool": "Bash", "input": { "command": "echo sub" } },
        { "say": "sub has looked" },
    ])
}

/// What sub-agents in the foreground say is printed for a host that asked for it.
fn overhearing() -> Scenario {
    let initialize = json!({ "subtype": "initialize", "forwardSubagentText": true });
    scenario(vec![part(
        "sub-agent heard",
        vec![Deed::Request(initialize), turn(&sub(&talkative(), false))],
    )])
}

fn working() -> Scenario {
    let busy =
        json!([{ "tool": "Bash", "input": { "command": "echo sub" } }, { "say": "sub finished" }]);
    // The answer takes its time, so that it always comes after the end of the main turn.
    let slow = json!([{ "say": "sub finished", "chunks": 10, "delay_ms": 100 }]);
    let behind = json!({ "command": "sleep 1; echo x", "run_in_background": true });
    scenario(vec![
        part(
            "background command",
            vec![turn(&tool("Bash", &behind)), result()],
        ),
        part("sub-agent", vec![turn(&sub(&busy, false))]),
        part("sub-agent unheard", vec![turn(&sub(&talkative(), false))]),
        part("sub-agent behind", vec![turn(&sub(&slow, true)), result()]),
    ])
}

fn injecting() -> Scenario {
    let slow = script(&json!([{ "say": "s", "chunks": 10, "delay_ms": 30, "stamp": true }]));
    let endless = script(&json!([{ "say": "s", "chunks": 200, "delay_ms": 50, "stamp": true }]));
    let plain = |text: &str| Deed::Send(script(&json!([{ "say": text }])), json!({}));
    let sleep = script(&tool("Bash", &json!({ "command": "sleep 1" })));
    let delta = || Deed::Until("/event/type", json!("content_block_delta"));
    let answered = || Deed::Until("/event/type", json!("message_stop"));
    scenario(vec![
        part(
            "queued",
            vec![
                Deed::Send(slow, json!({})),
                delta(),
                plain("second"),
                result(),
                result(),
            ],
        ),
        part(
            "folded",
            vec![
                Deed::Send(sleep, json!({})),
                answered(),
                Deed::Send("also this".to_owned(), json!({})),
                result(),
            ],
        ),
        part(
            "interrupt",
            vec![
                Deed::Send(endless, json!({})),
                delta(),
                Deed::Ask(json!({ "subtype": "interrupt" })),
                result(),
            ],
        ),
        part(
            "after an interrupt",
            vec![turn(&json!([{ "say": "next" }]))],
        ),
    ])
}

fn failing() -> Scenario {
    let error = |status: u16, etype: &str| json!({ "http": status, "etype": etype, "msg": "no" });
    let busy = json!([{ "http": 429, "etype": "rate_limit_error", "msg": "no", "times": 1 }, { "say": "at last" }]);
    let subtypes = [
        "interrupt",
        "mcp_status",
        "get_settings",
        "get_session_cost",
        "get_usage",
        "wibble",
        "stop_task",
        "list_models",
        "set_color",
    ];
    Scenario {
        env: &[("CLAUDE_CODE_MAX_RETRIES", "1")],
        ..scenario(vec![
            part(
                "refused",
                vec![turn(&json!([error(403, "permission_error")]))],
            ),
            part("retried", vec![turn(&busy)]),
            part("broken", vec![turn(&json!([error(500, "api_error")]))]),
            part("requests", subtypes.map(request).into_iter().collect()),
        ])
    }
}

fn limited() -> Scenario {
    let echo = tool("Bash", &json!({ "command": "echo 1" }));
    Scenario {
        args: &["--max-turns", "1"],
        ..scenario(vec![part("max turns", vec![turn(&echo)])])
    }
}

fn resuming() -> Scenario {
    let say = |text: &str| turn(&json!([{ "say": text }]));
    scenario(vec![
        part("before", vec![say("one")]),
        part(
            "resume",
            vec![Deed::Restart(&["--resume", "SESSION"]), say("two")],
        ),
        part(
            "fork",
            vec![
                Deed::Restart(&["--resume", "SESSION", "--fork-session"]),
                say("three"),
            ],
        ),
    ])
}

fn ending() -> Scenario {
    let endless = script(&json!([{ "say": "s", "chunks": 200, "delay_ms": 50, "stamp": true }]));
    scenario(vec![part(
        "end in a turn",
        vec![
            Deed::Send(endless, json!({})),
            Deed::Until("/event/type", json!("content_block_delta")),
            Deed::Ask(json!({ "subtype": "end_session" })),
            Deed::Exit,
        ],
    )])
}
