//! Decodes `$'…'`, the one kind of quoting with escapes of its own.

/// The text that the shell makes of the inside of `$'…'`.
pub(super) fn decode(raw: &str) -> String {
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw.chars().peekable();
    while let Some(symbol) = rest.next() {
        if symbol != '\\' {
            text.push(symbol);
            continue;
        }
        let Some(kind) = rest.next() else {
            text.push('\\');
            break;
        };
        match kind {
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'r' => text.push('\r'),
            'a' => text.push('\u{7}'),
            'b' => text.push('\u{8}'),
            'e' | 'E' => text.push('\u{1b}'),
            'f' => text.push('\u{c}'),
            'v' => text.push('\u{b}'),
            'x' => text.extend(number(&mut rest, 16, 2, 0)),
            'u' => text.extend(number(&mut rest, 16, 4, 0)),
            'U' => text.extend(number(&mut rest, 16, 8, 0)),
            'c' => text.extend(
                rest.next()
                    .and_then(|key| char::from_u32(u32::from(key) & 0x1f)),
            ),
            '0'..='7' => text.extend(number(&mut rest, 8, 2, kind.to_digit(8).unwrap_or(0))),
            other => text.push(other),
        }
    }
    text
}

/// Reads up to `most` digits behind those already read.
fn number(
    rest: &mut std::iter::Peekable<std::str::Chars<'_>>,
    base: u32,
    most: usize,
    start: u32,
) -> Option<char> {
    let mut value = start;
    for _ in 0..most {
        let Some(digit) = rest.peek().and_then(|symbol| symbol.to_digit(base)) else {
            break;
        };
        value = value.wrapping_mul(base).wrapping_add(digit);
        rest.next();
    }
    char::from_u32(value)
}
