//! What a file may be called on our disk, whatever its sender calls it. Pure.

/// The longest name that is taken.
const MOST_BYTES: usize = 255;
/// The longest name that is given; the beginning and the ending of a longer one are kept.
const KEPT_BYTES: usize = 100;
const ENDING_BYTES: usize = 20;

/// Why a name is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Blank.
    #[error("`filename` is blank")]
    Blank,
    /// More than any file system takes.
    #[error("`filename` is longer than {MOST_BYTES} bytes")]
    TooLong,
    /// A path, where a name is wanted.
    #[error("`filename` has a separator in it: send the name alone, without its folder")]
    Separator,
    /// Something that no name has.
    #[error("`filename` has a control character in it")]
    Control,
}

/// A name under which a file can be kept: letters, digits, `.`, `-` and `_`, none of them hidden or an option.
pub fn safe(name: &str) -> Result<String, NameError> {
    if name.trim().is_empty() {
        return Err(NameError::Blank);
    }
    if name.len() > MOST_BYTES {
        return Err(NameError::TooLong);
    }
    if name.contains(['/', '\\']) {
        return Err(NameError::Separator);
    }
    if name.chars().any(char::is_control) {
        return Err(NameError::Control);
    }
    let is_safe = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
    let name: String = name
        .trim()
        .chars()
        .map(|c| if is_safe(c) { c } else { '_' })
        .collect();
    // A dot in front hides a file, and a dash makes it an option of many programs.
    let name = name.trim_start_matches(['.', '-']);
    if name.is_empty() {
        return Ok("file".to_owned());
    }
    Ok(shortened(name))
}

fn shortened(name: &str) -> String {
    if name.len() <= KEPT_BYTES {
        return name.to_owned();
    }
    let ending = name.rfind('.').map_or("", |dot| &name[dot..]);
    let ending = if ending.len() <= ENDING_BYTES {
        ending
    } else {
        ""
    };
    let end = name.floor_char_boundary(KEPT_BYTES - ending.len());
    format!("{}{ending}", &name[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_harmless_and_stay_readable() {
        for (given, wanted) in [
            ("photo.png", "photo.png"),
            ("사진 1.png", "사진_1.png"),
            ("a b;$(rm).txt", "a_b___rm_.txt"),
            (".bashrc", "bashrc"),
            ("--help", "help"),
            ("...", "file"),
            ("CON", "CON"),
            (" x ", "x"),
        ] {
            assert_eq!(safe(given).unwrap(), wanted, "{given}");
        }
        let long = safe(&format!("{}.jpeg", "x".repeat(200))).unwrap();
        assert!(
            long.len() == KEPT_BYTES && long.ends_with("x.jpeg"),
            "{long}"
        );
        let wide = safe(&"가".repeat(80)).unwrap();
        assert!(wide.len() <= KEPT_BYTES && wide.starts_with("가가"));
    }

    #[test]
    fn what_is_no_name_is_refused() {
        for (given, wanted) in [
            ("", NameError::Blank),
            (" ", NameError::Blank),
            ("a/b", NameError::Separator),
            ("../../etc/passwd", NameError::Separator),
            ("..\\x", NameError::Separator),
            ("/etc/passwd", NameError::Separator),
            ("a\0b", NameError::Control),
            ("a\nb", NameError::Control),
        ] {
            assert_eq!(safe(given).unwrap_err(), wanted, "{given:?}");
        }
        assert_eq!(safe(&"x".repeat(256)).unwrap_err(), NameError::TooLong);
    }
}
