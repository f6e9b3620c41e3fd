//! The day of a moment, as the names of files have it.

use estelle_proto::Timestamp;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// Days of four hundred years, after which the calendar repeats.
const ERA: i64 = 146_097;

/// The day in universal time: `2026-11-15`.
pub(super) fn day(at: Timestamp) -> String {
    // Years are counted from March on, so that the day that is sometimes missing comes last.
    let days = at.0.div_euclid(DAY_MS) + 719_468;
    let era = days.div_euclid(ERA);
    let day_of_era = days.rem_euclid(ERA);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        for (ms, text) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (951_782_400_000, "2000-02-29"),
            (1_709_251_199_999, "2024-02-29"),
            (1_709_251_200_000, "2024-03-01"),
            (1_794_700_800_000, "2026-11-15"),
            (4_102_444_800_000, "2100-01-01"),
        ] {
            assert_eq!(day(Timestamp(ms)), text);
        }
    }
}
