//! A conversation that asks you before it does anything.
//!
//! `cargo run -p estelle-claude --example conversation`, then type; an empty line leaves. Every tool the CLI would not
//! run by itself is shown and waits for your `y`. Set `CLAUDE_CODE_PATH` to use another CLI than the one installed,
//! for example the simulator.

use std::io::{self, Write};

use estelle_claude::options::{Options, SystemPrompt};
use estelle_claude::wire::PermissionResult;
use estelle_claude::wire::control::CanUseTool;
use estelle_claude::{Body, Session};
use futures_util::StreamExt;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = Options::new()
        .system_prompt(SystemPrompt::preset())
        .include_partial_messages(true)
        .can_use_tool(|request, _context| async move {
            // Reading a terminal blocks; other traffic goes on meanwhile on the runtime's other threads.
            tokio::task::spawn_blocking(move || decide(&request))
                .await
                .unwrap_or_else(|_| PermissionResult::deny("nobody could be asked"))
        });
    let mut session = Session::start(options).await?;
    while let Some(prompt) = read_line("\n> ")? {
        session.send(prompt).await?;
        let mut turn = session.stream();
        while let Some(message) = turn.next().await {
            if let Body::StreamEvent(event) = message?.body {
                print!("{}", event.text_delta().unwrap_or_default());
                io::stdout().flush()?;
            }
        }
    }
    session.close().await;
    Ok(())
}

fn decide(request: &CanUseTool) -> PermissionResult {
    let question = format!(
        "\n{} {}\nrun it? [y/N] ",
        request.tool_name,
        request.input.as_str()
    );
    match read_line(&question) {
        Ok(Some(answer)) if answer == "y" => request.allow(),
        Ok(Some(reason)) => PermissionResult::deny(reason),
        Ok(None) | Err(_) => PermissionResult::deny("the user said no"),
    }
}

/// A line the user typed; nothing for an empty one or at the end of the input.
fn read_line(prompt: &str) -> io::Result<Option<String>> {
    print!("{prompt}");
    io::stdout().flush()?;
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    let line = line.trim();
    Ok((!line.is_empty()).then(|| line.to_owned()))
}
