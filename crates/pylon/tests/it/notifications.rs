//! Telling devices that do not look, against a push endpoint on the loopback that decrypts what it gets and checks who
//! sent it.

use std::time::Duration;

use estelle_proto::devices::{PairedDevice, PairedListResult};
use estelle_proto::events::{DecisionAnswered, PermissionAsked, TurnResult, Usage};
use estelle_proto::notifications::{
    NoticeKind, NotificationsRequest, NotificationsResult, NotificationsSet, PushSubscribe,
    PushTest, PushUnsubscribe, QuietHours,
};
use estelle_proto::runs::IdleWarning;
use estelle_proto::{
    ApiError, AppToPylon, Cause, ConversationId, DecisionState, DeviceKey, ErrorCode, Json, Name,
    PylonToApp, Reply as _, Retry, Right, Timestamp, ToolUseId, WorkspaceId,
};
use estelle_pylon::desk::{NotifyConfig, Webhook};
use serde_json::json;

use crate::peers::push::{Device, Endpoint};
use crate::scene::Scene;

type Place = (WorkspaceId, ConversationId);

fn config() -> NotifyConfig {
    NotifyConfig {
        allow_loopback: true,
        first_retry: Duration::from_millis(20),
        contact: "mailto:owner@example.org".to_owned(),
        ..NotifyConfig::default()
    }
}

fn result(cause: Option<Cause>) -> TurnResult {
    let usage = Usage::new(1, 1, 0, 0);
    TurnResult {
        cause,
        ..TurnResult::new("success".to_owned(), 5, 0.0, 1, usage)
    }
}

fn call(id: &str) -> ToolUseId {
    ToolUseId::parse(id).unwrap()
}

fn asked(id: &str) -> PermissionAsked {
    PermissionAsked::new("Bash".to_owned(), Json::parse("{}").unwrap(), call(id))
}

/// Asks as a paired device on a connection.
async fn ask(
    scene: &mut Scene,
    app: u32,
    key: &str,
    request: impl Into<AppToPylon>,
) -> NotificationsResult {
    scene.call.deliver_paired(app, key, request).await;
    let PylonToApp::NotificationsResult(result) = scene.result("notifications_result").await else {
        panic!("no result")
    };
    result
}

async fn subscribe(scene: &mut Scene, app: u32, device: &Device) -> NotificationsResult {
    let request = PushSubscribe::new(
        device.endpoint.clone(),
        device.p256dh.clone(),
        device.auth.clone(),
    );
    let told = ask(scene, app, &device.name, request).await;
    told.outcome().unwrap();
    told
}

/// A conversation that nobody looks at, and a device that wants to be told.
async fn scene_with(config: NotifyConfig) -> (Scene, Place, Endpoint, Device) {
    let mut scene = Scene::open_with(config).await;
    let at = scene.workspace().await;
    scene.send(&at, "m1").await;
    let endpoint = Endpoint::start().await;
    let phone = endpoint.device("phone");
    subscribe(&mut scene, 101, &phone).await;
    (scene, at, endpoint, phone)
}

#[tokio::test]
async fn each_kind_is_pushed_encrypted_for_the_device_and_signed_by_the_machine() {
    let (mut scene, at, mut endpoint, phone) = scene_with(config()).await;
    let told = ask(&mut scene, 101, "phone", NotificationsRequest::default()).await;
    scene.host.happen(&at.1, asked("toolu_1"));
    let push = endpoint.next().await;
    assert_eq!(push.header("urgency"), "high");
    push.is_signed_by(
        &told.public_key,
        &endpoint.origin(),
        "mailto:owner@example.org",
    );
    let payload = phone.open(&push);
    assert_eq!(payload["kind"], "decision");
    assert_eq!(payload["conversationId"], at.1.as_str());
    assert_eq!(payload["workspaceId"], at.0.as_str());
    assert_eq!(payload["deviceId"], 1);
    let fields = payload.as_object().unwrap().len();
    assert_eq!(
        fields, 6,
        "ids, the kind and the time, and no content: {payload}"
    );

    scene.host.happen(&at.1, result(None));
    assert_eq!(phone.open(&endpoint.next().await)["kind"], "finished");
    scene.host.happen(&at.1, result(Some(Cause::Network)));
    assert_eq!(phone.open(&endpoint.next().await)["kind"], "failed");
    // Whoever broke a turn off knows.
    scene.host.happen(&at.1, result(Some(Cause::Aborted)));
    scene.host.pass(&at.1, IdleWarning::new(60));
    let push = endpoint.next().await;
    assert_eq!(phone.open(&push)["kind"], "idle_warning");
    assert_eq!(push.header("content-encoding"), "aes128gcm");
}

