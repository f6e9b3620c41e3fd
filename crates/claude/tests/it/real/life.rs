//! Birth and death of the process: what cannot be started, crashes, closing and dropping in mid-turn.

use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use anyhow::{Context as _, ensure};
use estelle_claude::options::{Options, PermissionPrompts, PluginDelivery};
use estelle_claude::transport::Exit;
use estelle_claude::{Body, Handle, Session, StreamError, query};
use estelle_sim::script::Script;
use futures_util::StreamExt;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::desk::Desk;
use super::stage::{Stage, ask, turn, until_streamed};

on_both_versions!(
    real_what_cannot_be_started_is_said_before_the_start,
    real_a_crash_in_mid_turn_is_an_error_with_its_signal,
    real_closing_in_mid_turn_saves_what_was_said,
    real_a_dropped_session_leaves_no_process,
    real_a_process_that_does_not_listen_is_ended_by_force,
    real_a_query_ends_when_it_is_dropped_or_aborted,
    real_standard_error_is_passed_on,
);

/// The process of a session as the kernel knows it.
async fn process(session: &Handle) -> anyhow::Result<OwnedFd> {
    let pid = session.ready().await.map_err(anyhow::Error::from)?.pid;
    let pid = pid.context("the CLI tells its pid")?;
    let pid = Pid::from_raw(i32::try_from(pid)?).context("a pid")?;
    Ok(pidfd_open(pid, PidfdFlags::empty())?)
}

/// Waits until the process is gone.
async fn gone(process: OwnedFd) -> anyhow::Result<()> {
    let ended = tokio::task::spawn_blocking(move || {
        let limit = Timespec {
            tv_sec: 30,
            tv_nsec: 0,
        };
        poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&limit))
    });
    ensure!(ended.await?? == 1, "the process lives on");
    Ok(())
}

/// A file in the working directory that can be run.
fn program(stage: &Stage, name: &str, text: &str, mode: u32) -> anyhow::Result<PathBuf> {
    let path = stage.path(name);
    std::fs::write(&path, text)?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode))?;
    Ok(path)
}

async fn refusal(options: Options) -> anyhow::Result<String> {
    let error = Session::start(options).await.err();
    Ok(format!(
        "{:#}",
        anyhow::Error::from(error.context("it started")?)
    ))
}

async fn real_what_cannot_be_started_is_said_before_the_start(stage: &Stage) -> anyhow::Result<()> {
    let with = |path: PathBuf| stage.options().path_to_claude_code_executable(path);
    let missing = refusal(with(stage.path("nowhere"))).await?;
    assert!(missing.contains("nowhere"), "{missing}");
    let plain = program(stage, "plain", "#!/bin/sh\necho 2.1.325\n", 0o644)?;
    let plain = refusal(with(plain)).await?;
    assert!(plain.contains("plain"), "{plain}");
    let ancient = program(
        stage,
        "ancient",
        "#!/bin/sh\necho '1.0.0 (Claude Code)'\n",
        0o755,
    )?;
    let ancient = refusal(with(ancient)).await?;
    assert!(
        ancient.contains("1.0.0") && ancient.contains("2.1.197"),
        "{ancient}"
    );
    let folder = refusal(stage.options().cwd(stage.path("no-such-folder"))).await?;
    assert!(folder.contains("no-such-folder"), "{folder}");

    let id = "11111111-1111-4111-8111-111111111111";
    for (option, options) in [
        (
            "permission_prompts",
            stage.options().permission_prompts(PermissionPrompts::None),
        ),
        (
            "plugin_delivery",
            stage.options().plugin_delivery(PluginDelivery::Initialize),
        ),
        (
            "project_config_root",
            stage.options().project_config_root(stage.work.path()),
        ),
        (
            "resume_drops_turn",
            stage
                .options()
                .resume(id)
                .resume_session_at(id)
                .resume_drops_turn(id),
        ),
    ] {
        let prepared = options.prepare().await;
        if stage.is_old() {
            let error = prepared
                .err()
                .context("the older one takes it")?
                .to_string();
            assert!(
                error.contains(option) && error.contains("2.1.197"),
                "{error}"
            );
        } else {
            prepared.with_context(|| format!("{option} is refused"))?;
        }
    }
    Ok(())
}

async fn real_a_crash_in_mid_turn_is_an_error_with_its_signal(stage: &Stage) -> anyhow::Result<()> {
    let mut session = stage
        .start(stage.options().include_partial_messages(true))
        .await?;
    let process = process(&session).await?;
    let script = || Script::new().say("abcdef").gated_at("never", 1).prompt();
    // A turn that failed before does not excuse the crash.
    session.send(script()).await?;
    until_streamed(&mut session, "ab").await?;
    session.interrupt().await?;
    assert!(turn(&mut session).await?.result.is_error());
    session.send(script()).await?;
    until_streamed(&mut session, "ab").await?;
    pidfd_send_signal(&process, Signal::KILL)?;
    let end = loop {
        match session.next().await.context("the crash is not reported")? {
            Ok(message) => assert!(!matches!(message.body, Body::Result(_))),
            Err(StreamError::Exited(end)) => break end,
            Err(other) => anyhow::bail!("{other}"),
        }
    };
    assert_eq!(end.exit, Exit::Signal(9));
    assert!(
        session.next().await.is_none(),
        "nothing comes after the end"
    );
    let error = session
        .send("anybody?")
        .await
        .err()
        .context("it was sent")?;
    assert!(error.to_string().contains("signal 9"), "{error}");
    let error = session.interrupt().await.err().context("it was answered")?;
    assert!(error.to_string().contains("signal 9"), "{error}");
    Ok(())
}

