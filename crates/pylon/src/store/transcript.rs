//! History as Markdown. Pure.
//!
//! What people and the agent said is Markdown already and stands as it is; what tools took and gave stands in fences
//! that nothing inside can close.

use std::fmt::Write as _;

use estelle_proto::history::{HistoryMessage, HistoryText, Role};

/// The first lines of the document.
pub(super) fn title(name: &str) -> String {
    format!("# {}\n", name.replace(['\n', '\r'], " "))
}

/// Adds an entry. `when` is its time in words.
pub(super) fn entry(out: &mut String, message: &HistoryMessage, when: &str) {
    match message {
        HistoryMessage::Text(said) => text(out, said, when),
        HistoryMessage::Thinking(thought) => {
            heading(out, "Thought", when);
            for line in thought.content.trim_end().lines() {
                let _ = write!(out, "\n> {line}");
            }
            out.push('\n');
        }
        HistoryMessage::ToolStart(call) => {
            heading(out, &format!("Tool: {}", call.tool_name), when);
            fence(out, "json", call.tool_input.get());
        }
        HistoryMessage::ToolComplete(call) => {
            let outcome = if call.success { "Result" } else { "Failure" };
            heading(out, &format!("{outcome} of {}", call.tool_name), when);
            fence(out, "", &call.output);
        }
        HistoryMessage::TurnResult(turn) => {
            let seconds = turn.duration_ms / 1000;
            let (read, written) = (turn.usage.input_tokens, turn.usage.output_tokens);
            remark(
                out,
                &format!("turn of {seconds} s, {read} tokens in, {written} out"),
                when,
            );
        }
        HistoryMessage::Error(failure) => remark(out, &format!("error: {}", failure.content), when),
        HistoryMessage::Aborted(aborted) => {
            remark(out, &format!("broken off: {}", aborted.reason), when);
        }
        HistoryMessage::UserResponse(answer) => remark(out, &answer.content, when),
        HistoryMessage::System(note) => remark(out, &note.content, when),
        HistoryMessage::Unknown(other) => remark(out, &other.kind, when),
    }
}

fn text(out: &mut String, said: &HistoryText, when: &str) {
    let who = match (&said.role, &said.parent_tool_use_id) {
        (Role::User, _) => "User",
        (Role::Assistant, None) => "Assistant",
        (Role::Assistant, Some(_)) => "Sub-agent",
        (Role::System | Role::Unknown(_), _) => "Estelle",
    };
    heading(out, who, when);
    out.push('\n');
    out.push_str(said.content.trim_end());
    out.push('\n');
}

// Writing to a string cannot fail.
fn heading(out: &mut String, what: &str, when: &str) {
    let _ = writeln!(out, "\n## {} ({when})", what.replace(['\n', '\r'], " "));
}

fn remark(out: &mut String, what: &str, when: &str) {
    let _ = writeln!(out, "\n> {} ({when})", what.replace(['\n', '\r'], " "));
}

/// A block whose fence is longer than any run of backticks in it.
fn fence(out: &mut String, language: &str, content: &str) {
    let longest = content.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let ticks = "`".repeat(longest.max(2) + 1);
    let content = content.trim_end_matches('\n');
    let _ = writeln!(out, "\n{ticks}{language}\n{content}\n{ticks}");
}

#[cfg(test)]
mod tests {
    use estelle_proto::history::{HistoryToolComplete, HistoryToolStart};
    use estelle_proto::{Json, Timestamp};

    use super::*;

    #[test]
    fn nothing_inside_a_fence_closes_it() {
        let at = Timestamp(0);
        let output = "```\n# not a heading\n````".to_owned();
        let message = HistoryToolComplete::new("Bash".to_owned(), true, output, at);
        let mut out = String::new();
        entry(&mut out, &message.into(), "now");
        assert_eq!(
            out,
            "\n## Result of Bash (now)\n\n`````\n```\n# not a heading\n````\n`````\n"
        );
    }

    #[test]
    fn a_conversation_reads_from_top_to_bottom() {
        let at = Timestamp(0);
        let mut out = title("first\nconversation");
        let asked = HistoryText::new(Role::User, "list *files*\n".to_owned(), at);
        entry(&mut out, &asked.into(), "10:00");
        let input = Json::parse(r#"{"command":"ls"}"#).unwrap();
        let call = HistoryToolStart::new("Bash".to_owned(), input, at);
        entry(&mut out, &call.into(), "10:01");
        assert_eq!(
            out,
            "# first conversation\n\n## User (10:00)\n\nlist *files*\n\n## Tool: Bash (10:01)\n\n```json\n{\"command\":\"ls\"}\n```\n"
        );
    }
}
