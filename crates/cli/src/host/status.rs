//! `estelle host status` and `estelle host list`: what the host runs, and why it thinks so.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use estelle_proto::ConversationId;
use estelle_proto::ipc::{Evidence, SessionStatus};

use super::call;
use crate::chat::clean;
use crate::table::{Table, ago};

/// Show every conversation of the host: its state, and the facts behind it.
#[derive(Debug, Args)]
pub(super) struct StatusArgs {
    /// Show this conversation alone.
    #[arg(value_name = "CONVERSATION")]
    conversation: Option<String>,
    /// Print the states as a JSON array; standard error says how many found no room in it.
    #[arg(long)]
    json: bool,
}

/// List the conversations of the host.
#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// Print a line of JSON for each; standard error says how many were left out.
    #[arg(long)]
    json: bool,
}

/// Runs `status`.
pub(super) async fn status(data: &Path, args: &StatusArgs) -> anyhow::Result<ExitCode> {
    let conversation = args.conversation.as_deref().map(ConversationId::parse);
    let conversation = conversation
        .transpose()
        .context("this is no name of a conversation")?;
    let mut client = call(data).await?;
    let response = client.status_response(conversation).await?;
    let (sessions, left_out) = (response.sessions, left_out(response.left_out));
    let mut out = anstream::stdout();
    if args.json {
        serde_json::to_writer_pretty(&mut out, &sessions)?;
        writeln!(out)?;
        write!(anstream::stderr(), "{left_out}")?;
        return Ok(ExitCode::SUCCESS);
    }
    let build = clean::line(&client.hello().build).into_owned();
    writeln!(
        out,
        "host {build} on {} · {}",
        data.display(),
        count(sessions.len())
    )?;
    out.write_all(in_full(&sessions).as_bytes())?;
    write!(out, "{left_out}")?;
    Ok(ExitCode::SUCCESS)
}

/// Runs `list`.
pub(super) async fn list(data: &Path, args: &ListArgs) -> anyhow::Result<ExitCode> {
    let response = call(data).await?.status_response(None).await?;
    let (sessions, left_out) = (response.sessions, left_out(response.left_out));
    let mut out = anstream::stdout();
    if args.json {
        for session in &sessions {
            writeln!(out, "{}", serde_json::to_string(session)?)?;
        }
        write!(anstream::stderr(), "{left_out}")?;
        return Ok(ExitCode::SUCCESS);
    }
    if sessions.is_empty() {
        writeln!(out, "no conversations")?;
    }
    out.write_all(in_short(&sessions).as_bytes())?;
    write!(out, "{left_out}")?;
    Ok(ExitCode::SUCCESS)
}

fn count(sessions: usize) -> String {
    match sessions {
        0 => "no conversations".to_owned(),
        1 => "1 conversation".to_owned(),
        many => format!("{many} conversations"),
    }
}

/// What is said of those for which the host found no room in its answer.
fn left_out(number: Option<u64>) -> String {
    let number = number.unwrap_or(0);
    let those = match number {
        0 => return String::new(),
        1 => "1 more conversation does nothing, and was",
        _ => &format!("{number} more conversations do nothing, and were"),
    };
    format!("{those} left out: `estelle host status CONVERSATION` shows a single one\n")
}

/// One line for each conversation.
fn in_short(sessions: &[SessionStatus]) -> String {
    let mut table = Table::default();
    for session in sessions {
        table.row([
            session.session_id.to_string(),
            session.state.to_string(),
            folder(session),
        ]);
    }
    table.to_string()
}