async fn real_closing_in_mid_turn_saves_what_was_said(stage: &Stage) -> anyhow::Result<()> {
    let options = stage.options().include_partial_messages(true);
    let mut session = stage.start(options).await?;
    let id = ask(&mut session, Script::new().say("first").prompt())
        .await?
        .session_id()?;
    let process = process(&session).await?;
    session
        .send(
            Script::new()
                .say("uvwxyz")
                .gated_at("never", 1)
                .prompt_after("a long story"),
        )
        .await?;
    until_streamed(&mut session, "uv").await?;
    let end = session.close().await;
    assert_eq!(
        end.exit,
        Exit::Code(1),
        "a cut turn makes the code 1: {end}"
    );
    gone(process).await?;

    let mut session = stage.start(stage.options().resume(&id)).await?;
    ask(&mut session, Script::new().say("and on").prompt()).await?;
    let history = stage.newest()?["messages"].clone();
    let said = history.as_array().is_some_and(|messages| {
        messages.iter().any(|message| {
            message["role"] == "assistant" && message["content"].to_string().contains("\"uv\"")
        })
    });
    assert!(said, "what was said before the end is lost: {history}");
    let end = session.close().await;
    assert!(end.exit.is_success(), "{end}");
    Ok(())
}

async fn real_a_dropped_session_leaves_no_process(stage: &Stage) -> anyhow::Result<()> {
    let (options, mut desk) = Desk::of(stage.options().include_partial_messages(true));
    let mut session = stage.start(options.clone()).await?;
    let streaming = process(&session).await?;
    session
        .send(Script::new().say("abcdef").gated_at("never", 1).prompt())
        .await?;
    until_streamed(&mut session, "ab").await?;
    drop(session);
    gone(streaming).await?;

    // The same while a question is open and a background command runs, which ends with it.
    let session = stage.start(options).await?;
    let asking = process(&session).await?;
    let note = stage.path("sleeper");
    let sleeper = format!(
        "echo $$ > {0}.part; mv {0}.part {0}; exec sleep 600",
        note.display()
    );
    let sleeps = format!("until [ -e {} ]; do sleep 0.02; done", note.display());
    let touch = format!("touch {}", stage.path("x").display());
    let script = Script::new()
        .tool(
            "Bash",
            json!({"command": sleeper, "run_in_background": true}),
        )
        .tool("Bash", json!({"command": sleeps}))
        .tool("Bash", json!({"command": touch}));
    session.send(script.prompt()).await?;
    let asked = loop {
        let asked = desk.next().await?;
        if asked.request.input.to_string().contains("touch") {
            break asked;
        }
        asked.allow()?;
    };
    let sleeper = std::fs::read_to_string(&note)?.trim().parse()?;
    let sleeper = Pid::from_raw(sleeper).context("a pid")?;
    let sleeper = pidfd_open(sleeper, PidfdFlags::empty())?;
    drop(session);
    gone(asking).await?;
    gone(sleeper).await?;
    asked.withdrawn().await;
    Ok(())
}

async fn real_a_process_that_does_not_listen_is_ended_by_force(
    stage: &Stage,
) -> anyhow::Result<()> {
    let session = stage.start(stage.options()).await?;
    let process = process(&session).await?;
    pidfd_send_signal(&process, Signal::STOP)?;
    let end = session.close().await;
    assert_eq!(end.exit, Exit::Signal(9), "{end}");
    gone(process).await
}

async fn real_a_query_ends_when_it_is_dropped_or_aborted(stage: &Stage) -> anyhow::Result<()> {
    let script = || Script::new().say("abcdef").gated_at("never", 1).prompt();
    let options = stage.options().include_partial_messages(true);
    let abort = CancellationToken::new();
    for aborted in [false, true] {
        let options = options.clone().abort(abort.clone());
        let mut query = query(script(), options).await?;
        let process = process(query.handle()).await?;
        loop {
            let message = query.next().await.context("it ended early")??;
            if matches!(&message.body, Body::StreamEvent(event) if event.text_delta() == Some("ab"))
            {
                break;
            }
        }
        if aborted {
            abort.cancel();
            let last = loop {
                match query.next().await.context("the abort is not reported")? {
                    Ok(_) => {}
                    Err(error) => break error,
                }
            };
            assert!(matches!(last, StreamError::Aborted), "{last}");
        }
        drop(query);
        gone(process).await?;
    }
    Ok(())
}

async fn real_standard_error_is_passed_on(stage: &Stage) -> anyhow::Result<()> {
    let heard = Arc::new(Mutex::new(String::new()));
    let ear = Arc::clone(&heard);
    let options = stage
        .options()
        .resume("not-a-session-id")
        .stderr(move |text| {
            if let Ok(mut heard) = ear.lock() {
                heard.push_str(text);
            }
        });
    let error = refusal(options).await?;
    assert!(
        error.contains("--resume"),
        "the last of it is in the error: {error}"
    );
    let heard = heard.lock().map(|heard| heard.clone()).unwrap_or_default();
    assert!(heard.contains("--resume"), "{heard}");
    Ok(())
}
