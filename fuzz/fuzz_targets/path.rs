//! Writes the names of secret files in arbitrary ways and lets the policy judge the tools that open them.
//!
//! The first byte chooses the file and the tool, the next ones how each part of its path is written: doubled slashes, `.`,
//! `x/..`, other cases, invisible characters, full-width letters, trailing dots. Whatever the way, the call must
//! not be allowed. What is left of the input is judged as a path and as an arbitrary input besides: that must not panic.

#![no_main]

use estelle_state::policy::{Mode, Place, Policy, Verdict, judge};
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

const HOME: &str = "/home/someone";
const DATA: &str = "/home/someone/.local/share/estelle";

/// What nobody may open unasked.
const SECRETS: [&str; 8] = [
    "/home/someone/.ssh/id_ed25519",
    "/home/someone/.aws/credentials",
    "/home/someone/.local/share/estelle/host/conversations/1/log",
    "/home/someone/.local/share/estelle",
    "/src/project/.env",
    "/src/project/deep/er/.env.production",
    "/home/someone/.netrc",
    "/home/someone/.gnupg/private-keys-v1.d/key",
];

/// Tools that open a file, and the name of the member that holds its path.
const TOOLS: [(&str, &str); 6] = [
    ("Read", "file_path"),
    ("Write", "file_path"),
    ("Edit", "file_path"),
    ("NotebookEdit", "notebook_path"),
    ("Grep", "path"),
    ("Glob", "path"),
];

fuzz_target!(|data: &[u8]| {
    let Some((&first, rest)) = data.split_first() else {
        return;
    };
    let secret = SECRETS[usize::from(first) % SECRETS.len()];
    let (tool, member) = TOOLS[usize::from(first) / SECRETS.len() % TOOLS.len()];
    let (ways, free) = rest.split_at(rest.len().min(24));
    let path = written(secret, ways);
    let verdict = verdict(tool, &json!({ member: path }));
    assert!(
        !matches!(verdict, Verdict::Allow(_)),
        "{tool} of {path:?} is allowed"
    );
    let free = String::from_utf8_lossy(free);
    let _ = self::verdict(tool, &json!({ member: free }));
    if let Ok(input) = serde_json::from_str::<Value>(&free) {
        let _ = self::verdict(tool, &input);
    }
});

/// The path with each of its parts written in the way that the next byte chooses.
fn written(path: &str, ways: &[u8]) -> String {
    let mut ways = ways.iter().copied().chain(std::iter::repeat(0));
    let mut way = || ways.next().unwrap_or_default();
    let is_short = way() % 2 == 1;
    let (mut text, rest) = match path.strip_prefix(HOME).filter(|_| is_short) {
        Some(rest) => ("~".to_owned(), rest),
        None => (String::new(), path),
    };
    for part in rest.split('/').skip(1) {
        text.push_str(match way() % 6 {
            1 => "//",
            2 => "/./",
            3 => "/x/../",
            4 => "/.//./",
            5 => "/a/b/../../",
            _ => "/",
        });
        text.push_str(&named(part, way()));
    }
    text
}

/// A part of a path that some system takes for the same name.
fn named(part: &str, way: u8) -> String {
    let place = usize::from(way / 8) % part.len();
    let wide = |symbol: char| char::from_u32(u32::from(symbol) + 0xFEE0).unwrap_or(symbol);
    match way % 8 {
        1 => part.to_uppercase(),
        2 => format!("{part}."),
        3 => format!("{part} "),
        4 => format!("{}\u{200B}{}", &part[..place], &part[place..]),
        5 => part
            .chars()
            .map(|symbol| {
                if symbol.is_ascii_graphic() {
                    wide(symbol)
                } else {
                    symbol
                }
            })
            .collect(),
        6 => format!("{}\u{AD}{}", &part[..place], &part[place..]),
        7 => format!("{part}::$DATA"),
        _ => part.to_owned(),
    }
}

fn verdict(tool: &str, input: &Value) -> Verdict {
    let policy = Policy {
        mode: Mode::AcceptEdits,
        deny_first: true,
        ..Policy::default()
    };
    let mut place = Place::at("/src/project");
    place.home = Some(HOME);
    place.data_folder = Some(DATA);
    judge(&policy, place, tool, input)
}
