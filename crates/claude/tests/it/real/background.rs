//! Work that outlives its turn: background commands and sub-agents, in a session and in a query.

use anyhow::{Context as _, ensure};
use estelle_claude::wire::user::Origin;
use estelle_claude::wire::{ResultMessage, SystemMessage, UserMessage};
use estelle_claude::{Body, Message, Prompt, Query, query};
use estelle_sim::script::Script;
use futures_util::StreamExt;
use futures_util::stream::{iter, unfold};
use serde_json::json;

use super::desk::Desk;
use super::stage::{Stage, check, next, turn};

on_both_versions!(
    real_a_background_command_reports_and_starts_a_turn,
    real_a_query_ends_after_its_background_work,
    real_a_query_waits_for_its_sub_agent_and_answers_it,
    real_a_query_of_a_stream_goes_on_until_the_stream_ends,
    real_prompts_sent_at_once_are_all_answered,
    real_a_sub_agent_speaks_under_its_call,
);

/// A command that ends when the test makes a file.
fn until_file(stage: &Stage, name: &str) -> String {
    format!(
        "while [ ! -e {} ]; do sleep 0.05; done; echo finished",
        stage.path(name).display()
    )
}

fn background(stage: &Stage, name: &str) -> Script {
    Script::new()
        .tool(
            "Bash",
            json!({"command": until_file(stage, name), "run_in_background": true}),
        )
        .say("started")
}

fn is_notified(result: &ResultMessage) -> bool {
    matches!(result.origin(), Some(Origin::TaskNotification(_)))
}

async fn real_a_background_command_reports_and_starts_a_turn(stage: &Stage) -> anyhow::Result<()> {
    let options = stage.options().allowed_tools(["Bash"]);
    let mut session = stage.start(options).await?;
    session.send(background(stage, "go").prompt()).await?;
    let told = turn(&mut session).await?;
    assert_eq!(told.text(), "started");
    let task = told
        .system()
        .find_map(|system| match system {
            SystemMessage::TaskStarted(task) => Some(task.task_id.clone()),
            _ => None,
        })
        .context("the task is announced")?;

    std::fs::write(stage.path("go"), "")?;
    let told = turn(&mut session).await?;
    assert!(is_notified(&told.result), "{:?}", told.result);
    let ended = told.system().any(
        |system| matches!(system, SystemMessage::TaskNotification(ended) if ended.task_id == task),
    );
    assert!(ended, "the end of the task is reported");
    assert!(stage.history()?.contains("task-notification"));

    // One that is stopped by hand.
    session.send(background(stage, "never").prompt()).await?;
    let told = turn(&mut session).await?;
    let task = told.system().find_map(|system| match system {
        SystemMessage::TaskStarted(task) => Some(task.task_id.clone()),
        _ => None,
    });
    let task = task.context("the task is announced")?;
    session.stop_task(&task).await?;
    loop {
        if let Body::System(SystemMessage::TaskNotification(ended)) = next(&mut session).await?.body
        {
            assert_eq!(ended.task_id, task);
            break;
        }
    }
    session.close().await;
    Ok(())
}

/// Reads a query to its end.
async fn read(query: &mut Query) -> anyhow::Result<Vec<Message>> {
    let mut messages = Vec::new();
    while let Some(message) = query.next().await {
        let message = message?;
        check(&message)?;
        messages.push(message);
    }
    Ok(messages)
}

fn results(messages: &[Message]) -> Vec<&ResultMessage> {
    messages
        .iter()
        .filter_map(|message| match &message.body {
            Body::Result(result) => Some(result),
            _ => None,
        })
        .collect()
}

async fn real_a_query_ends_after_its_background_work(stage: &Stage) -> anyhow::Result<()> {
    let options = stage.options().allowed_tools(["Bash"]);
    let mut query = query(background(stage, "go").prompt(), options).await?;
    loop {
        let message = query.next().await.context("it ended early")??;
        if matches!(message.body, Body::Result(_)) {
            break;
        }
    }
    // The first result is there and the command still runs; only now may it end.
    assert!(query.handle().end().is_none());
    std::fs::write(stage.path("go"), "")?;
    let rest = read(&mut query).await?;
    let results = results(&rest);
    assert_eq!(results.len(), 1, "the turn of the notification");
    assert!(is_notified(results[0]), "{:?}", results[0]);
    let end = query.handle().end().context("the process has ended")?;
    assert!(end.exit.is_success(), "{end}");
    Ok(())
}

async fn real_a_query_waits_for_its_sub_agent_and_answers_it(stage: &Stage) -> anyhow::Result<()> {
    let file = stage.path("by-the-agent");
    let inner = Script::new()
        .tool("Bash", json!({"command": "echo first"}))
        .gated("go")
        .tool(
            "Bash",
            json!({"command": format!("touch {}", file.display())}),
        )
        .say("sub finished");
    let input = json!({
        "description": "a small task", "prompt": inner.prompt(), "subagent_type": "general-purpose",
        "run_in_background": true,
    });
    let (options, mut desk) = Desk::of(stage.options());
    let script = Script::new().tool("Agent", input).say("main done");
    let mut query = query(script.prompt(), options).await?;
    loop {
        let message = query.next().await.context("it ended early")??;
        if let Body::Result(result) = message.body {
            assert_eq!(result.text(), "main done");
            break;
        }
    }
    // The turn is over; the sub-agent goes on only now, and its question still finds somebody.
    stage.api.open("go")?;
    let (rest, answered) = tokio::join!(read(&mut query), async {
        let asked = desk.next().await?;
        assert!(asked.request.agent_id.is_some(), "the sub-agent asks");
        asked.allow()
    });
    answered?;
    let rest = rest?;
    assert!(file.exists());
    assert!(
        results(&rest).into_iter().any(is_notified),
        "its end is reported"
    );
    Ok(())
}

