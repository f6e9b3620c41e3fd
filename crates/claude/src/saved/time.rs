//! Times of day as the CLI writes them: UTC, ISO 8601, milliseconds.
//!
//! Only what transcripts hold is read; another form is taken as no time at all.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

const DAY: u64 = 86_400;

/// Reads `2026-01-02T03:04:05.678Z`; the fraction may be missing or of another length.
pub(super) fn parse(text: &str) -> Option<SystemTime> {
    let (date, clock) = text.strip_suffix('Z')?.split_once('T')?;
    let mut date = date.splitn(3, '-').map(digits);
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let mut clock = clock.splitn(3, ':').map(digits);
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    let real = (1970..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60;
    let millis = digits(&format!("{fraction:0<3}").get(..3)?.to_owned())?;
    let seconds = days(year, month, day) * DAY + hour * 3600 + minute * 60 + second;
    real.then(|| UNIX_EPOCH + Duration::from_millis(seconds * 1000 + millis))
}

/// Writes a time in the same form.
pub(super) fn format(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (second, millis) = (since.as_secs() % DAY, since.subsec_millis());
    let mut rest = since.as_secs() / DAY;
    let mut year = 1970;
    while rest >= year_length(year) {
        rest -= year_length(year);
        year += 1;
    }
    let mut month = 1;
    while month < 12 && rest >= days(year, month + 1, 1) - days(year, month, 1) {
        rest -= days(year, month + 1, 1) - days(year, month, 1);
        month += 1;
    }
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!(
        "{year:04}-{month:02}-{:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z",
        rest + 1
    )
}

fn digits(text: &(impl AsRef<str> + ?Sized)) -> Option<u64> {
    let text = text.as_ref();
    let plain = !text.is_empty() && text.len() <= 4 && text.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}

fn year_length(year: u64) -> u64 {
    if leap(year) { 366 } else { 365 }
}

fn leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

/// Days from 1970-01-01; the year is 1970 or later and the month 1 to 12.
fn days(year: u64, month: u64, day: u64) -> u64 {
    const BEFORE: [u64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    let past = year.saturating_sub(1);
    let leaps = (past / 4 - past / 100 + past / 400).saturating_sub(477);
    let index = usize::try_from(month.saturating_sub(1)).unwrap_or(0);
    let in_year = BEFORE.get(index).copied().unwrap_or(0) + u64::from(month > 2 && leap(year));
    year.saturating_sub(1970) * 365 + leaps + in_year + day.saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_survive_a_round_trip() {
        for text in [
            "1970-01-01T00:00:00.000Z",
            "2000-02-29T23:59:59.999Z",
            "2023-12-31T12:00:00.001Z",
            "2024-12-31T12:00:00.001Z",
            "2026-11-15T05:07:58.510Z",
            "2100-03-01T00:00:00.000Z",
        ] {
            assert_eq!(format(parse(text).expect(text)), text);
        }
        let known = UNIX_EPOCH + Duration::from_secs(1_767_225_601);
        assert_eq!(parse("2026-01-01T00:00:01Z"), Some(known));
    }

    #[test]
    fn other_forms_are_no_time() {
        for text in [
            "",
            "nope",
            "2026-13-01T00:00:00Z",
            "2026-01-01",
            "2026-01-01T00:00:00.ééZ",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
