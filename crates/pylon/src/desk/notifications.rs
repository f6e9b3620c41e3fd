//! How the device that asks is told when nobody looks. Delivering is the teller's.

use estelle_proto::notifications::{
    NotificationsRequest, NotificationsResult, NotificationsSet, PushSubscribe, PushTest,
    PushUnsubscribe,
};
use estelle_proto::{ApiError, DeviceId, ErrorCode, Reply, RequestId};

use super::context::{Asker, Context, now};
use super::error::{Told, bounded, refusal};
use crate::notify::outbound::{Address, MOST_URL_BYTES, Reach};
use crate::notify::quiet::Quiet;
use crate::notify::seal::Receiver;
use crate::notify::vapid::{self, Vapid};
use crate::store::{Subscribed, Wish};

pub(super) async fn show(cx: &Context, asker: &Asker, request: NotificationsRequest) {
    answer(cx, asker, request.request_id.as_ref(), Ok(())).await;
}

pub(super) async fn subscribe(cx: &Context, asker: &Asker, request: PushSubscribe) {
    let id = request.request_id.clone();
    let done = try_subscribe(cx, asker, request).await;
    answer(cx, asker, id.as_ref(), done).await;
}

async fn try_subscribe(
    cx: &Context,
    asker: &Asker,
    request: PushSubscribe,
) -> Result<(), ApiError> {
    paired(asker)?;
    let wrong = |text: String| refusal(ErrorCode::InvalidMessage, text);
    let address = Address::parse(&request.endpoint, cx.config.notify.reach());
    address.map_err(|error| wrong(format!("`endpoint`: {error}")))?;
    let p256dh = decoded("p256dh", &request.p256dh)?;
    let auth = decoded("auth", &request.auth)?;
    let keys = Receiver::new(p256dh, auth).map_err(|error| wrong(error.to_string()))?;
    let kept = cx.store.subscribe(
        asker.reader,
        request.endpoint,
        (keys.p256dh, keys.auth),
        now(),
    );
    let text = match kept.await.map_err(|error| error.told())? {
        Subscribed::Kept => return Ok(()),
        Subscribed::NoRoom => {
            "this machine notifies as many devices as it can; take another subscription away first"
        }
        Subscribed::Taken => {
            "this is the way to another device; let the browser of this one make a subscription of its own"
        }
    };
    Err(refusal(ErrorCode::Conflict, text))
}

/// Base64url, with or without padding, as browsers and libraries write it.
fn decoded(field: &str, text: &str) -> Result<Vec<u8>, ApiError> {
    let plain = text.trim_end_matches('=');
    let bytes = data_encoding::BASE64URL_NOPAD.decode(plain.as_bytes());
    bytes.map_err(|_| {
        refusal(
            ErrorCode::InvalidMessage,
            format!("`{field}` is not base64url"),
        )
    })
}

pub(super) async fn unsubscribe(cx: &Context, asker: &Asker, request: PushUnsubscribe) {
    let id = request.request_id.clone();
    let done = try_unsubscribe(cx, asker, request.endpoint).await;
    answer(cx, asker, id.as_ref(), done).await;
}

async fn try_unsubscribe(cx: &Context, asker: &Asker, endpoint: String) -> Result<(), ApiError> {
    bounded("endpoint", endpoint.len(), MOST_URL_BYTES)?;
    match cx.store.unsubscribe(asker.reader, endpoint).await {
        Ok(true) => Ok(()),
        Ok(false) => Err(refusal(
            ErrorCode::Conflict,
            "this device has no such subscription; it may have been taken away already",
        )),
        Err(error) => Err(error.told()),
    }
}

pub(super) async fn test(cx: &Context, asker: &Asker, request: PushTest) {
    let done = try_test(cx, asker.reader).await;
    answer(cx, asker, request.request_id.as_ref(), done).await;
}

