//! The order and the rules by which calls are judged, in a host that runs.

use estelle_proto::decisions::PermissionDecision;
use estelle_proto::events::{ClaudeEvent, ToolComplete};
use estelle_proto::ipc::{
    PermissionResponse, PermissionRule, RemoveRule, RuleEffect, SetPermissionMode, SetRule,
};
use estelle_proto::{PermissionMode, RuleText};
use estelle_sim::script::Script;
use serde_json::json;

use super::stage::{Agent, Listener, Stage, conversation, message, status, submit};

/// A prompt that makes the agent write these files.
fn writing(stage: &Stage, names: &[&str]) -> String {
    let mut script = Script::new();
    for name in names {
        let file = stage.path("work").join(name);
        script = script.tool("Write", json!({"file_path": file, "content": "x"}));
    }
    script.say("done").prompt()
}

/// The tools that came back, with what they gave.
fn returned(listener: &Listener) -> Vec<ToolComplete> {
    let tools = listener.events.iter().filter_map(|event| {
        let ClaudeEvent::ToolComplete(tool) = &event.event else {
            return None;
        };
        Some(tool.clone())
    });
    tools.collect()
}

fn times_asked(listener: &Listener) -> usize {
    let asked = listener
        .events
        .iter()
        .filter(|event| matches!(event.event, ClaudeEvent::PermissionAsked(_)));
    asked.count()
}

/// C11: the lists come before the modes if the setting says so, and after them if it does not.
pub(super) async fn deny_first_holds_in_a_running_host(agent: &Agent) {
    for deny_first in [true, false] {
        let mut stage = Stage::new(agent).await;
        stage.deny_first = deny_first;
        let host = stage.open();
        let id = conversation("conv-1");
        let bypass = SetPermissionMode::new(PermissionMode::BypassPermissions);
        submit(&host, bypass).await.unwrap();
        let prompt = writing(&stage, &["plain.txt", ".env"]);
        submit(&host, message(&stage, &id, &prompt)).await.unwrap();
        let mut listener = Listener::new(&host, &id).await;
        listener.result().await;
        listener.idle().await;
        assert_eq!(times_asked(&listener), 0);
        assert!(stage.path("work/plain.txt").exists(), "the mode holds");
        assert_eq!(stage.path("work/.env").exists(), !deny_first);
        let tools = returned(&listener);
        assert_eq!(tools.len(), 2, "{tools:?}");
        assert_eq!(tools[1].success, !deny_first, "{tools:?}");
        if deny_first {
            assert!(tools[1].result.contains("Protected file"), "{tools:?}");
        }
    }
}

/// A rule that is set, changed or taken away holds for the next call of a process that lives.
pub(super) async fn a_rule_that_is_set_holds_for_the_next_call_of_a_living_process(agent: &Agent) {
    let stage = Stage::new(agent).await;
    let host = stage.open();
    let id = conversation("conv-1");
    let prompt = writing(&stage, &["asked.txt"]);
    submit(&host, message(&stage, &id, &prompt)).await.unwrap();
    let mut listener = Listener::new(&host, &id).await;
    let asked = listener.asked().await;
    let allow = PermissionResponse::new(id.clone(), asked.tool_use_id, PermissionDecision::Allow);
    submit(&host, allow).await.unwrap();
    listener.result().await;
    listener.idle().await;
    let pid = status(&host, &id).await.evidence.unwrap().pid;

    let text = RuleText::parse("Write").unwrap();
    let set = |effect| SetRule::new(PermissionRule::new(text.clone(), effect));
    submit(&host, set(RuleEffect::Allow)).await.unwrap();
    let prompt = writing(&stage, &["allowed.txt"]);
    submit(&host, message(&stage, &id, &prompt)).await.unwrap();
    listener.result().await;
    listener.idle().await;
    assert!(stage.path("work/allowed.txt").exists());
    assert_eq!(times_asked(&listener), 1, "the rule answered");

    submit(&host, set(RuleEffect::Deny)).await.unwrap();
    let prompt = writing(&stage, &["denied.txt"]);
    submit(&host, message(&stage, &id, &prompt)).await.unwrap();
    listener.result().await;
    listener.idle().await;
    assert!(!stage.path("work/denied.txt").exists());
    assert_eq!(times_asked(&listener), 1, "the rule answered");
    assert!(!returned(&listener).last().unwrap().success);

    submit(&host, RemoveRule::new(text)).await.unwrap();
    let prompt = writing(&stage, &["again.txt"]);
    submit(&host, message(&stage, &id, &prompt)).await.unwrap();
    let asked = listener.asked().await;
    let deny = PermissionResponse::new(id.clone(), asked.tool_use_id, PermissionDecision::Deny);
    submit(&host, deny).await.unwrap();
    listener.result().await;
    assert!(!stage.path("work/again.txt").exists());
    assert_eq!(status(&host, &id).await.evidence.unwrap().pid, pid);
}

/// Rules are one file: whoever writes it must not bring back what somebody else took away meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn p12_a_rule_that_was_removed_is_not_brought_back_by_others_that_are_set() {
    let stage = Stage::new(&Agent::Simulator).await;
    let host = stage.open();
    let text = |name: &str| RuleText::parse(name).unwrap();
    let set = |name: &str| {
        let rule = PermissionRule::new(text(name), RuleEffect::Allow);
        submit(&host, SetRule::new(rule))
    };
    set("Bash(make gone)").await.unwrap();
    let names: Vec<String> = (0..40).map(|nth| format!("Bash(make {nth})")).collect();
    let setting = futures_util::future::join_all(names.iter().map(|name| set(name)));
    let removing = submit(&host, RemoveRule::new(text("Bash(make gone)")));
    let (kept, removed) = tokio::join!(setting, removing);
    removed.unwrap();
    assert!(kept.iter().all(Result::is_ok));
    drop(host);
    // What the next host reads is what is on the disk.
    let book = estelle_host::rules::RuleBook::load(&stage.path("data"));
    let list = book.list(None);
    let there: std::collections::BTreeSet<String> = list
        .rules
        .iter()
        .map(|rule| rule.rule.as_str().to_owned())
        .collect();
    assert_eq!(there, names.into_iter().collect());
}
