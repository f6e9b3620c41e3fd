//! `estelle approve`, `deny`, `answer` and `stop`: one word to a conversation.

use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use estelle_proto::claude::ClaudeControl;
use estelle_proto::decisions::{ClaudeAnswer, ClaudePermission};
use estelle_proto::{Answer, Choice, ControlAction, ConversationStatus, PermissionDecision};
use serde_json::json;

use super::failure::{EXIT_CODES, Failure};
use super::print_json;
use super::session::Session;
use super::way::ClientArgs;
use crate::chat::printer::Printer;
use crate::host::attach::answer::{Matter, Open};

/// Allow what a conversation asks permission for.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct ApproveArgs {
    #[command(flatten)]
    client: ClientArgs,
    /// The conversation, by its name, its id or the beginning of either.
    conversation: String,
    /// Which call, if it asks for several; the oldest one with `oldest`.
    #[arg(long, value_name = "ID")]
    call: Option<String>,
    /// Allow this tool from now on in this conversation.
    #[arg(long)]
    always: bool,
    /// Only show what is asked.
    #[arg(long, conflicts_with = "always")]
    show: bool,
}

/// Refuse what a conversation asks permission for.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct DenyArgs {
    #[command(flatten)]
    client: ClientArgs,
    /// The conversation, by its name, its id or the beginning of either.
    conversation: String,
    /// Why, for the agent to read.
    reason: Vec<String>,
    /// Which call, if it asks for several; the oldest one with `oldest`.
    #[arg(long, value_name = "ID")]
    call: Option<String>,
}

/// Answer the questions of a conversation.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct AnswerArgs {
    #[command(flatten)]
    client: ClientArgs,
    /// The conversation, by its name, its id or the beginning of either.
    conversation: String,
    /// An answer for each question: the number of an option, its text, or words of your own.
    #[arg(required = true, value_name = "ANSWER")]
    answers: Vec<String>,
    /// Which call, if it asks several times; the oldest one with `oldest`.
    #[arg(long, value_name = "ID")]
    call: Option<String>,
}

/// End the turn of a conversation; open decisions are refused.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct StopArgs {
    #[command(flatten)]
    client: ClientArgs,
    /// The conversation, by its name, its id or the beginning of either.
    conversation: String,
}

pub(super) async fn approve(args: &ApproveArgs) -> anyhow::Result<ExitCode> {
    let mut session = Session::find(&args.client, &args.conversation).await?;
    let open = decisions(&mut session).await?;
    if args.show {
        return show(&open, &args.client);
    }
    let open = one(open, args.call.as_deref(), Kind::Permission)?;
    let word = if args.always {
        PermissionDecision::AllowAll
    } else {
        PermissionDecision::Allow
    };
    say(&mut session, &args.client, &open, word, None).await
}

pub(super) async fn deny(args: &DenyArgs) -> anyhow::Result<ExitCode> {
    let mut session = Session::find(&args.client, &args.conversation).await?;
    let open = decisions(&mut session).await?;
    let open = one(open, args.call.as_deref(), Kind::Permission)?;
    let reason = args.reason.join(" ");
    let reason = Some(reason).filter(|reason| !reason.trim().is_empty());
    let word = PermissionDecision::Deny;
    say(&mut session, &args.client, &open, word, reason).await
}