#[tokio::test]
async fn the_name_of_the_conversation_is_told_only_if_it_shall_be() {
    let with_title = NotifyConfig {
        include_title: true,
        ..config()
    };
    let (scene, at, mut endpoint, phone) = scene_with(with_title).await;
    scene.host.happen(&at.1, result(None));
    assert_eq!(phone.open(&endpoint.next().await)["title"], "first");
}

#[tokio::test]
async fn who_is_muted_is_not_told_and_who_is_not_is() {
    let (mut scene, at, mut endpoint, phone) = scene_with(config()).await;
    let laptop = endpoint.device("laptop");
    subscribe(&mut scene, 100, &laptop).await;
    let mute = |conversation: Option<&ConversationId>, muted| NotificationsSet {
        conversation_id: conversation.cloned(),
        muted: Some(muted),
        ..NotificationsSet::default()
    };
    for conversation in [None, Some(&at.1)] {
        let told = ask(&mut scene, 101, "phone", mute(conversation, true)).await;
        assert_eq!(told.is_muted, conversation.is_none());
        assert_eq!(told.muted_conversations.first(), conversation);
        scene.host.happen(&at.1, result(None));
        let push = endpoint.next().await;
        assert_eq!(push.path, laptop.path, "only the laptop is told");
        ask(&mut scene, 101, "phone", mute(conversation, false)).await;
        scene.host.happen(&at.1, result(None));
        let mut paths = [endpoint.next().await.path, endpoint.next().await.path];
        paths.sort();
        let mut both = [laptop.path.clone(), phone.path.clone()];
        both.sort();
        assert_eq!(paths, both);
    }
}

#[tokio::test]
async fn nobody_is_told_while_somebody_looks() {
    let (mut scene, at, mut endpoint, phone) = scene_with(config()).await;
    scene.view(&at).await;
    scene.host.happen(&at.1, result(None));
    scene.see(&at, 2).await;
    // Somebody who looks away from the conversation does not see it any more.
    scene.clients(&[101]).await;
    ask(&mut scene, 101, "phone", NotificationsRequest::default()).await;
    scene.host.happen(&at.1, result(Some(Cause::Other)));
    assert_eq!(phone.open(&endpoint.next().await)["kind"], "failed");
}

#[tokio::test]
async fn quiet_hours_hold_back_and_a_test_comes_through() {
    let (mut scene, at, mut endpoint, phone) = scene_with(config()).await;
    // All day but for one minute that is not now.
    let minutes = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let minutes = (minutes.unwrap().as_secs() / 60 + 720) % 1440;
    let clock = |minutes: u64| format!("{:02}:{:02}", minutes / 60 % 24, minutes % 60);
    let hours = QuietHours::new(clock(minutes + 1), clock(minutes), "UTC".to_owned());
    let quiet = NotificationsSet {
        quiet_hours: Some(hours.clone()),
        ..NotificationsSet::default()
    };
    let told = ask(&mut scene, 101, "phone", quiet).await;
    assert_eq!(told.quiet_hours, Some(hours));
    scene.host.happen(&at.1, result(None));
    scene.host.happen(&at.1, asked("toolu_1"));
    let waits = |told: &NotificationsResult| told.waiting == 1;
    until(&mut scene, waits).await;
    let told = ask(&mut scene, 101, "phone", PushTest::default()).await;
    told.outcome().unwrap();
    assert_eq!(phone.open(&endpoint.next().await)["kind"], "test");
    // The decision waits for the end of the quiet, and is forgotten when somebody answers it.
    let answered = DecisionAnswered::new(call("toolu_1"), DecisionState::Answered);
    scene.host.happen(&at.1, answered);
    until(&mut scene, |told| told.waiting == 0).await;
    let no_quiet = NotificationsSet {
        no_quiet_hours: Some(true),
        ..NotificationsSet::default()
    };
    assert_eq!(
        ask(&mut scene, 101, "phone", no_quiet).await.quiet_hours,
        None
    );
    scene.host.happen(&at.1, result(None));
    assert_eq!(phone.open(&endpoint.next().await)["kind"], "finished");
}

