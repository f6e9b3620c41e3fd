//! The page of rights: which of them a device needs for which request.

use std::fmt::Write as _;

use estelle_proto::{AppToPylon, Message as _, Right};

use super::Made;
use super::pages::NOTICE;

const INTRO: &str = "# Rights\n\nEach request of an app needs one right, which the relay and the Pylon both check. What a \
    request does within it does not matter: every `action` of `claude_control`, `clear` among them, needs what the table says \
    of `claude_control`. A request that this build does not know needs `admin`.\n";

pub(super) fn file() -> Made {
    let mut text = format!("{NOTICE}\n{INTRO}");
    for right in Right::WORDS.iter().map(|word| Right::from(*word)) {
        let kinds = AppToPylon::KINDS.iter();
        let mut kinds: Vec<_> = kinds
            .filter(|kind| AppToPylon::right_of(kind) == right)
            .collect();
        kinds.sort_unstable();
        // Writing to a text cannot fail.
        let _ = write!(text, "\n## `{right}`\n\n");
        for kind in kinds {
            let _ = writeln!(text, "- `{kind}`");
        }
    }
    Made {
        path: "docs/protocol/rights.md".to_owned(),
        text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_request_stands_under_one_right() {
        let page = file().text;
        for kind in AppToPylon::KINDS {
            let lines = page.lines().filter(|line| *line == format!("- `{kind}`"));
            assert_eq!(lines.count(), 1, "{kind}");
        }
        let of = |kind: &str| {
            let before = page.split(&format!("- `{kind}`\n")).next().unwrap_or("");
            before
                .rsplit("## `")
                .next()
                .and_then(|rest| rest.split('`').next())
        };
        assert_eq!(of("workspace_switch"), Some("view"));
        assert_eq!(of("claude_control"), Some("prompt"));
        assert_eq!(of("workspace_delete"), Some("admin"));
    }
}
