//! The calls that have not come back, by name. Bounded: a call that is broken off may never come back, and a run can
//! make a hundred thousand.

use std::collections::{HashMap, VecDeque};

/// So many calls are remembered; one that comes back after so many later ones has no name.
const MOST: usize = 4096;

#[derive(Debug, Default)]
pub(super) struct CalledTools {
    names: HashMap<String, String>,
    /// Ids in the order of their calls; those that came back may still be among them.
    order: VecDeque<String>,
}

impl CalledTools {
    pub(super) fn add(&mut self, id: &str, name: &str) {
        if self.names.insert(id.to_owned(), name.to_owned()).is_none() {
            self.order.push_back(id.to_owned());
        }
        while self.order.len() > MOST {
            if let Some(oldest) = self.order.pop_front() {
                self.names.remove(&oldest);
            }
        }
    }

    /// The name of a call that came back.
    pub(super) fn take(&mut self, id: &str) -> Option<String> {
        let name = self.names.remove(id)?;
        // Calls come back about as they were made, so it is near the front.
        if let Some(at) = self.order.iter().position(|one| one == id) {
            self.order.remove(at);
        }
        Some(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_never_come_back_are_forgotten_at_last() {
        let mut called = CalledTools::default();
        for number in 0..3 * MOST {
            called.add(&format!("toolu_{number}"), "Bash");
        }
        assert_eq!((called.names.len(), called.order.len()), (MOST, MOST));
        assert_eq!(called.take("toolu_0"), None);
        let newest = format!("toolu_{}", 3 * MOST - 1);
        assert_eq!(called.take(&newest).as_deref(), Some("Bash"));
        assert_eq!(called.take(&newest), None);
        assert_eq!(
            (called.names.len(), called.order.len()),
            (MOST - 1, MOST - 1)
        );
    }
}
