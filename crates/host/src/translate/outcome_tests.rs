//! What results say of costs, held against what came before them.

use estelle_claude::line::Line;
use estelle_claude::wire::{Body, Message};
use serde_json::{Value, json};

use super::*;

/// A model that has used so many tokens, at a cent each.
fn used(tokens: u32) -> Value {
    json!({"inputTokens": tokens, "costUSD": f64::from(tokens) / 100.0})
}

/// A result of a turn that used so many tokens itself.
fn result(turn: u32, models: &Value, since: Option<&Value>) -> ResultMessage {
    let sums = models.as_object().expect("models").values();
    let cost: f64 = sums.filter_map(|model| model["costUSD"].as_f64()).sum();
    let mut line = json!({
        "type": "result", "subtype": "success", "is_error": false, "total_cost_usd": cost,
        "usage": {"input_tokens": turn}, "modelUsage": models,
    });
    if let Some(since) = since {
        line["model_usage_since_last_result"] = since.clone();
    }
    let message = Message::parse(Line::from(line.to_string()));
    let Body::Result(result) = message.body else {
        panic!("{message:?}");
    };
    result
}

/// The cents of the turn, in all and of each model.
fn cents(costs: &mut Costs, result: &ResultMessage) -> (f64, Vec<(String, u64)>) {
    let spent = costs.spent(result);
    let models = spent.models.into_iter();
    let models = models.map(|(name, spent)| (name, spent.input));
    ((spent.cost * 100.0).round(), models.collect())
}

fn perhaps(models: &Value) -> Costs {
    let before = totals(&result(0, models, None));
    Costs {
        before: Before::Perhaps(before),
    }
}

#[test]
fn each_model_has_its_share_of_what_a_process_has_used_since_the_result_before() {
    let mut costs = Costs::default();
    let first = result(10, &json!({"big": used(10)}), None);
    assert_eq!(
        cents(&mut costs, &first),
        (10.0, vec![("big".to_owned(), 10)])
    );
    let second = result(5, &json!({"big": used(15), "small": used(2)}), None);
    let shares = vec![("big".to_owned(), 5), ("small".to_owned(), 2)];
    assert_eq!(cents(&mut costs, &second), (7.0, shares));
    let third = result(0, &json!({"big": used(15), "small": used(2)}), None);
    assert_eq!(cents(&mut costs, &third), (0.0, Vec::new()));
}

#[test]
fn what_the_cli_itself_says_was_used_since_the_result_before_is_believed() {
    let mut costs = Costs::default();
    let now = result(
        5,
        &json!({"big": used(1000)}),
        Some(&json!({"big": used(5)})),
    );
    assert_eq!(cents(&mut costs, &now), (5.0, vec![("big".to_owned(), 5)]));
    let nothing = result(0, &json!({"big": used(1000)}), Some(&json!({})));
    assert_eq!(cents(&mut costs, &nothing), (0.0, Vec::new()));
}

#[test]
fn a_process_that_counts_on_from_the_one_before_is_counted_once() {
    let mut costs = perhaps(&json!({"big": used(10)}));
    let first = result(20, &json!({"big": used(30)}), None);
    assert_eq!(
        cents(&mut costs, &first),
        (20.0, vec![("big".to_owned(), 20)])
    );
    let second = result(3, &json!({"big": used(33)}), None);
    assert_eq!(
        cents(&mut costs, &second),
        (3.0, vec![("big".to_owned(), 3)])
    );
}

#[test]
fn a_process_that_counts_anew_loses_nothing_to_the_one_before() {
    for turn in [5, 10, 19, 2000] {
        let mut costs = perhaps(&json!({"big": used(10)}));
        let first = result(turn, &json!({"big": used(turn)}), None);
        let all = (f64::from(turn), vec![("big".to_owned(), u64::from(turn))]);
        assert_eq!(cents(&mut costs, &first), all);
    }
}

#[test]
fn sums_of_an_older_build_without_models_give_no_model_too_much() {
    let alone = || Totals {
        cost: 0.1,
        models: BTreeMap::new(),
    };
    // The same process goes on: its cost is the difference, and the next result has its models again.
    let mut costs = Costs {
        before: Before::Said(alone()),
    };
    let first = result(20, &json!({"big": used(30)}), None);
    assert_eq!(cents(&mut costs, &first), (20.0, Vec::new()));
    let second = result(3, &json!({"big": used(33)}), None);
    assert_eq!(
        cents(&mut costs, &second),
        (3.0, vec![("big".to_owned(), 3)])
    );
    // Another process counts for itself.
    let mut costs = Costs {
        before: Before::Perhaps(alone()),
    };
    let first = result(20, &json!({"big": used(30)}), None);
    let all = (30.0, vec![("big".to_owned(), 30)]);
    assert_eq!(cents(&mut costs, &first), all);
}

#[test]
fn a_result_without_any_sum_costs_nothing_and_forgets_nothing() {
    let mut costs = Costs::default();
    cents(&mut costs, &result(10, &json!({"big": used(10)}), None));
    let line = json!({"type": "result", "subtype": "error_during_execution"});
    let Body::Result(bare) = Message::parse(Line::from(line.to_string())).body else {
        panic!("no result");
    };
    assert_eq!(cents(&mut costs, &bare), (0.0, Vec::new()));
    let next = result(1, &json!({"big": used(11)}), None);
    assert_eq!(cents(&mut costs, &next), (1.0, vec![("big".to_owned(), 1)]));
}
