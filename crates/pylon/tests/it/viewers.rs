//! More who look at a conversation than one message may have addressees.

use std::collections::BTreeSet;

use estelle_proto::conversations::ConversationSelect;
use estelle_proto::{ClaudeEvent, DeviceId, PylonToApp, Right, limits};

use crate::scene::Scene;

#[tokio::test]
async fn every_one_of_a_great_many_viewers_is_told_once() {
    let mut scene = Scene::open().await;
    let at = scene.workspace().await;
    scene.send(&at, "m1").await;
    let first = 100;
    let last = first + u32::try_from(limits::MAX_TARGETS).unwrap() + 75;
    let crowd: Vec<u32> = (first..=last).collect();
    // A few at a time, as the desk lets only so many wait.
    for some in crowd.chunks(200) {
        for app in some {
            let select = ConversationSelect::new(at.0.clone(), at.1.clone());
            scene.call.deliver_from(*app, &[Right::View], select).await;
        }
        let mut pages = 0;
        while pages < some.len() {
            let is_page = scene
                .until(|told| Some(matches!(told.message, PylonToApp::HistoryResult(_))))
                .await;
            pages += usize::from(is_page);
        }
    }
    scene.host.append(&at.1, "to all of you");
    let (mut told, mut times) = (BTreeSet::new(), 0);
    while told.len() < crowd.len() {
        let targets = scene.until(|told| match &told.message {
            PylonToApp::ClaudeEventMessage(message) => {
                let is_it = matches!(&message.event, ClaudeEvent::TextComplete(_));
                let to = told.to.as_ref().filter(|_| is_it)?;
                Some(to.targets().iter().map(|one| one.device_id).collect())
            }
            _ => None,
        });
        let targets: Vec<DeviceId> = targets.await;
        assert!(targets.len() <= limits::MAX_TARGETS);
        times += targets.len();
        told.extend(targets);
    }
    assert_eq!(times, crowd.len(), "nobody twice");
}
