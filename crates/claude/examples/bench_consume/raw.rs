//! The limits: what reading costs with nothing around it, on blocking pipes and one thread.
//!
//! `memchr` only finds the ends of lines; `value` parses each line into a tree, which is the least that an
//! SDK without types does; `permissions` answers with string operations alone.

use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;

use crate::measure::{Clocks, Delivered, Report};

const INITIALIZE: &[u8] = b"{\"type\":\"control_request\",\"request_id\":\"i\",\"request\":{\"subtype\":\"initialize\"}}\n";
const USER: &[u8] = b"{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"go\"},\"parent_tool_use_id\":null,\"session_id\":\"\"}\n";
const CHUNK: usize = 64 * 1024;

type Outcome = Result<Report, Box<dyn Error>>;

/// A replayer that has been introduced and prompted.
struct Replayer {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
}

impl Replayer {
    fn start(program: &str) -> Result<Self, Box<dyn Error>> {
        let mut child = Command::new(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("the replayer has no pipes".into());
        };
        input.write_all(INITIALIZE)?;
        input.write_all(USER)?;
        Ok(Self {
            child,
            input,
            output,
        })
    }

    fn end(mut self) -> Result<(), Box<dyn Error>> {
        drop(self.input);
        self.child.wait()?;
        Ok(())
    }
}

/// Reads into one buffer and finds each line; nothing is looked at but the start of it.
pub(crate) fn memchr(program: &str) -> Outcome {
    let clocks = Clocks::start();
    let mut replayer = Replayer::start(program)?;
    let mut buffer = vec![0; 2 * CHUNK];
    // How much of the buffer is the start of a line that is not whole yet.
    let mut kept = 0;
    let mut lines: usize = 0;
    let mut ended = false;
    while !ended {
        let length = replayer.output.read(&mut buffer[kept..])?;
        if length == 0 {
            return Err("the replayer ended before its result".into());
        }
        let chunk = &buffer[..kept + length];
        let mut start = 0;
        while let Some(found) = memchr::memchr(b'\n', &chunk[start..]) {
            ended = is_result(&chunk[start..start + found]);
            start += found + 1;
            lines += 1;
        }
        kept = chunk.len() - start;
        buffer.copy_within(start..start + kept, 0);
    }
    let report = clocks.stop(Delivered {
        // The answer to `initialize` is no message.
        messages: lines - 1,
        deltas: 0,
    });
    replayer.end()?;
    Ok(report)
}

/// The result is the one line that does not start with its type.
fn is_result(line: &[u8]) -> bool {
    line.starts_with(b"{\"duration_api_ms\"")
}

/// Parses each line into a tree.
pub(crate) fn value(program: &str) -> Outcome {
    let clocks = Clocks::start();
    let mut replayer = Replayer::start(program)?;
    let mut reader = BufReader::with_capacity(CHUNK, &mut replayer.output);
    let mut delivered = Delivered::default();
    let mut line = Vec::new();
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line)? == 0 {
            return Err("the replayer ended before its result".into());
        }
        let message: Value = serde_json::from_slice(&line)?;
        match message["type"].as_str() {
            Some("control_response") => continue,
            Some("stream_event") if message["event"]["type"] == "content_block_delta" => {
                delivered.deltas += 1;
            }
            _ => {}
        }
        delivered.messages += 1;
        if message["type"] == "result" {
            break;
        }
    }
    let report = clocks.stop(delivered);
    replayer.end()?;
    Ok(report)
}

/// Allows each permission as soon as its line is there.
pub(crate) fn permissions(program: &str) -> Outcome {
    let clocks = Clocks::start();
    let mut replayer = Replayer::start(program)?;
    let mut reader = BufReader::with_capacity(CHUNK, &mut replayer.output);
    let mut delivered = Delivered::default();
    let mut line = String::new();
    loop {
        line.clear();
        if reader.read_line(&mut line)? == 0 {
            return Err("the replayer ended before its result".into());
        }
        if let Some(id) = between(&line, "\"request_id\":\"", "\"")
            && line.starts_with("{\"type\":\"control_request\"")
        {
            let input = between(&line, "\"input\":", ",\"description\"").unwrap_or("{}");
            let answer = format!(
                "{{\"type\":\"control_response\",\"response\":{{\"subtype\":\"success\",\"request_id\":\"{id}\",\
                 \"response\":{{\"behavior\":\"allow\",\"updatedInput\":{input}}}}}}}\n"
            );
            replayer.input.write_all(answer.as_bytes())?;
            continue;
        }
        if line.contains("\"control_response\"") {
            continue;
        }
        delivered.messages += 1;
        if is_result(line.as_bytes()) {
            break;
        }
    }
    let report = clocks.stop(delivered);
    replayer.end()?;
    Ok(report)
}

fn between<'a>(line: &'a str, before: &str, after: &str) -> Option<&'a str> {
    let rest = &line[line.find(before)? + before.len()..];
    Some(&rest[..rest.find(after)?])
}
