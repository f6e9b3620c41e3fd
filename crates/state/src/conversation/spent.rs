//! What was used, as the CLI counts it: a sum that it tells with every result.
//!
//! 2.1.197 counts from the start of its process, 2.1.325 from the start of its session. So the sums of a session are kept
//! over its processes, and whoever takes the difference decides which of the two it has before it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What one model has used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Spent {
    /// In dollars.
    pub cost: f64,
    /// Tokens read.
    pub input: u64,
    /// Tokens written.
    pub output: u64,
    /// Tokens read from the cache.
    pub cache_read: u64,
    /// Tokens written to the cache.
    pub cache_creation: u64,
}

/// The sums of a result.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Totals {
    /// In dollars.
    pub cost: f64,
    /// By model, where the CLI tells it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub models: BTreeMap<String, Spent>,
}

impl Spent {
    /// Whether nothing of it is less than in the other.
    pub fn covers(&self, other: &Self) -> bool {
        self.cost >= other.cost
            && self.input >= other.input
            && self.output >= other.output
            && self.cache_read >= other.cache_read
            && self.cache_creation >= other.cache_creation
    }

    /// Both together.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            cost: self.cost + other.cost,
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_creation: self.cache_creation.saturating_add(other.cache_creation),
        }
    }

    /// What it has more than the other.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        Self {
            cost: (self.cost - other.cost).max(0.0),
            input: self.input.saturating_sub(other.input),
            output: self.output.saturating_sub(other.output),
            cache_read: self.cache_read.saturating_sub(other.cache_read),
            cache_creation: self.cache_creation.saturating_sub(other.cache_creation),
        }
    }
}

impl Totals {
    /// All models together.
    pub fn sum(&self) -> Spent {
        let mut models = self.models.values();
        models
            .by_ref()
            .fold(Spent::default(), |sum, one| sum.plus(one))
    }

    /// Whether these can be the sums of one counter that stood at the others before.
    pub fn goes_on_from(&self, before: &Self) -> bool {
        let mut models = before.models.iter();
        self.cost >= before.cost
            && models.all(|(name, spent)| {
                let now = self.models.get(name);
                now.is_some_and(|now| now.covers(spent))
            })
    }

    /// What was used since the sums stood at the others; all of it, if they belong to another counter.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        if !self.goes_on_from(before) {
            return self.clone();
        }
        if before.models.is_empty() && before.cost > 0.0 {
            // An older build wrote the cost alone: nobody knows which model the rest of it belongs to.
            return Self {
                cost: self.cost - before.cost,
                models: BTreeMap::new(),
            };
        }
        let models = self.models.iter().map(|(name, spent)| {
            let before = before.models.get(name).copied().unwrap_or_default();
            (name.clone(), spent.minus(&before))
        });
        Self {
            cost: self.cost - before.cost,
            models: models
                .filter(|(_, spent)| *spent != Spent::default())
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals(models: &[(&str, f64, u64)]) -> Totals {
        let spent = |cost, input| Spent {
            cost,
            input,
            ..Spent::default()
        };
        Totals {
            cost: models.iter().map(|(_, cost, _)| cost).sum(),
            models: models
                .iter()
                .map(|(name, cost, input)| ((*name).to_owned(), spent(*cost, *input)))
                .collect(),
        }
    }

    #[test]
    fn a_counter_that_goes_on_gives_the_difference_of_each_model() {
        let before = totals(&[("big", 1.0, 100), ("small", 0.25, 10)]);
        let now = totals(&[("big", 3.0, 300), ("new", 0.5, 5), ("small", 0.25, 10)]);
        assert_eq!(
            now.since(&before),
            totals(&[("big", 2.0, 200), ("new", 0.5, 5)])
        );
        assert_eq!(now.since(&Totals::default()), now);
    }

    #[test]
    fn where_the_cost_alone_is_known_no_model_gets_more_than_its_share() {
        let before = Totals {
            cost: 1.0,
            models: BTreeMap::new(),
        };
        let rest = Totals {
            cost: 2.0,
            models: BTreeMap::new(),
        };
        assert_eq!(totals(&[("big", 3.0, 300)]).since(&before), rest);
    }

    #[test]
    fn a_counter_that_began_anew_gives_all_it_has() {
        let before = totals(&[("big", 1.0, 100)]);
        for now in [
            totals(&[("big", 0.5, 50)]),
            totals(&[("big", 2.0, 50)]),
            totals(&[("other", 2.0, 500)]),
        ] {
            assert_eq!(now.since(&before), now);
        }
    }
}