async fn say(
    session: &mut Session,
    client: &ClientArgs,
    open: &Open,
    decision: PermissionDecision,
    message: Option<String>,
) -> anyhow::Result<ExitCode> {
    let (workspace, conversation) = (&session.spot.workspace, &session.spot.conversation);
    let call = open.call.clone();
    let request = ClaudePermission {
        message,
        input_hash: open.input_hash.clone(),
        ..ClaudePermission::new(
            workspace.clone(),
            conversation.clone(),
            call,
            decision.clone(),
        )
    };
    let result = session.ask(request).await?;
    if client.json {
        print_json(&result)?;
    } else if let Matter::Permission { tool, .. } = &open.matter {
        let done = if decision == PermissionDecision::Deny {
            "Refused"
        } else {
            "Allowed"
        };
        anstream::println!("{done}: {}", crate::chat::clean::line(tool));
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn answer(args: &AnswerArgs) -> anyhow::Result<ExitCode> {
    let mut session = Session::find(&args.client, &args.conversation).await?;
    let open = decisions(&mut session).await?;
    let open = one(open, args.call.as_deref(), Kind::Question)?;
    let choices = choices(&open, &args.answers)?;
    let (workspace, conversation) = (&session.spot.workspace, &session.spot.conversation);
    let answer = Answer::List(choices);
    let request = ClaudeAnswer {
        input_hash: open.input_hash,
        ..ClaudeAnswer::new(workspace.clone(), conversation.clone(), open.call, answer)
    };
    let result = session.ask(request).await?;
    if args.client.json {
        print_json(&result)?;
    } else {
        anstream::println!("Answered.");
    }
    Ok(ExitCode::SUCCESS)
}

fn choices(open: &Open, answers: &[String]) -> anyhow::Result<Vec<Choice>> {
    let Matter::Questions { questions, .. } = &open.matter else {
        bail!("this is no question");
    };
    if answers.len() > questions.len() {
        bail!(
            "{} answers for {} questions",
            answers.len(),
            questions.len()
        );
    }
    let pairs = questions.iter().zip(answers);
    let choices = pairs.map(|(question, answer)| {
        let choice = crate::host::attach::answer::choice(question, answer.trim());
        choice.ok_or_else(|| {
            anyhow::anyhow!(
                "`{answer}` answers nothing: name the number of an option (1 to {}), or use words",
                question.options.len()
            )
        })
    });
    choices.collect()
}

pub(super) async fn stop(args: &StopArgs) -> anyhow::Result<ExitCode> {
    let mut session = Session::find(&args.client, &args.conversation).await?;
    let (workspace, conversation) = (&session.spot.workspace, &session.spot.conversation);
    let action = ControlAction::Stop;
    let request = ClaudeControl::new(workspace.clone(), conversation.clone(), action);
    let result = session.ask(request).await?;
    if args.client.json {
        print_json(&result)?;
    } else {
        anstream::println!("Stopped: {}", crate::chat::clean::line(&session.spot.title));
    }
    Ok(ExitCode::SUCCESS)
}

/// Everything that waits for a person in the conversation, oldest first.
async fn decisions(session: &mut Session) -> anyhow::Result<Vec<Open>> {
    let page = session.look().await?;
    if page.current_status != Some(ConversationStatus::Permission) {
        return Ok(Vec::new());
    }
    // What waits is told after the page, and nothing says that it was all: the second page does, for requests about one
    // conversation are carried out in order.
    session.look().await?;
    Ok(session.kept_events().iter().filter_map(Open::of).fold(
        Vec::new(),
        |mut all: Vec<Open>, open| {
            if !all.iter().any(|known| known.call == open.call) {
                all.push(open);
            }
            all
        },
    ))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Permission,
    Question,
}

impl Kind {
    fn of(open: &Open) -> Self {
        match open.matter {
            Matter::Permission { .. } => Self::Permission,
            Matter::Questions { .. } => Self::Question,
        }
    }
}

/// The decision that is meant.
fn one(open: Vec<Open>, call: Option<&str>, kind: Kind) -> Result<Open, Failure> {
    let is_oldest = call == Some("oldest");
    let is_meant = |open: &Open| {
        let is_named = call.is_none_or(|call| is_oldest || open.call.as_str().starts_with(call));
        is_named && Kind::of(open) == kind
    };
    let (mut meant, others): (Vec<Open>, Vec<Open>) = open.into_iter().partition(is_meant);
    if is_oldest {
        meant.truncate(1);
    }
    if meant.len() > 1 {
        let said = format!(
            "several decisions wait; say which with --call, or --call oldest:\n{}",
            listed(&meant)
        );
        return Err(Failure::Ambiguous { said });
    }
    meant.pop().ok_or_else(|| {
        let hint = match (kind, others.is_empty()) {
            (_, true) => "nothing waits for a person in this conversation".to_owned(),
            (Kind::Permission, false) => {
                format!(
                    "no such permission is asked for; there waits:\n{}",
                    listed(&others)
                )
            }
            (Kind::Question, false) => {
                format!(
                    "no such question is asked; there waits:\n{}",
                    listed(&others)
                )
            }
        };
        Failure::missing(hint)
    })
}

fn listed(open: &[Open]) -> String {
    let lines = open.iter().map(|open| {
        let what = match &open.matter {
            Matter::Permission { tool, .. } => tool.clone(),
            Matter::Questions { questions, .. } => {
                let first = questions.first();
                first.map_or_else(String::new, |first| first.question.clone())
            }
        };
        format!("  {}  {}", open.call, crate::chat::clean::line(&what))
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn show(open: &[Open], client: &ClientArgs) -> anyhow::Result<ExitCode> {
    if client.json {
        let all = open.iter().map(|open| match &open.matter {
            Matter::Permission {
                tool,
                input,
                reason,
                kind,
            } => json!({
                "toolUseId": open.call, "kind": kind, "toolName": tool, "toolInput": input, "reason": reason,
            }),
            Matter::Questions { questions, .. } => json!({
                "toolUseId": open.call, "kind": "question", "questions": questions,
            }),
        });
        print_json(&all.collect::<Vec<_>>())?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut printer = Printer::stdout();
    for open in open {
        printer.show(&open.describe())?;
    }
    if open.is_empty() {
        anstream::println!("Nothing waits for a person in this conversation.");
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use estelle_proto::{DecisionKind, Json, ToolUseId};

    use super::*;

    fn call(text: &str) -> ToolUseId {
        ToolUseId::parse(text).unwrap()
    }

    fn permission(id: &str) -> Open {
        Open {
            call: call(id),
            input_hash: None,
            matter: Matter::Permission {
                kind: DecisionKind::Permission,
                tool: "Bash".to_owned(),
                input: Json::parse("{}").unwrap(),
                reason: None,
            },
        }
    }

    fn question(id: &str) -> Open {
        Open {
            call: call(id),
            input_hash: None,
            matter: Matter::Questions {
                questions: Vec::new(),
                answers: Vec::new(),
            },
        }
    }

    #[test]
    fn one_decision_needs_no_name_and_several_do() {
        let waiting = || vec![permission("toolu_a"), question("toolu_b")];
        let is = |call: Option<&str>, kind| one(waiting(), call, kind).unwrap().call;
        assert_eq!(is(None, Kind::Permission), call("toolu_a"));
        assert_eq!(is(None, Kind::Question), call("toolu_b"));
        let two = || vec![permission("toolu_a"), permission("toolu_c")];
        let said = one(two(), None, Kind::Permission).unwrap_err().to_string();
        assert!(
            said.contains("toolu_a") && said.contains("toolu_c"),
            "{said}"
        );
        let oldest = one(two(), Some("oldest"), Kind::Permission).unwrap();
        assert_eq!(oldest.call, call("toolu_a"));
        let named = one(two(), Some("toolu_c"), Kind::Permission).unwrap();
        assert_eq!(named.call, call("toolu_c"));
    }

    #[test]
    fn what_does_not_wait_is_not_answered() {
        let said = one(Vec::new(), None, Kind::Permission).unwrap_err();
        assert!(said.to_string().contains("nothing waits"));
        let said = one(vec![question("toolu_b")], None, Kind::Permission).unwrap_err();
        assert!(said.to_string().contains("toolu_b"));
    }
}
