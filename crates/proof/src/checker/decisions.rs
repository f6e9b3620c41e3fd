//! Decisions: asked, shown, answered once, delivered once, and always the same thing.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function looks at a few kinds and leaves the others alone"
)]

use std::collections::BTreeMap;

use estelle_proto::Json;
use estelle_proto::events::ClaudeEvent;
use serde_json::Value;

use super::ledger::{Decision, Decisions};
use super::rule::{Rule, Violation};
use crate::history::{Answer, Conversation, Fact};

pub(super) fn check(conversation: &Conversation, found: &mut Vec<Violation>) {
    let mut report = |rule, detail: String| {
        found.push(Violation::new(
            rule,
            format!("{}: {detail}", conversation.id),
        ));
    };
    let lives = conversation.standing();
    let folded: Vec<Decisions> = lives.map(|life| Decisions::of(life.entries())).collect();
    for decisions in &folded {
        for call in &decisions.stray {
            report(Rule::AnsweredTwice, format!("{call}: an answer to nothing"));
        }
        for decision in &decisions.all {
            shown(decision, &mut report);
            answered(decision, &mut report);
        }
    }
    if let Some(truth) = &conversation.truth {
        let all: Vec<&Decision> = folded.iter().flat_map(|folded| &folded.all).collect();
        delivered(truth, &all, &mut report);
    }
}

fn shown(decision: &Decision, report: &mut impl FnMut(Rule, String)) {
    let call = &decision.tool_use_id;
    let told = decision.prompts.len();
    if told != usize::from(decision.shown) {
        report(
            Rule::PromptNotShown,
            format!("{call}: people are told {told} times"),
        );
    }
    // One that was over before anybody looked needs no prompt and no answer.
    for prompt in &decision.prompts {
        if !shows(prompt, decision) {
            report(Rule::ShownOther, format!("{call}: shown {prompt:?}"));
        }
    }
}

fn shows(prompt: &ClaudeEvent, decision: &Decision) -> bool {
    match prompt {
        ClaudeEvent::PermissionAsked(shown) => {
            shown.tool_name == decision.request.tool_name
                && same(&shown.tool_input, &decision.request.input)
        }
        ClaudeEvent::QuestionAsked(shown) => shown.questions == decision.request.questions,
        _ => false,
    }
}

fn same(a: &Json, b: &Json) -> bool {
    a.decode::<Value>().ok() == b.decode::<Value>().ok()
}

fn answered(decision: &Decision, report: &mut impl FnMut(Rule, String)) {
    let call = &decision.tool_use_id;
    if decision.answers.len() > 1 {
        report(
            Rule::AnsweredTwice,
            format!("{call}: {} answers", decision.answers.len()),
        );
    }
    if decision.late > 0 {
        report(
            Rule::AnsweredLate,
            format!("{call}: answered when it was over"),
        );
    }
    let by_person = decision.answers.iter().any(|(by, _)| by.is_some());
    if by_person && decision.prompts.is_empty() {
        report(
            Rule::PromptNotShown,
            format!("{call}: a person answered what nobody was shown"),
        );
    }
}

/// What the CLI asked is in the log, and what it took is what the log says.
fn delivered(truth: &[Fact], decisions: &[&Decision], report: &mut impl FnMut(Rule, String)) {
    let mut taken: BTreeMap<&str, usize> = BTreeMap::new();
    let known = |id: &str| decisions.iter().find(|decision| decision.request_id == id);
    let mut inputs: BTreeMap<&str, &Value> = BTreeMap::new();
    for fact in truth {
        match fact {
            Fact::Printed(line) => {
                let id = line.get("request_id").and_then(Value::as_str);
                let input = line.pointer("/request/input");
                inputs.extend(id.zip(input));
            }
            Fact::Answered {
                request_id,
                answer: Answer::Taken(word),
            } => {
                *taken.entry(request_id).or_default() += 1;
                match known(request_id) {
                    Some(decision) => took(decision, word, report),
                    // Calls of our own tools and the like are answered by the host itself.
                    None if word == "success" || word == "error" => {}
                    None => report(
                        Rule::DeliveredOther,
                        format!("{request_id}: the log knows no such question"),
                    ),
                }
            }
            _ => {}
        }
    }
    for fact in truth {
        if let Fact::Asked { request_id, .. } = fact {
            match known(request_id) {
                None => report(Rule::AskNotLogged, request_id.clone()),
                Some(decision) => asked(decision, inputs.get(request_id.as_str()), report),
            }
        }
    }
    for (request_id, times) in taken.iter().filter(|(_, times)| **times > 1) {
        report(Rule::DeliveredTwice, format!("{request_id}: {times} times"));
    }
    for decision in decisions {
        let reached = taken.contains_key(decision.request_id.as_str());
        let lives = decision.generation.0 > 0 && !decision.over;
        if lives && !decision.answers.is_empty() && !reached {
            report(
                Rule::NotDelivered,
                format!("{}: the answer never arrived", decision.tool_use_id),
            );
        }
    }
}

fn asked(decision: &Decision, input: Option<&&Value>, report: &mut impl FnMut(Rule, String)) {
    let logged = decision.request.input.decode::<Value>().ok();
    if input.is_some() && logged.as_ref() != input.copied() {
        report(
            Rule::ShownOther,
            format!("{}: the log has another input", decision.tool_use_id),
        );
    }
}

fn took(decision: &Decision, word: &str, report: &mut impl FnMut(Rule, String)) {
    let said = |line: &String| {
        let line: Value = serde_json::from_str(line).unwrap_or_default();
        let names = line.pointer("/response/request_id").and_then(Value::as_str)
            == Some(decision.request_id.as_str());
        let failed = line.pointer("/response/subtype").and_then(Value::as_str) == Some("error");
        let behavior = line.pointer("/response/response/behavior");
        let expected = if failed {
            "error"
        } else {
            behavior.and_then(Value::as_str).unwrap_or("success")
        };
        names && expected == word
    };
    if !decision.answers.iter().any(|(_, line)| said(line)) {
        report(
            Rule::DeliveredOther,
            format!("{}: the CLI took {word:?}", decision.tool_use_id),
        );
    }
}
