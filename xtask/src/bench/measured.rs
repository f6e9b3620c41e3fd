//! A figure that was measured several times: its median, and how far the runs lay apart.

use std::fmt;

/// The median of several runs, with the extremes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Measured {
    pub(crate) median: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
}

impl Measured {
    /// Sums up one figure of all runs; nothing without any run.
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let (least, most) = (*values.first()?, *values.last()?);
        let middle = values.len() / 2;
        let median = if values.len() % 2 == 1 {
            values[middle]
        } else {
            f64::midpoint(values[middle - 1], values[middle])
        };
        Some(Self {
            median,
            least,
            most,
        })
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [median, least, most] = [self.median, self.least, self.most].map(short);
        write!(f, "{median} [{least}-{most}]")
    }
}

/// Three digits that mean something.
pub(crate) fn short(value: f64) -> String {
    let decimals = match value.abs() {
        100.0.. => 0,
        10.0.. => 1,
        1.0.. => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_odd_and_an_even_number_of_runs() {
        let expected = |median, least, most| {
            Some(Measured {
                median,
                least,
                most,
            })
        };
        assert_eq!(Measured::of([9.0, 1.0, 2.0]), expected(2.0, 1.0, 9.0));
        assert_eq!(Measured::of([4.0, 1.0]), expected(2.5, 1.0, 4.0));
        assert_eq!(Measured::of([]), None);
    }

    #[test]
    fn figures_are_short() {
        let measured = Measured::of([0.1234, 12.34, 1234.5]).unwrap();
        assert_eq!(measured.to_string(), "12.3 [0.123-1234]");
    }
}