async fn real_a_query_of_a_stream_goes_on_until_the_stream_ends(
    stage: &Stage,
) -> anyhow::Result<()> {
    let (prompts, stream) = tokio::sync::mpsc::channel::<UserMessage>(4);
    let prompt = Prompt::stream(unfold(stream, |mut stream| async move {
        Some((stream.recv().await?, stream))
    }));
    let mut query = query(prompt, stage.options()).await?;
    for word in ["one", "two"] {
        prompts
            .send(Script::new().say(word).prompt().into())
            .await?;
        let result = loop {
            let message = query.next().await.context("it ended early")??;
            if let Body::Result(result) = message.body {
                break result;
            }
        };
        assert_eq!(result.text(), word);
    }
    prompts
        .send(Script::new().say("three").prompt().into())
        .await?;
    drop(prompts);
    let rest = read(&mut query).await?;
    let texts: Vec<String> = results(&rest)
        .into_iter()
        .map(ResultMessage::text)
        .collect();
    assert_eq!(texts, ["three"]);
    Ok(())
}

async fn real_prompts_sent_at_once_are_all_answered(stage: &Stage) -> anyhow::Result<()> {
    let file = stage.path("by-the-second");
    let touch = json!({"command": format!("touch {}", file.display())});
    let prompts = [
        Script::new().say("abcdef").gated_at("go", 1).prompt(),
        Script::new().tool("Bash", touch).say("made").prompt(),
    ];
    let (options, mut desk) = Desk::of(stage.options().include_partial_messages(true));
    let messages = prompts.map(UserMessage::from);
    let mut query = query(Prompt::stream(iter(messages)), options).await?;
    loop {
        let message = query.next().await.context("it ended early")??;
        if matches!(&message.body, Body::StreamEvent(event) if event.text_delta() == Some("ab")) {
            break;
        }
        ensure!(
            !matches!(message.body, Body::Result(_)),
            "the prompts were merged"
        );
    }
    query.binary_version().await?;
    stage.api.open("go")?;
    // The question of the second comes after the result of the first, and still finds somebody.
    let (rest, answered) = tokio::join!(read(&mut query), async { desk.next().await?.allow() });
    answered?;
    let rest = rest?;
    let texts: Vec<String> = results(&rest)
        .into_iter()
        .map(ResultMessage::text)
        .collect();
    assert_eq!(texts, ["abcdef", "made"]);
    assert!(file.exists());
    Ok(())
}

async fn real_a_sub_agent_speaks_under_its_call(stage: &Stage) -> anyhow::Result<()> {
    let (options, mut desk) = Desk::of(stage.options());
    let mut session = stage.start(options).await?;
    let file = stage.path("by-the-agent");
    let inner = Script::new()
        .tool(
            "Bash",
            json!({"command": format!("touch {}", file.display())}),
        )
        .say("sub finished");
    let input = json!({"description": "a small task", "prompt": inner.prompt(), "subagent_type": "general-purpose"});
    let script = Script::new().tool("Agent", input).say("main done");
    session.send(script.prompt()).await?;
    let asked = desk.next().await?;
    assert!(asked.request.agent_id.is_some(), "the sub-agent asks");
    asked.allow()?;

    let mut told = turn(&mut session).await?;
    let mut messages = std::mem::take(&mut told.messages);
    // The newer version runs it in the background; its end starts a turn.
    while !messages.iter().any(|message| {
        matches!(
            &message.body,
            Body::System(SystemMessage::TaskNotification(_))
        )
    }) {
        messages.extend(turn(&mut session).await?.messages);
    }
    assert!(file.exists());
    let call = messages
        .iter()
        .find_map(|message| match &message.body {
            Body::Assistant(answer) => answer
                .message
                .content
                .iter()
                .find_map(|block| block.as_tool_use())
                .filter(|call| call.name == "Agent")
                .map(|call| call.id.clone()),
            _ => None,
        })
        .context("the call of the sub-agent")?;
    let beneath = |message: &&Message| match &message.body {
        Body::Assistant(answer) => answer.parent_tool_use_id.as_ref() == Some(&call),
        Body::User(user) => user.parent_tool_use_id.as_ref() == Some(&call),
        _ => false,
    };
    assert!(messages.iter().any(|message| beneath(&message)));
    let main = messages.iter().any(|message| match &message.body {
        Body::Assistant(answer) => {
            answer.parent_tool_use_id.is_none() && answer.text() == "main done"
        }
        _ => false,
    });
    assert!(main, "the main conversation speaks for itself");
    session.close().await;
    Ok(())
}
