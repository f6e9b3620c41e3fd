//! Ids from a seed: uuids, message ids, tool call ids, task ids.
//!
//! Two runs with the same seed and the same input print the same ids. The generator is also fed with what the conversation
//! already holds, so that a resumed run with the same seed does not repeat the tool call ids of the run before it.

const HEX: &[u8; 16] = b"0123456789abcdef";
const BASE36: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";

/// The seeded generator (`SplitMix64`).
#[derive(Debug, Clone)]
pub(crate) struct Ids {
    state: u64,
}

impl Ids {
    /// A generator; `salt` tells one run from the next with the same seed.
    pub(crate) fn new(seed: u64, salt: &str) -> Self {
        let mixed = salt
            .bytes()
            .fold(seed ^ 0xcbf2_9ce4_8422_2325, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            });
        Self { state: mixed }
    }

    /// The next random number.
    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn digits(&mut self, alphabet: &[u8], count: usize) -> String {
        (0..count)
            .map(|_| {
                let at = usize::try_from(self.next() >> 33).unwrap_or_default() % alphabet.len();
                char::from(alphabet[at])
            })
            .collect()
    }

    /// A version 4 uuid.
    pub(crate) fn uuid(&mut self) -> String {
        let bytes = (u128::from(self.next()) << 64) | u128::from(self.next());
        uuid::Builder::from_random_bytes(bytes.to_be_bytes())
            .into_uuid()
            .to_string()
    }

    /// `msg_…`, as the Messages API names its answers.
    pub(crate) fn message(&mut self) -> String {
        format!("msg_{}", self.digits(HEX, 20))
    }

    /// `toolu_…`.
    pub(crate) fn tool_use(&mut self) -> String {
        format!("toolu_{}", self.digits(HEX, 20))
    }

    /// `req_…`, as the Messages API names requests.
    pub(crate) fn request(&mut self) -> String {
        format!("req_{}", self.digits(HEX, 20))
    }

    /// The id of a background command.
    pub(crate) fn shell_task(&mut self) -> String {
        format!("b{}", self.digits(BASE36, 8))
    }

    /// The id of a sub-agent.
    pub(crate) fn agent(&mut self) -> String {
        format!("a{}", self.digits(HEX, 16))
    }

    /// The id of one run of a task.
    pub(crate) fn run(&mut self) -> String {
        format!("{}-{}", self.digits(BASE36, 9), self.digits(HEX, 8))
    }

    /// A factor between 1 and 1.25, by which the CLI stretches its retry delays.
    #[expect(clippy::cast_precision_loss, reason = "a thousandth is exact enough")]
    pub(crate) fn jitter(&mut self) -> f64 {
        1.0 + (self.next() % 250) as f64 / 1000.0
    }
}

#[cfg(test)]
mod tests {
    use super::Ids;

    #[test]
    fn the_same_seed_gives_the_same_ids_and_another_salt_others() {
        let mut first = Ids::new(7, "a");
        let mut same = Ids::new(7, "a");
        let mut other = Ids::new(7, "b");
        let ids: Vec<String> = (0..4).map(|_| first.tool_use()).collect();
        assert_eq!(ids, (0..4).map(|_| same.tool_use()).collect::<Vec<_>>());
        assert_ne!(ids[0], other.tool_use());
        assert!(uuid::Uuid::parse_str(&first.uuid()).is_ok());
    }
}
