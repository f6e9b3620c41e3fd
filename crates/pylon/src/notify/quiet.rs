//! When a device is left alone: hours of a day in a time zone. Pure.

use estelle_proto::Timestamp;
use estelle_proto::notifications::QuietHours;
use jiff::civil::Time;
use jiff::tz::TimeZone;
use jiff::{Timestamp as Moment, Zoned};

/// Why hours cannot be kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum QuietError {
    /// Not a time of the day.
    #[error("`{0}` is no time of a day; write it as 22:00")]
    Time(String),
    /// Nothing in between.
    #[error("the quiet hours begin when they end; to be left alone all day, mute the device")]
    Empty,
    /// Not a time zone.
    #[error("there is no time zone `{0}`; use a name of the tz database such as Europe/Berlin")]
    Zone(String),
}

/// Quiet hours that were checked.
#[derive(Debug, Clone)]
pub(crate) struct Quiet {
    from: Time,
    until: Time,
    zone: TimeZone,
}

impl Quiet {
    pub(crate) fn new(hours: &QuietHours) -> Result<Self, QuietError> {
        let (from, until) = (time(&hours.from)?, time(&hours.until)?);
        if from == until {
            return Err(QuietError::Empty);
        }
        let zone = TimeZone::get(&hours.time_zone);
        let zone = zone.map_err(|_| QuietError::Zone(cut(&hours.time_zone)))?;
        Ok(Self { from, until, zone })
    }

    /// When the quiet is over, if it is quiet now.
    pub(crate) fn over_at(&self, now: Timestamp) -> Option<Timestamp> {
        let now = Moment::from_millisecond(now.0)
            .ok()?
            .to_zoned(self.zone.clone());
        let (time, spans_midnight) = (now.time(), self.from > self.until);
        let is_quiet = if spans_midnight {
            time >= self.from || time < self.until
        } else {
            time >= self.from && time < self.until
        };
        if !is_quiet {
            return None;
        }
        let is_tomorrow = spans_midnight && time >= self.from;
        let day = if is_tomorrow {
            now.date().tomorrow().ok()?
        } else {
            now.date()
        };
        // An hour that a change of the clocks leaves out is the one after it.
        let over: Zoned = day
            .to_datetime(self.until)
            .to_zoned(self.zone.clone())
            .ok()?;
        Some(Timestamp(over.timestamp().as_millisecond()))
    }
}

/// `HH:MM`, nothing else.
fn time(text: &str) -> Result<Time, QuietError> {
    let wrong = || QuietError::Time(cut(text));
    let (hour, minute) = text.split_once(':').ok_or_else(wrong)?;
    let number = |part: &str| {
        let is_plain = part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse::<i8>().ok().filter(|_| is_plain)
    };
    let (hour, minute) = (
        number(hour).ok_or_else(wrong)?,
        number(minute).ok_or_else(wrong)?,
    );
    Time::new(hour, minute, 0, 0).map_err(|_| wrong())
}

fn cut(text: &str) -> String {
    estelle_proto::limits::cut(text, 64).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quiet(from: &str, until: &str, zone: &str) -> Result<Quiet, QuietError> {
        let hours = QuietHours::new(from.to_owned(), until.to_owned(), zone.to_owned());
        Quiet::new(&hours)
    }

    fn at(text: &str) -> Timestamp {
        let moment: Moment = text.parse().unwrap();
        Timestamp(moment.as_millisecond())
    }

    #[test]
    fn a_night_is_quiet_in_its_own_time_zone() {
        let night = quiet("22:00", "07:00", "Europe/Berlin").unwrap();
        // Winter: one hour before UTC.
        let over = Some(at("2026-01-11T06:00:00Z"));
        assert_eq!(night.over_at(at("2026-01-10T20:59:59Z")), None);
        assert_eq!(night.over_at(at("2026-01-10T21:00:00Z")), over);
        assert_eq!(night.over_at(at("2026-01-11T05:59:59Z")), over);
        assert_eq!(night.over_at(at("2026-01-11T06:00:00Z")), None);
        // Summer: two hours.
        assert_eq!(
            night.over_at(at("2026-07-10T20:00:00Z")),
            Some(at("2026-07-11T05:00:00Z"))
        );
        // The night in which the clocks go back is an hour longer.
        assert_eq!(
            night.over_at(at("2026-10-24T20:00:00Z")),
            Some(at("2026-10-25T06:00:00Z"))
        );
        let noon = quiet("12:00", "13:30", "Asia/Seoul").unwrap();
        assert_eq!(
            noon.over_at(at("2026-01-10T03:00:00Z")),
            Some(at("2026-01-10T04:30:00Z"))
        );
        assert_eq!(noon.over_at(at("2026-01-10T04:30:00Z")), None);
    }

    #[test]
    fn what_are_no_hours_is_refused_with_advice() {
        for text in [
            "",
            "7:00",
            "24:00",
            "22:60",
            "22",
            "22:00:00",
            "+1:00",
            "２２:00",
        ] {
            let error = quiet(text, "07:00", "UTC").unwrap_err();
            assert_eq!(error, QuietError::Time(text.to_owned()));
        }
        assert_eq!(
            quiet("07:00", "07:00", "UTC").unwrap_err(),
            QuietError::Empty
        );
        for zone in ["", "Mars/Olympus", "../etc/passwd"] {
            let error = quiet("22:00", "07:00", zone).unwrap_err();
            assert!(matches!(error, QuietError::Zone(_)), "{zone}");
        }
    }
}
