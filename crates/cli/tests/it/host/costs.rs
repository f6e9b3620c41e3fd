//! What turns cost, whatever processes and sessions they had: each is counted once.

use estelle_proto::events::{ClaudeEvent, TurnResult};
use estelle_proto::ipc::{NewSession, StopSession};
use estelle_sim::script::Script;

use super::lifecycle::said;
use super::stage::{Agent, Listener, Stage, conversation, message, submit};

/// The results so far.
fn results(listener: &Listener) -> Vec<TurnResult> {
    let results = listener.events.iter().filter_map(|event| {
        let ClaudeEvent::Result(result) = &event.event else {
            return None;
        };
        Some(result.clone())
    });
    results.collect()
}

async fn stop(host: &estelle_host::Host, listener: &mut Listener) {
    let stop = StopSession {
        end_process: Some(true),
        ..StopSession::new(conversation("conv-1"))
    };
    submit(host, stop).await.unwrap();
    listener
        .until(|event| matches!(event, ClaudeEvent::Paused(_)))
        .await;
}

/// Every turn of the test is one request of 100 tokens in and 25 out.
fn assert_costs_alike(results: &[TurnResult]) {
    let first = results[0].total_cost_usd;
    assert!(first > 0.0, "{results:?}");
    for result in results {
        assert!((result.total_cost_usd - first).abs() < 1e-9, "{results:?}");
        let models = result.models.as_deref().unwrap_or_default();
        let input: u64 = models.iter().map(|share| share.usage.input_tokens).sum();
        let output: u64 = models.iter().map(|share| share.usage.output_tokens).sum();
        let cost: f64 = models.iter().map(|share| share.cost_usd).sum();
        assert_eq!((input, output), (100, 25), "{results:?}");
        assert!((cost - first).abs() < 1e-9, "{results:?}");
    }
}

pub(super) async fn a_turn_costs_the_same_in_every_process_of_its_session(agent: &Agent) {
    let stage = &Stage::new(agent).await;
    let host = stage.open();
    let id = conversation("conv-1");
    let prompt = Script::new().say("first").prompt();
    submit(&host, message(stage, &id, &prompt)).await.unwrap();
    let mut listener = Listener::new(&host, &id).await;
    listener.result().await;
    listener.idle().await;
    said(stage, &host, &mut listener, "in the same process").await;
    stop(&host, &mut listener).await;
    said(stage, &host, &mut listener, "in the second process").await;
    // Another host knows of the sums by the log alone.
    drop(host);
    drop(listener);
    let host = stage.reopen().await;
    let mut listener = Listener::new(&host, &id).await;
    listener.caught_up().await;
    said(stage, &host, &mut listener, "under another host").await;
    stop(&host, &mut listener).await;
    said(stage, &host, &mut listener, "in the third process").await;
    submit(&host, NewSession::new(id.clone())).await.unwrap();
    listener
        .until(|event| matches!(event, ClaudeEvent::SessionReset(_)))
        .await;
    said(stage, &host, &mut listener, "in another session").await;
    stop(&host, &mut listener).await;
    said(stage, &host, &mut listener, "and its second process").await;
    let results = results(&listener);
    assert_eq!(results.len(), 7);
    assert_costs_alike(&results);
}
