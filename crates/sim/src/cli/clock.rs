//! Printing a moment the way JavaScript does.

const DAY_MS: u64 = 86_400_000;

/// `2026-11-15T02:19:24.054Z` for Unix milliseconds.
pub(crate) fn iso(ms: u64) -> String {
    let (year, month, day) = civil(ms / DAY_MS);
    let rest = ms % DAY_MS;
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:03}Z",
        rest / 3_600_000,
        rest / 60_000 % 60,
        rest / 1000 % 60,
        rest % 1000
    )
}

/// The date of a day since 1970, by counting in 400-year cycles that start in March.
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let cycle = shifted / 146_097;
    let day_of_cycle = shifted % 146_097;
    let year_of_cycle =
        (day_of_cycle - day_of_cycle / 1460 + day_of_cycle / 36_524 - day_of_cycle / 146_096) / 365;
    let day_of_year =
        day_of_cycle - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 {
        march_month + 3
    } else {
        march_month - 9
    };
    let year = cycle * 400 + year_of_cycle + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::iso;

    #[test]
    fn known_moments() {
        assert_eq!(iso(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(iso(951_782_400_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(iso(1_794_709_164_054), "2026-11-15T02:19:24.054Z");
    }
}
