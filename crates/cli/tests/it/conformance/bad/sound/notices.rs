//! Being told, and what may be spent.

use serde_json::json;

use super::{Sound, Talk};

pub(super) fn sound(talk: &Talk) -> Sound {
    let subscription = json!({
        "endpoint": "https://push.example.org/abc",
        "p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
        "auth": "BTBZMqHH6r4Tts7J_aSIgg",
    });
    vec![
        (
            "usage_request",
            json!({"groupBy": "day", "from": "2026-01-01", "until": "2026-01-02"}),
        ),
        ("notifications_request", json!({})),
        (
            "notifications_set",
            json!({"conversationId": talk.id, "muted": true}),
        ),
        ("push_subscribe", subscription),
        (
            "push_unsubscribe",
            json!({"endpoint": "https://push.example.org/abc"}),
        ),
        ("push_test", json!({})),
        ("budget_request", json!({})),
        (
            "budget_set",
            json!({"conversationId": talk.id, "softUsd": 1.5, "hardUsd": 2.5}),
        ),
    ]
}
