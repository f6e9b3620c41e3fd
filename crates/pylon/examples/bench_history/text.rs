//! The texts of the entries: made-up words, the same from the same number, here and in `bench/history/history.mjs`.

/// Words of a text; about six hundred bytes.
const WORDS: u32 = 80;
/// Different words.
const VOCABULARY: u32 = 5000;
/// Every so manieth entry has the common word.
pub(crate) const COMMON_EVERY: u64 = 10;
/// So many entries have the rare word.
pub(crate) const RARE: u64 = 50;

/// The text of an entry.
pub(crate) fn of(nth: u64, entries: u64) -> String {
    let mut state = u32::try_from(nth % u64::from(u32::MAX)).unwrap_or_default();
    let mut text = String::with_capacity(640);
    for _ in 0..WORDS {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let word = (state >> 8) % VOCABULARY;
        text.push_str("wo");
        text.push_str(&word.to_string());
        text.push(' ');
    }
    if nth.is_multiple_of(COMMON_EVERY) {
        text.push_str("common ");
    }
    if nth.is_multiple_of((entries / RARE).max(1)) {
        text.push_str("rarity ");
    }
    text
}