/// Each conversation with its evidence below it.
fn in_full(sessions: &[SessionStatus]) -> String {
    if sessions.is_empty() {
        return String::new();
    }
    let mut table = Table::default();
    table.row(["CONVERSATION", "STATE", "PROCESS", "NOW", "FOLDER"].map(str::to_owned));
    for session in sessions {
        let process = session
            .process
            .as_ref()
            .map_or("-".to_owned(), ToString::to_string);
        table.row([
            session.session_id.to_string(),
            session.state.to_string(),
            process,
            now(session),
            folder(session),
        ]);
        if let Some(evidence) = &session.evidence {
            table.note(&format!("  {}", facts(evidence)));
        }
    }
    table.to_string()
}

fn folder(session: &SessionStatus) -> String {
    session
        .working_dir
        .as_ref()
        .map_or("-".to_owned(), ToString::to_string)
}

fn now(session: &SessionStatus) -> String {
    let activity = session
        .activity
        .as_ref()
        .map(|activity| match &activity.tool_name {
            Some(tool) => format!("{} {tool}", activity.activity),
            None => activity.activity.to_string(),
        });
    let waiting = session
        .pending_permission
        .as_ref()
        .map(|open| format!("asks for {}", open.tool_name));
    let questions = session
        .pending_questions
        .as_ref()
        .is_some_and(|open| !open.is_empty());
    let asks = questions.then(|| "asks a question".to_owned());
    waiting
        .or(asks)
        .or(activity)
        .unwrap_or_else(|| "-".to_owned())
}

/// The evidence in words.
fn facts(evidence: &Evidence) -> String {
    let mut facts = Vec::new();
    let lock = if evidence.lock_held {
        "lock held"
    } else {
        "lock free"
    };
    facts.push(lock.to_owned());
    let turn = if evidence.turn_open {
        "turn open"
    } else {
        "no turn"
    };
    facts.push(turn.to_owned());
    let counted = [
        (evidence.open_tools, "open tool"),
        (evidence.open_decisions, "open decision"),
        (evidence.background_tasks.unwrap_or(0), "background task"),
    ];
    let counted = counted.into_iter().filter(|(number, _)| *number > 0);
    facts.extend(counted.map(|(number, noun)| match number {
        1 => format!("1 {noun}"),
        many => format!("{many} {noun}s"),
    }));
    facts.extend(
        evidence
            .last_output_ms
            .map(|ms| format!("last output {}", ago(ms))),
    );
    if let Some(generation) = evidence.generation {
        let pid = evidence
            .pid
            .map(|pid| format!(", pid {pid}"))
            .unwrap_or_default();
        facts.push(format!("run {}{pid}", generation.0));
    }
    let cuts = evidence.log_cuts.unwrap_or(0);
    facts.extend((cuts > 0).then(|| {
        let bytes = evidence.log_cut_bytes.unwrap_or(0);
        match cuts {
            1 => format!("the end of its log was cut off once, {bytes} bytes"),
            many => format!("the end of its log was cut off {many} times, {bytes} bytes"),
        }
    }));
    facts.extend(evidence.exit_code.map(|code| format!("exit code {code}")));
    let facts = facts.join(" · ");
    match &evidence.why {
        Some(why) => format!("{why} ({facts})"),
        None => facts,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn examples() -> Vec<SessionStatus> {
        let text = include_str!("../../../../fixtures/proto/v1/ipc.status_response.json");
        let answer: serde_json::Value = serde_json::from_str(text).unwrap();
        serde_json::from_value(answer["sessions"].clone()).unwrap()
    }

    #[test]
    fn a_state_stands_with_its_evidence() {
        assert_eq!(
            in_full(&examples()),
            "CONVERSATION  STATE       PROCESS        NOW            FOLDER\n\
             conv_xxx      working     -              -              -\n\
             conv_xxx      permission  waiting_input  asks for Bash  /home/user/project\n\
             \x20 2 decisions wait for a person (lock held · turn open · 1 open tool · 2 open decisions · \
             last output 0 s ago · run 1, pid 4711)\n"
        );
        assert_eq!(
            in_short(&examples()),
            "conv_xxx  working     -\nconv_xxx  permission  /home/user/project\n"
        );
    }
}
