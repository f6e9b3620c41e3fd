//! `--print`: one message, the final text, and out.
//!
//! Nobody is asked: what needs permission is refused, and standard error says so. Standard output holds the text of
//! each result and nothing else, so that it can be used in scripts; with `--json` a line of JSON for each result.

use std::io::{self, Write as _};
use std::process::ExitCode;

use estelle_claude::options::{CallContext, Options};
use estelle_claude::wire::control::CanUseTool;
use estelle_claude::wire::{Body, PermissionResult, ResultMessage};
use estelle_claude::{StreamError, query};
use futures_util::StreamExt as _;
use serde_json::json;

use super::keys::Signals;
use super::{clean, trouble};

/// Sends the message and prints what comes of it.
pub(crate) async fn run(
    message: String,
    options: Options,
    mut signals: Signals,
    is_json: bool,
) -> anyhow::Result<ExitCode> {
    let options = options.can_use_tool(|request: CanUseTool, _context: CallContext| async move {
        let name = clean::line(&request.tool_name).into_owned();
        anstream::eprintln!(
            "{name} was refused: with --print nobody is asked (see --permission-mode)"
        );
        PermissionResult::deny("Nobody is there to allow this.")
    });
    let begun = match signals.unless(query(message, options)).await {
        Ok(begun) => begun,
        Err(code) => return Ok(code),
    };
    let mut query = begun.map_err(|error| trouble::start(&error))?;
    let mut failed = false;
    loop {
        let next = match signals.unless(query.next()).await {
            Ok(next) => next,
            Err(code) => {
                query.close().await;
                return Ok(code);
            }
        };
        match next {
            Some(Ok(message)) => {
                if let Body::Result(result) = &message.body {
                    failed |= result.is_error();
                    print(result, is_json)?;
                }
            }
            Some(Err(error)) => return Err(fatal(&error)),
            None => {
                return Ok(if failed {
                    ExitCode::FAILURE
                } else {
                    ExitCode::SUCCESS
                });
            }
        }
    }
}

fn print(result: &ResultMessage, is_json: bool) -> io::Result<()> {
    let text = result.text();
    if is_json {
        let shown = json!({"text": text, "isError": result.is_error()});
        let mut out = io::stdout().lock();
        writeln!(out, "{shown}")?;
        return out.flush();
    }
    let text = clean::text(&text);
    if result.is_error() {
        anstream::eprintln!("The turn failed: {text}");
        return Ok(());
    }
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()
}

fn fatal(error: &StreamError) -> anyhow::Error {
    anyhow::anyhow!("{}", clean::text(&error.to_string()))
}