async fn try_test(cx: &Context, device: DeviceId) -> Result<(), ApiError> {
    let is_subscribed = cx.store.is_subscribed(device).await;
    if !is_subscribed.map_err(|error| error.told())? {
        let text = "this device has no subscription; allow notifications on it first";
        return Err(refusal(ErrorCode::Conflict, text));
    }
    let noted = cx.store.note_test(device.0, now()).await;
    noted.map_err(|error| error.told())?;
    cx.wake.notify_one();
    Ok(())
}

pub(super) async fn set(cx: &Context, asker: &Asker, request: NotificationsSet) {
    let id = request.request_id.clone();
    let done = try_set(cx, asker, request).await;
    answer(cx, asker, id.as_ref(), done).await;
}

async fn try_set(cx: &Context, asker: &Asker, request: NotificationsSet) -> Result<(), ApiError> {
    paired(asker)?;
    let wrong = |text: String| refusal(ErrorCode::InvalidMessage, text);
    let is_off = request.no_quiet_hours == Some(true);
    let quiet = match request.quiet_hours {
        Some(_) if is_off => {
            return Err(wrong(
                "`quietHours` and `noQuietHours` contradict each other".to_owned(),
            ));
        }
        Some(hours) => {
            Quiet::new(&hours).map_err(|error| wrong(error.to_string()))?;
            Some(Some(hours))
        }
        None => is_off.then_some(None),
    };
    if request.conversation_id.is_some() && quiet.is_some() {
        return Err(wrong(
            "quiet hours are of the device, not of a conversation".to_owned(),
        ));
    }
    if request.muted.is_none() && quiet.is_none() {
        return Err(wrong(
            "nothing to change: give `muted`, `quietHours` or `noQuietHours`".to_owned(),
        ));
    }
    let wish = Wish {
        conversation: request.conversation_id,
        muted: request.muted,
        quiet,
    };
    let done = cx.store.wish(asker.reader, wish).await;
    done.map_err(|error| error.told())
}

/// What is kept belongs to a device that comes back. A connection alone does not.
fn paired(asker: &Asker) -> Result<(), ApiError> {
    if asker.reader != asker.device {
        return Ok(());
    }
    let text = "only a paired device can be notified; pair it with `estelle pair`";
    Err(refusal(ErrorCode::Conflict, text))
}

/// All of it, as it is now.
async fn answer(
    cx: &Context,
    asker: &Asker,
    request: Option<&RequestId>,
    done: Result<(), ApiError>,
) {
    let result = match overview(cx, asker.reader).await {
        Ok(result) => match done {
            Ok(()) => result,
            Err(error) => result.failed(error),
        },
        Err(error) => empty(cx).failed(done.err().unwrap_or(error)),
    };
    asker.answer(result.in_reply_to(request));
}

fn empty(cx: &Context) -> NotificationsResult {
    let has_webhook = cx.config.notify.webhook.is_some();
    NotificationsResult::new(
        cx.device(),
        String::new(),
        false,
        Vec::new(),
        Vec::new(),
        has_webhook,
        0,
        Vec::new(),
    )
}

async fn overview(cx: &Context, device: DeviceId) -> Result<NotificationsResult, ApiError> {
    let failed = |error: vapid::VapidError| refusal(ErrorCode::Internal, error.to_string());
    let key = cx.store.push_key(vapid::new_key().map_err(failed)?).await;
    let key = key.map_err(|error| error.told())?;
    let vapid = Vapid::from_kept(&key, String::new()).map_err(failed)?;
    let kept = cx.store.notifications(device, service).await;
    let kept = kept.map_err(|error| error.told())?;
    let health = cx.store.notification_health().await;
    let health = health.map_err(|error| error.told())?;
    Ok(NotificationsResult {
        public_key: vapid.public_key(),
        is_muted: kept.is_muted,
        muted_conversations: kept.muted,
        subscriptions: kept.subscriptions,
        waiting: health.waiting,
        lost: kept.lost,
        quiet_hours: kept.quiet,
        ..empty(cx)
    })
}

/// The host of an endpoint: the rest of it is a secret of the device.
fn service(endpoint: &str) -> String {
    let address = Address::parse(endpoint, Reach::Anywhere);
    address.map_or_else(|_| "?".to_owned(), |address| address.host().to_owned())
}
