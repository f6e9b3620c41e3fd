//! From a working directory to the name of its folder under `projects`.
//!
//! Pure: the caller resolves links first, as the CLI does. Different directories can share a folder (`/a_b` and `/a-b`);
//! that is the CLI's choice, and both conversations then lie side by side.

use std::path::Path;

/// Longest name without a hash, in UTF-16 units.
const NAME_LIMIT: usize = 200;

/// The folder the CLI keeps the conversations of a working directory in.
///
/// Every UTF-16 unit that is no ASCII letter or digit becomes `-`. A name that would be longer than 200 is cut there and
/// followed by a hash of the whole path.
///
/// ```
/// use estelle_claude::saved::folder_name;
///
/// assert_eq!(folder_name("/srv/my_app.v2".as_ref()), "-srv-my-app-v2");
/// ```
pub fn folder_name(cwd: &Path) -> String {
    let path = cwd.to_string_lossy();
    let mut name: String = path
        .encode_utf16()
        .map(|unit| match u8::try_from(unit) {
            Ok(byte) if byte.is_ascii_alphanumeric() => char::from(byte),
            Ok(_) | Err(_) => '-',
        })
        .collect();
    if name.len() > NAME_LIMIT {
        name.truncate(NAME_LIMIT);
        name.push('-');
        name.push_str(&base36(hash(&path)));
    }
    name
}

/// The well-known hash of strings with factor 31 over UTF-16 units, without its sign.
fn hash(path: &str) -> u32 {
    let wrapped = path.encode_utf16().fold(0_i32, |hash, unit| {
        hash.wrapping_mul(31).wrapping_add(i32::from(unit))
    });
    wrapped.unsigned_abs()
}

fn base36(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit(number % 36, 36).unwrap_or('0'));
        number /= 36;
        if number == 0 {
            return digits.into_iter().rev().collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_rule_of_the_real_clis() {
        let name = |path: &str| folder_name(Path::new(path));
        assert_eq!(name("/srv/w/odd dir_ü😀.x-y+é"), "-srv-w-odd-dir-----x-y--");
        let long = format!("/srv/w{}", format!("/{}", "l".repeat(60)).repeat(4));
        let made = name(&long);
        assert_eq!(made.len(), 207);
        assert!(made.ends_with("lll-t6fgkw"), "{made}");
    }
}
