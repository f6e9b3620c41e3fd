//! A turn that fails, one that is stopped, sessions that begin afresh, and modes.

use estelle_sim::script::Script;
use serde_json::{Value, json};

use super::super::house::House;
use super::super::places::list;
use super::super::shape::check;
use super::super::{Cast, SELENE, failure};
use super::{Talk, order};

/// A turn that the API refuses.
pub(super) async fn trouble(cast: &mut Cast, workspace: &Value) {
    let talk = Talk::begin(&mut cast.owner, workspace, "Trouble").await;
    let script = Script::new().http(400, "invalid_request_error", "no such thing");
    let mark = talk.turn(&mut cast.owner, &script).await;
    let errors = talk.events(&cast.owner, mark, "error");
    assert!(!errors.is_empty(), "{:#?}", cast.owner.kinds(mark));
    for probe in [&mut cast.viewer, &mut cast.phone] {
        probe.event(&talk.id, "error").await;
    }
}

/// Stop in the middle of a text, start afresh, and forget everything.
pub(super) async fn controls(house: &House, cast: &mut Cast, talk: &Talk) {
    let look = talk.with(&json!({}));
    cast.owner.done(SELENE, "conversation_select", &look).await;
    let script = Script::new().say("one two three four").gated_at("never", 1);
    let mark = talk.send(&mut cast.owner, &script).await;
    cast.owner.event(&talk.id, "text").await;
    let shape = json!({
        "deviceId": "count", "conversationId": "id", "action": "id", "success": "bool", "requestId": "id",
    });
    let stopped = cast
        .phone
        .done(
            SELENE,
            "claude_control",
            &talk.with(&json!({"action": "stop"})),
        )
        .await;
    check(&stopped, &shape);
    cast.owner.event(&talk.id, "claudeAborted").await;
    talk.idle(&mut cast.owner).await;
    let order = order(&cast.owner, mark, &["text", "claudeAborted", "state idle"]);
    assert!(order.is_sorted(), "{order:?}");
    house.open_gate("never");

    let session = |list: &Value| {
        let all = list["workspaces"][0]["conversations"]
            .as_array()
            .unwrap()
            .iter();
        let found = all.clone().find(|one| one["conversationId"] == talk.id);
        found.map(|one| one["claudeSessionId"].clone())
    };
    list_with(cast, |list| session(list).is_some_and(|id| id.is_string())).await;
    let fresh = cast
        .phone
        .done(
            SELENE,
            "claude_control",
            &talk.with(&json!({"action": "new_session"})),
        )
        .await;
    check(&fresh, &shape);
    list_with(cast, |list| session(list) == Some(Value::Null)).await;
    let page = cast.owner.done(SELENE, "conversation_select", &look).await;
    let last = page["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(
        (&last["type"], &last["subtype"]),
        (&json!("system"), &json!("divider")),
        "{last}"
    );

    let cleared = cast
        .phone
        .done(
            SELENE,
            "claude_control",
            &talk.with(&json!({"action": "clear"})),
        )
        .await;
    check(&cleared, &shape);
    let page = cast.owner.done(SELENE, "conversation_select", &look).await;
    assert_eq!(
        (&page["messages"], &page["totalCount"]),
        (&json!([]), &json!(0))
    );
    talk.turn(&mut cast.owner, &Script::new().say("afresh"))
        .await;
    let page = cast.owner.done(SELENE, "conversation_select", &look).await;
    assert_eq!(page["totalCount"], 3, "{page:#}");
}

async fn list_with(cast: &mut Cast, wanted: impl Fn(&Value) -> bool) {
    cast.viewer
        .send(&json!({"type": "workspace_list", "to": SELENE}))
        .await;
    list(&mut cast.viewer, wanted).await;
}

/// A mode for one conversation, and one for all that have none of their own.
pub(super) async fn modes(house: &House, cast: &mut Cast, workspace: &Value) {
    let (own, plain) = (
        Talk::begin(&mut cast.owner, workspace, "Own mode").await,
        Talk::begin(&mut cast.owner, workspace, "No mode").await,
    );
    let shape = json!({
        "deviceId": "count", "mode": "id", "success": "bool", "requestId": "id", "conversationId?": "id",
    });
    for (talk, mode) in [
        (
            Some(&own),
            json!({"mode": "acceptEdits", "conversationId": own.id}),
        ),
        (None, json!({"mode": "bypassPermissions"})),
    ] {
        let set = cast
            .owner
            .done(SELENE, "claude_set_permission_mode", &mode)
            .await;
        check(&set, &shape);
        let talk = talk.unwrap_or(&plain);
        let file = house.work("one").join(mode["mode"].as_str().unwrap());
        let script = Script::new()
            .tool("Write", json!({"file_path": file, "content": "x"}))
            .say("done");
        let mark = talk.turn(&mut cast.owner, &script).await;
        assert!(
            file.exists()
                && talk
                    .events(&cast.owner, mark, "permission_request")
                    .is_empty()
        );
    }
    let refused = cast
        .phone
        .ask(
            SELENE,
            "claude_set_permission_mode",
            &json!({"mode": "default"}),
        )
        .await;
    let id = refused["payload"]["requestId"].as_str().unwrap().to_owned();
    failure(&refused, "forbidden", &id);
    cast.owner
        .done(
            SELENE,
            "claude_set_permission_mode",
            &json!({"mode": "default"}),
        )
        .await;
}
