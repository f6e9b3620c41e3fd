//! Terminals. There is none of this name, so that nothing of it is carried out.

use serde_json::json;

use super::{Sound, Talk};

pub(super) fn sound(talk: &Talk) -> Sound {
    let size = json!({"cols": 80, "rows": 24});
    let id = "t-absent";
    vec![
        ("terminal_list", json!({})),
        (
            "terminal_create",
            json!({"kind": "shell", "size": size, "conversationId": talk.id}),
        ),
        ("terminal_attach", json!({"terminalId": id, "size": size})),
        (
            "terminal_input",
            json!({"terminalId": id, "data": "ls", "paste": true}),
        ),
        ("terminal_resize", json!({"terminalId": id, "size": size})),
        ("terminal_ack", json!({"terminalId": id, "frame": 1})),
        ("terminal_detach", json!({"terminalId": id})),
        ("terminal_close", json!({"terminalId": id})),
    ]
}
