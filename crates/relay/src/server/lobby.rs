//! Room for strangers: how many there may be, in all and from one address.
//!
//! Strangers are cheap and anybody can be one, so when there are too many the oldest has to go: a crowd cannot keep the
//! owner out by sitting in every place.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

/// Who is counted together: an address, or the network that one household has with IPv6.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Origin {
    V4([u8; 4]),
    V6([u16; 4]),
}

impl From<IpAddr> for Origin {
    fn from(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self::V4(address.octets()),
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                Self::V6([a, b, c, d])
            }
        }
    }
}

#[derive(Debug, Default)]
struct Places {
    next: u64,
    /// By age.
    taken: BTreeMap<u64, (Origin, CancellationToken)>,
    per_origin: HashMap<Origin, usize>,
}

impl Places {
    fn free(&mut self, number: u64) {
        let Some((origin, _)) = self.taken.remove(&number) else {
            return;
        };
        if let Some(count) = self.per_origin.get_mut(&origin) {
            *count -= 1;
            if *count == 0 {
                self.per_origin.remove(&origin);
            }
        }
    }
}

/// The room for strangers.
#[derive(Debug, Clone)]
pub(super) struct Lobby {
    places: Arc<Mutex<Places>>,
    most: usize,
    most_per_address: usize,
}

/// A place in the lobby; given back when dropped.
#[derive(Debug)]
pub(super) struct Seat {
    number: u64,
    places: Arc<Mutex<Places>>,
    /// Cancelled when the place is needed for somebody else.
    pub(super) evicted: CancellationToken,
}

impl Lobby {
    pub(super) fn new(most: usize, most_per_address: usize) -> Self {
        Self {
            places: Arc::default(),
            most: most.max(1),
            most_per_address: most_per_address.max(1),
        }
    }

    /// A place, if the address has not too many already.
    pub(super) fn enter(&self, address: IpAddr) -> Option<Seat> {
        let origin = Origin::from(address);
        let mut places = lock(&self.places);
        let count = places.per_origin.entry(origin).or_default();
        if *count >= self.most_per_address {
            return None;
        }
        *count += 1;
        if places.taken.len() >= self.most
            && let Some((oldest, (_, evicted))) = places.taken.first_key_value()
        {
            evicted.cancel();
            let oldest = *oldest;
            places.free(oldest);
        }
        let number = places.next;
        places.next += 1;
        let evicted = CancellationToken::new();
        places.taken.insert(number, (origin, evicted.clone()));
        Some(Seat {
            number,
            places: self.places.clone(),
            evicted,
        })
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        lock(&self.places).free(self.number);
    }
}

/// A panic elsewhere does not make the counts wrong: each change is complete before the lock is given back.
fn lock(places: &Mutex<Places>) -> MutexGuard<'_, Places> {
    places.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn r13_a_crowd_cannot_keep_the_owner_out() {
        let lobby = Lobby::new(3, 2);
        let crowd: Vec<Seat> = ["192.0.2.1", "192.0.2.2", "192.0.2.3"]
            .into_iter()
            .map(|text| lobby.enter(address(text)).unwrap())
            .collect();
        let owner = lobby.enter(address("198.51.100.7")).unwrap();
        assert!(crowd[0].evicted.is_cancelled());
        assert!(!crowd[1].evicted.is_cancelled() && !owner.evicted.is_cancelled());
        drop(crowd);
        assert_eq!(lock(&lobby.places).taken.len(), 1);
    }

    #[test]
    fn one_address_has_its_share_and_a_network_counts_as_one() {
        let lobby = Lobby::new(100, 2);
        let one = lobby.enter(address("2001:db8:0:1::1")).unwrap();
        let _two = lobby.enter(address("2001:db8:0:1:ffff::2")).unwrap();
        assert!(lobby.enter(address("2001:db8:0:1::3")).is_none());
        assert!(lobby.enter(address("2001:db8:0:2::1")).is_some());
        drop(one);
        assert!(lobby.enter(address("2001:db8:0:1::3")).is_some());
        let _mapped = lobby.enter(address("::ffff:192.0.2.1")).unwrap();
        let _plain = lobby.enter(address("192.0.2.1")).unwrap();
        assert!(lobby.enter(address("192.0.2.1")).is_none());
    }
}
