//! Who is told of something: a pure function of what happened, who wants to know, and the time.

use estelle_proto::Timestamp;
use estelle_proto::notifications::NoticeKind;

use super::quiet::Quiet;

/// Something people are told of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) kind: NoticeKind,
    /// Whether somebody looked at the conversation when it happened.
    pub(crate) is_watched: bool,
    /// The device that wants to see whether it works.
    pub(crate) only_for: Option<u32>,
}

/// A way to a device, and what the device wants.
#[derive(Debug, Clone)]
pub(crate) struct Way {
    pub(crate) subscription: i64,
    pub(crate) device: u32,
    /// The device, or the conversation for it.
    pub(crate) is_muted: bool,
    pub(crate) quiet: Option<Quiet>,
}

/// Whether there is a webhook, and what it wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hook {
    None,
    /// It is told everything.
    Always,
    /// It is told what devices are told.
    WithDevices,
}

/// Somebody who is told, and from when on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    /// None is the webhook.
    pub(crate) subscription: Option<i64>,
    pub(crate) at: Timestamp,
}

/// Who is told.
pub(crate) fn targets(notice: &Notice, ways: &[Way], hook: Hook, now: Timestamp) -> Vec<Target> {
    let pushes = ways.iter().filter_map(|way| {
        let at = told_at(notice, way, now)?;
        let subscription = Some(way.subscription);
        Some(Target { subscription, at })
    });
    let mut targets: Vec<_> = pushes.collect();
    let is_hooked = match hook {
        Hook::None => false,
        _ if notice.only_for.is_some() => false,
        Hook::Always => true,
        // With no device at all there is nobody whose quiet could count.
        Hook::WithDevices => !notice.is_watched && (ways.is_empty() || !targets.is_empty()),
    };
    if is_hooked {
        let soonest = targets.iter().map(|target| target.at).min();
        let at = match hook {
            Hook::WithDevices => soonest.unwrap_or(now),
            Hook::None | Hook::Always => now,
        };
        targets.push(Target {
            subscription: None,
            at,
        });
    }
    targets
}

/// When a device is told, if it is.
fn told_at(notice: &Notice, way: &Way, now: Timestamp) -> Option<Timestamp> {
    if let Some(device) = notice.only_for {
        return (device == way.device).then_some(now);
    }
    if notice.is_watched || way.is_muted {
        return None;
    }
    match way.quiet.as_ref().and_then(|quiet| quiet.over_at(now)) {
        None => Some(now),
        // What waits for a person still waits then; the rest is old by then.
        Some(over) => (notice.kind == NoticeKind::Decision).then_some(over),
    }
}

#[cfg(test)]
mod tests {
    use estelle_proto::notifications::QuietHours;

    use super::*;

    const NOON: Timestamp = Timestamp(12 * 3_600_000);

    fn notice(kind: NoticeKind) -> Notice {
        Notice {
            kind,
            is_watched: false,
            only_for: None,
        }
    }

    fn way(subscription: i64) -> Way {
        Way {
            subscription,
            device: u32::try_from(subscription).unwrap(),
            is_muted: false,
            quiet: None,
        }
    }

    fn quiet(subscription: i64) -> Way {
        let hours = QuietHours::new("11:00".into(), "13:00".into(), "UTC".into());
        Way {
            quiet: Some(Quiet::new(&hours).unwrap()),
            ..way(subscription)
        }
    }

    fn muted(subscription: i64) -> Way {
        Way {
            is_muted: true,
            ..way(subscription)
        }
    }

    fn told(notice: &Notice, ways: &[Way], hook: Hook) -> Vec<(Option<i64>, i64)> {
        let targets = targets(notice, ways, hook, NOON).into_iter();
        let hour = |at: Timestamp| at.0 / 3_600_000;
        targets
            .map(|target| (target.subscription, hour(target.at)))
            .collect()
    }

    #[test]
    fn the_muted_are_not_told_and_the_others_are() {
        let all = [way(1), muted(2), way(3)];
        for kind in [
            NoticeKind::Decision,
            NoticeKind::Finished,
            NoticeKind::Failed,
            NoticeKind::IdleWarning,
        ] {
            assert_eq!(
                told(&notice(kind), &all, Hook::None),
                [(Some(1), 12), (Some(3), 12)]
            );
        }
    }

    #[test]
    fn in_quiet_hours_a_decision_waits_and_the_rest_is_not_told() {
        let all = [quiet(1), way(2)];
        assert_eq!(
            told(&notice(NoticeKind::Decision), &all, Hook::None),
            [(Some(1), 13), (Some(2), 12)]
        );
        assert_eq!(
            told(&notice(NoticeKind::Finished), &all, Hook::None),
            [(Some(2), 12)]
        );
    }

    #[test]
    fn nobody_is_told_while_somebody_looks() {
        let watched = Notice {
            is_watched: true,
            ..notice(NoticeKind::Decision)
        };
        assert!(told(&watched, &[way(1)], Hook::WithDevices).is_empty());
        assert_eq!(told(&watched, &[way(1)], Hook::Always), [(None, 12)]);
    }

    #[test]
    fn a_webhook_is_quiet_with_the_devices_only_if_it_shall_be() {
        let finished = notice(NoticeKind::Finished);
        let silent = [quiet(1), muted(2)];
        assert!(told(&finished, &silent, Hook::WithDevices).is_empty());
        assert_eq!(told(&finished, &silent, Hook::Always), [(None, 12)]);
        assert_eq!(
            told(&finished, &[way(1)], Hook::WithDevices),
            [(Some(1), 12), (None, 12)]
        );
        assert_eq!(told(&finished, &[], Hook::WithDevices), [(None, 12)]);
        let decision = notice(NoticeKind::Decision);
        assert_eq!(
            told(&decision, &[quiet(1)], Hook::WithDevices),
            [(Some(1), 13), (None, 13)]
        );
    }

    #[test]
    fn a_test_reaches_its_own_device_whatever_is_muted() {
        let test = Notice {
            only_for: Some(2),
            ..notice(NoticeKind::Test)
        };
        assert_eq!(
            told(&test, &[way(1), muted(2)], Hook::Always),
            [(Some(2), 12)]
        );
    }
}