/// Asks until it is so.
async fn until(
    scene: &mut Scene,
    wanted: impl Fn(&NotificationsResult) -> bool,
) -> NotificationsResult {
    loop {
        let told = ask(scene, 101, "phone", NotificationsRequest::default()).await;
        if wanted(&told) {
            return told;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn what_fails_is_tried_again_and_what_is_gone_is_removed() {
    let (mut scene, at, mut endpoint, phone) = scene_with(config()).await;
    endpoint.answers(&[503, 429, 201]);
    scene.host.happen(&at.1, result(None));
    let (first, second, third) = (
        phone.open(&endpoint.next().await),
        phone.open(&endpoint.next().await),
        phone.open(&endpoint.next().await),
    );
    assert_eq!(
        (&first, &second),
        (&second, &third),
        "the same id each time"
    );
    let told = until(&mut scene, |told| told.waiting == 0).await;
    assert!(told.subscriptions[0].delivered_at.is_some(), "{told:?}");
    assert_eq!(told.subscriptions[0].error, None);

    endpoint.answers(&[403]);
    scene.host.happen(&at.1, result(None));
    endpoint.next().await;
    let told = until(&mut scene, |told| told.lost.len() == 1).await;
    assert_eq!(told.lost[0].error, "answered with 403");
    assert_eq!(
        (told.lost[0].attempts, &told.lost[0].kind),
        (1, &NoticeKind::Finished)
    );
    // A redirect leads nowhere.
    endpoint.answers(&[307]);
    scene.host.happen(&at.1, result(None));
    endpoint.next().await;
    until(&mut scene, |told| told.lost.len() == 2).await;

    endpoint.answers(&[410]);
    scene.host.happen(&at.1, result(None));
    endpoint.next().await;
    let told = until(&mut scene, |told| told.subscriptions.is_empty()).await;
    assert_eq!(told.waiting, 0);
}

#[tokio::test]
async fn a_pylon_that_starts_again_tells_what_waits_and_nothing_twice() {
    let patient = NotifyConfig {
        first_retry: Duration::from_hours(1),
        ..config()
    };
    let (mut scene, at, mut endpoint, phone) = scene_with(patient).await;
    endpoint.answers(&[503]);
    scene.host.happen(&at.1, result(None));
    let failed = phone.open(&endpoint.next().await);
    until(&mut scene, |told| told.subscriptions[0].error.is_some()).await;
    scene.restart().await;
    scene.clients(&[100, 101]).await;
    assert_eq!(phone.open(&endpoint.next().await), failed);
    until(&mut scene, |told| told.waiting == 0).await;
    // Another one has nothing left to tell: what comes next is about the next turn.
    scene.restart().await;
    scene.clients(&[100, 101]).await;
    scene.host.happen(&at.1, result(Some(Cause::Other)));
    assert_eq!(phone.open(&endpoint.next().await)["kind"], "failed");
}

#[tokio::test]
async fn a_decision_that_was_asked_long_ago_is_told_if_it_still_waits() {
    let (mut scene, at, mut endpoint, phone) = scene_with(config()).await;
    scene.stop().await;
    // What happened while the Pylon was away, long ago: one decision was answered, one waits, a turn is no news.
    let answered = DecisionAnswered::new(call("toolu_1"), DecisionState::Answered);
    scene.host.change(|world| world.dated = Some(Timestamp(1)));
    scene.host.happen(&at.1, asked("toolu_1"));
    scene.host.happen(&at.1, answered);
    scene.host.happen(&at.1, result(None));
    scene.host.happen(&at.1, asked("toolu_2"));
    scene.go_on().await;
    scene.clients(&[100, 101]).await;
    assert_eq!(phone.open(&endpoint.next().await)["kind"], "decision");
    until(&mut scene, |told| told.waiting == 0).await;
    // Nothing else was told, and of one that comes late from a host that is there, too.
    scene.host.happen(&at.1, asked("toolu_3"));
    assert_eq!(phone.open(&endpoint.next().await)["kind"], "decision");
    scene.host.change(|world| world.dated = None);
    scene.host.happen(&at.1, result(Some(Cause::Other)));
    assert_eq!(phone.open(&endpoint.next().await)["kind"], "failed");
}

/// Somebody who is told over HTTP, and a conversation.
async fn hooked(is_quiet: Option<bool>) -> (Scene, Place, Endpoint) {
    let endpoint = Endpoint::start().await;
    let config = config();
    let hooked = NotifyConfig {
        webhook: Some(Webhook {
            url: format!("{}/hook", endpoint.origin()),
            secret: "hush".to_owned(),
        }),
        webhook_quiet: is_quiet.unwrap_or(config.webhook_quiet),
        ..config
    };
    let mut scene = Scene::open_with(hooked).await;
    let at = scene.workspace().await;
    scene.send(&at, "m1").await;
    (scene, at, endpoint)
}

#[tokio::test]
async fn a_webhook_that_is_told_everything_is_signed() {
    let (mut scene, at, mut endpoint) = hooked(Some(false)).await;
    // It is told even while somebody looks.
    scene.view(&at).await;
    scene.host.happen(&at.1, result(None));
    let push = endpoint.next().await;
    assert_eq!(push.path, "/hook");
    push.is_hook_of("hush");
    let body: serde_json::Value = serde_json::from_slice(&push.body).unwrap();
    assert_eq!(body["kind"], "finished");
    assert_eq!(
        push.header("estelle-delivery"),
        body["id"].as_str().unwrap()
    );
}

#[tokio::test]
async fn a_webhook_is_told_nothing_while_somebody_looks() {
    let (mut scene, at, mut endpoint) = hooked(None).await;
    let other = scene.workspace().await;
    scene.send(&other, "m2").await;
    scene.view(&at).await;
    scene.host.happen(&at.1, result(None));
    // This one nobody looks at; it would come second.
    scene.host.happen(&other.1, result(Some(Cause::Other)));
    let push = endpoint.next().await;
    let body: serde_json::Value = serde_json::from_slice(&push.body).unwrap();
    assert_eq!(body["kind"], "failed");
}

#[tokio::test]
async fn what_cannot_be_is_refused_and_changes_nothing() {
    let mut scene = Scene::open_with(NotifyConfig::default()).await;
    let at = scene.workspace().await;
    let endpoint = Endpoint::start().await;
    let good = endpoint.device("phone");
    let new = |endpoint: &str, p256dh: &str, auth: &str| {
        PushSubscribe::new(endpoint.to_owned(), p256dh.to_owned(), auth.to_owned())
    };
    let https = "https://push.example.org/x";
    let cases = [
        // Loopback and plain text are for tests alone.
        new(&good.endpoint, &good.p256dh, &good.auth),
        new("https://127.0.0.1/x", &good.p256dh, &good.auth),
        new("https://192.168.1.1/x", &good.p256dh, &good.auth),
        new("http://push.example.org/x", &good.p256dh, &good.auth),
        new("wibble", &good.p256dh, &good.auth),
        new(https, "", &good.auth),
        new(https, "!!", &good.auth),
        new(https, &good.auth, &good.auth),
        new(https, &good.p256dh, &good.p256dh),
        new(https, &good.p256dh, ""),
    ];
    for case in cases {
        let told = ask(&mut scene, 101, "phone", case.clone()).await;
        let error = told.outcome().unwrap_err();
        assert_eq!(error.code, ErrorCode::InvalidMessage, "{case:?}: {error}");
        assert!(told.subscriptions.is_empty());
    }
    let hours = |from: &str, zone: &str| NotificationsSet {
        quiet_hours: Some(QuietHours::new(
            from.to_owned(),
            "07:00".to_owned(),
            zone.to_owned(),
        )),
        ..NotificationsSet::default()
    };
    let contradicting = NotificationsSet {
        no_quiet_hours: Some(true),
        ..hours("22:00", "UTC")
    };
    let misplaced = NotificationsSet {
        conversation_id: Some(at.1.clone()),
        ..hours("22:00", "UTC")
    };
    for case in [
        NotificationsSet::default(),
        hours("25:00", "UTC"),
        hours("07:00", "UTC"),
        hours("22:00", "Mars/Olympus"),
        contradicting,
        misplaced,
    ] {
        let told = ask(&mut scene, 101, "phone", case).await;
        assert_eq!(told.outcome().unwrap_err().code, ErrorCode::InvalidMessage);
        assert_eq!(told.quiet_hours, None);
    }
}

#[tokio::test]
async fn what_is_not_there_is_said_so_and_what_is_kept_can_be_taken_away() {
    let mut scene = Scene::open_with(NotifyConfig::default()).await;
    scene.workspace().await;
    let endpoint = Endpoint::start().await;
    let good = endpoint.device("phone");
    let https = "https://push.example.org/x";
    let nowhere = NotificationsSet {
        conversation_id: Some(ConversationId::parse("nobody").unwrap()),
        muted: Some(true),
        ..NotificationsSet::default()
    };
    let told = ask(&mut scene, 101, "phone", nowhere).await;
    assert_eq!(
        told.outcome().unwrap_err().code,
        ErrorCode::UnknownConversation
    );
    for request in [
        AppToPylon::from(PushTest::default()),
        PushUnsubscribe::new(https.to_owned()).into(),
    ] {
        let told = ask(&mut scene, 101, "phone", request).await;
        assert_eq!(told.outcome().unwrap_err().code, ErrorCode::Conflict);
    }
    // A connection of no paired device could not be found again.
    let request = PushSubscribe::new(https.to_owned(), good.p256dh.clone(), good.auth.clone());
    scene.call.deliver(request.clone()).await;
    let PylonToApp::NotificationsResult(told) = scene.result("notifications_result").await else {
        panic!("no result")
    };
    assert_eq!(told.outcome().unwrap_err().code, ErrorCode::Conflict);
    // And what can be is kept, once, and can be taken away.
    for _ in 0..2 {
        let told = ask(&mut scene, 101, "phone", request.clone()).await;
        told.outcome().unwrap();
        assert_eq!(told.subscriptions.len(), 1);
        let shown = serde_json::to_value(&told.subscriptions[0]).unwrap();
        assert_eq!(shown["service"], json!("push.example.org"));
        assert!(
            !shown.to_string().contains("/x"),
            "the endpoint is a secret"
        );
    }
    let other = ask(
        &mut scene,
        100,
        "laptop",
        PushUnsubscribe::new(https.to_owned()),
    )
    .await;
    assert_eq!(
        other.outcome().unwrap_err().code,
        ErrorCode::Conflict,
        "it is another's"
    );
    let told = ask(
        &mut scene,
        101,
        "phone",
        PushUnsubscribe::new(https.to_owned()),
    )
    .await;
    told.outcome().unwrap();
    assert!(told.subscriptions.is_empty());
}

/// Whoever learned the address of another device cannot take its notifications away.
#[tokio::test]
async fn x9_the_way_to_a_device_is_not_taken_over_by_another() {
    let (mut scene, at, mut endpoint, phone) = scene_with(config()).await;
    let thief = endpoint.device("thief");
    let stolen = PushSubscribe::new(phone.endpoint.clone(), thief.p256dh, thief.auth);
    let told = ask(&mut scene, 100, "thief", stolen).await;
    assert_eq!(told.outcome().unwrap_err().code, ErrorCode::Conflict);
    scene.host.happen(&at.1, asked("toolu_1"));
    assert_eq!(phone.open(&endpoint.next().await)["kind"], "decision");
    // The same browser, paired anew: it knows its keys.
    let again = PushSubscribe::new(
        phone.endpoint.clone(),
        phone.p256dh.clone(),
        phone.auth.clone(),
    );
    let told = ask(&mut scene, 100, "phone-again", again).await;
    told.outcome().unwrap();
}

/// Nobody who found a lost phone is told what waits on the machine.
#[tokio::test]
async fn a_device_that_is_revoked_is_not_told_any_more_and_the_others_are() {
    let (mut scene, at, mut endpoint, phone) = scene_with(config()).await;
    let laptop = endpoint.device("laptop");
    subscribe(&mut scene, 100, &laptop).await;
    let belongs = |name: &str| {
        let (key, name) = (DeviceKey::parse(name).unwrap(), Name::parse(name).unwrap());
        PairedDevice::new(key, name, vec![Right::View], Timestamp(1), Vec::new())
    };
    // What cannot be told changes nothing.
    let error = ApiError::new(ErrorCode::Forbidden, "no".to_owned(), Retry::Never);
    let refused = PairedListResult::new(Vec::new()).failed(error);
    scene.call.say(refused).await;
    let both = vec![belongs("phone"), belongs("laptop")];
    scene.call.say(PairedListResult::new(both)).await;
    let told = ask(&mut scene, 100, "laptop", NotificationsRequest::default()).await;
    assert_eq!(told.subscriptions.len(), 2);

    let left = vec![belongs("laptop")];
    scene.call.say(PairedListResult::new(left)).await;
    let told = ask(&mut scene, 100, "laptop", NotificationsRequest::default()).await;
    assert_eq!(told.subscriptions.len(), 1);
    scene.host.happen(&at.1, asked("toolu_1"));
    assert_eq!(laptop.open(&endpoint.next().await)["kind"], "decision");
    scene.host.happen(&at.1, result(None));
    // Two in a row for the laptop: there was none for the phone in between.
    assert_eq!(laptop.open(&endpoint.next().await)["kind"], "finished");
    drop(phone);
}
