//! Which answers are awaited: request ids and who waits for them.
//!
//! Pure bookkeeping. An id is used once; an answer that nobody waits for (late, repeated, not ours) finds
//! nothing and changes nothing.

use std::collections::HashMap;

/// The requests that wait for an answer.
#[derive(Debug)]
pub(crate) struct Pending<W> {
    prefix: String,
    next: u64,
    waiting: HashMap<String, W>,
}

impl<W> Pending<W> {
    /// Ids begin with `prefix`, which tells this connection's requests from those of earlier ones.
    pub(crate) fn new(prefix: String) -> Self {
        Self {
            prefix,
            next: 0,
            waiting: HashMap::new(),
        }
    }

    /// Registers a waiter and gives the id to send.
    pub(crate) fn open(&mut self, waiter: W) -> String {
        let id = format!("{}-{}", self.prefix, self.next);
        self.next += 1;
        self.waiting.insert(id.clone(), waiter);
        id
    }

    /// Takes the waiter of an answered or given-up request.
    pub(crate) fn take(&mut self, id: &str) -> Option<W> {
        self.waiting.remove(id)
    }

    /// Takes all waiters, at the end of the connection.
    pub(crate) fn take_all(&mut self) -> Vec<W> {
        self.waiting.drain().map(|(_, waiter)| waiter).collect()
    }

    /// Whether nobody waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Answers in any order, repeated and mixed with strangers, reach each waiter exactly once.
        #[test]
        fn each_answer_reaches_its_own_waiter_once(order in proptest::collection::vec(0usize..24, 0..80)) {
            let mut pending = Pending::new("t".to_owned());
            let ids: Vec<String> = (0..16).map(|waiter| pending.open(waiter)).collect();
            let mut settled = std::collections::HashSet::new();
            for index in order {
                let id = ids.get(index).cloned().unwrap_or_else(|| format!("stranger-{index}"));
                match pending.take(&id) {
                    Some(waiter) => {
                        prop_assert_eq!(waiter, index);
                        prop_assert!(settled.insert(index), "settled twice");
                    }
                    None => prop_assert!(index >= ids.len() || settled.contains(&index), "lost"),
                }
            }
            prop_assert_eq!(pending.take_all().len(), 16 - settled.len());
            prop_assert!(pending.is_empty());
        }
    }
}
