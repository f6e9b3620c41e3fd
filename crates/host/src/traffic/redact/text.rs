//! Secrets within a text, by the names before them and by their looks.

use super::REDACTED;

/// Parts of a name that tell of a secret.
const TELLING: [&str; 14] = [
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "apikey",
    "accesskey",
    "privatekey",
    "credential",
    "authorization",
    "cookie",
    "signingkey",
    "encryptionkey",
    "webhook",
];

/// How the tokens of known vendors begin.
const PREFIXES: [&str; 24] = [
    "sk-ant-",
    "sk-proj-",
    "sk-",
    "sk_live_",
    "sk_test_",
    "rk_live_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xoxa-",
    "xapp-",
    "AKIA",
    "ASIA",
    "AIza",
    "npm_",
    "hf_",
    "eyJ",
    "pypi-",
];

/// Words in front of a secret.
const SCHEMES: [&str; 3] = ["bearer ", "basic ", "token "];

/// A shorter run behind a prefix or a scheme is an ordinary word.
const MIN_RUN: usize = 12;
/// A shorter value behind a telling name is an ordinary word.
const MIN_VALUE: usize = 4;

/// Whether a name tells of a secret: `ANTHROPIC_API_KEY`, `x-api-key`, `authToken`. Counts of tokens do not.
pub(super) fn is_telling(name: &str) -> bool {
    let plain: String = name
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect();
    let is_count = plain.ends_with("tokens") || plain.ends_with("tokencount");
    // A lone `key` or a name that ends in `_KEY`, as variables do; `keyboard` and `monkey` are none.
    let is_key = name.ends_with("_KEY") || name.ends_with("_key") || name.ends_with("-key");
    !is_count && (is_key || TELLING.iter().any(|part| plain.contains(part)))
}

/// The text without what looks like a secret.
pub(super) fn redact(text: &str) -> String {
    let text = without_private_keys(text);
    let text = without_named_values(&text);
    let text = without_passwords_in_addresses(&text);
    without_tokens(&text)
}

/// A part of a token.
fn is_run(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '+' | '=' | '~')
}

/// Where the run that begins a text ends.
fn run_end(text: &str) -> usize {
    text.find(|c: char| !is_run(c)).unwrap_or(text.len())
}

/// From `-----BEGIN … PRIVATE KEY-----` to its end, or to the end of the text.
fn without_private_keys(text: &str) -> String {
    const BEGIN: &str = "-----BEGIN ";
    const KEY: &str = "PRIVATE KEY";
    const END: &str = "-----END ";
    let mut clean = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(BEGIN) {
        let (before, block) = rest.split_at(at);
        clean.push_str(before);
        let head = block.get(..80).unwrap_or(block);
        if !head.contains(KEY) {
            clean.push_str(BEGIN);
            rest = block.get(BEGIN.len()..).unwrap_or_default();
            continue;
        }
        clean.push_str(REDACTED);
        rest = block.find(END).map_or("", |end| {
            let tail = block.get(end + END.len()..).unwrap_or_default();
            // Behind the name of the key stand five dashes.
            tail.split_once("-----").map_or("", |(_, after)| after)
        });
    }
    clean.push_str(rest);
    clean
}

/// Values behind a telling name: `TOKEN=…`, `"api_key": "…"`, `Authorization: …`, also with escaped quotes.
fn without_named_values(text: &str) -> String {
    let mut clean = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['=', ':']) {
        let (before, after) = rest.split_at(at);
        let sign = after.get(..1).unwrap_or_default();
        let behind = after.get(1..).unwrap_or_default();
        clean.push_str(before);
        clean.push_str(sign);
        rest = behind;
        if !is_telling(name_at_end(before)) {
            continue;
        }
        let value_at = behind
            .find(|c: char| !matches!(c, ' ' | '"' | '\'' | '\\'))
            .unwrap_or(behind.len());
        let (lead, value) = behind.split_at(value_at);
        let length = value_length(value, lead);
        let (secret, after) = value.split_at(length);
        let is_number = secret.chars().all(|c| c.is_ascii_digit());
        if secret.len() >= MIN_VALUE && !is_number {
            clean.push_str(lead);
            clean.push_str(REDACTED);
            rest = after;
        }
    }
    clean.push_str(rest);
    clean
}

/// The name in front of a sign, without the quotes around it.
fn name_at_end(text: &str) -> &str {
    let text = text.trim_end_matches([' ', '"', '\'', '\\']);
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let start = text
        .char_indices()
        .rev()
        .take_while(|(_, c)| is_name(*c))
        .last()
        .map_or(text.len(), |(at, _)| at);
    text.get(start..).unwrap_or_default()
}

/// Within quotes up to the closing one, else to the next space; a scheme belongs to the secret behind it.
fn value_length(value: &str, lead: &str) -> usize {
    let quote = lead.chars().rev().find(|c| matches!(c, '"' | '\''));
    let ends = |c: char| match quote {
        Some(quote) => c == quote || c == '\\',
        None => c.is_whitespace() || matches!(c, '"' | '\'' | ',' | ';' | '&' | ')' | '}' | '\\'),
    };
    let skipped = SCHEMES
        .iter()
        .find(|scheme| starts_with_ignoring_case(value, scheme))
        .map_or(0, |scheme| scheme.len());
    let rest = value.get(skipped..).unwrap_or_default();
    skipped + rest.find(ends).unwrap_or(rest.len())
}

fn starts_with_ignoring_case(text: &str, start: &str) -> bool {
    text.get(..start.len())
        .is_some_and(|head| head.eq_ignore_ascii_case(start))
}

/// The part between `://` and `@`.
fn without_passwords_in_addresses(text: &str) -> String {
    let mut clean = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        clean.push_str(before);
        rest = after;
        let end = after
            .find(|c: char| c.is_whitespace() || matches!(c, '/' | '"' | '\'' | '?' | '#' | '\\'))
            .unwrap_or(after.len());
        let authority = after.get(..end).unwrap_or_default();
        if let Some((user, _)) = authority.rsplit_once('@') {
            clean.push_str(REDACTED);
            rest = after.get(user.len()..).unwrap_or_default();
        }
    }
    clean.push_str(rest);
    clean
}

/// Runs that begin like a vendor's token or stand behind a scheme.
fn without_tokens(text: &str) -> String {
    let mut clean = String::new();
    let mut rest = text;
    let mut in_word = false;
    while let Some(first) = rest.chars().next() {
        let skipped = if in_word { None } else { secret_ahead(rest) };
        if let Some((lead, length)) = skipped {
            clean.push_str(rest.get(..lead).unwrap_or_default());
            clean.push_str(REDACTED);
            rest = rest.get(lead + length..).unwrap_or_default();
            in_word = true;
            continue;
        }
        clean.push(first);
        in_word = first.is_ascii_alphanumeric();
        rest = rest.get(first.len_utf8()..).unwrap_or_default();
    }
    clean
}

/// How much stays and how much goes, if the text begins with a secret.
fn secret_ahead(text: &str) -> Option<(usize, usize)> {
    if PREFIXES.iter().any(|prefix| text.starts_with(prefix)) {
        let length = run_end(text);
        return (length >= MIN_RUN).then_some((0, length));
    }
    let scheme = SCHEMES
        .iter()
        .find(|scheme| starts_with_ignoring_case(text, scheme))?;
    let run = text.get(scheme.len()..).unwrap_or_default();
    let length = run_end(run);
    let word = run.get(..length).unwrap_or_default();
    // Words have no digits; what has none is prose about tokens.
    let is_secret = length >= MIN_RUN && word.chars().any(|c| c.is_ascii_digit());
    is_secret.then_some((scheme.len(), length))
}
