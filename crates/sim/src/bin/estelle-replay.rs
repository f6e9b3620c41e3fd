//! A CLI that is all speed: it replays a generated conversation to whichever SDK started it.
//!
//! The benchmark compares SDKs on exactly the same bytes, so this program decides nothing and simulates
//! nothing: it answers `initialize`, and on the first user message prints a stream of deltas, or asks ten
//! thousand permissions one after the other and times each answer. SDKs pass their own arguments; all are
//! ignored, and the environment says what to replay. For behaviour, use the simulator instead.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::os::fd::AsFd;
use std::time::Instant;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

/// What `--version` prints; SDKs check it before they start a conversation.
const VERSION: &str = "2.1.325 (Claude Code)";
const SESSION: &str = "b1e55ed0-0000-4000-8000-000000000001";
const MODEL: &str = "claude-opus-5-5";
/// Deltas in one model response; then a new response starts, as in a turn with many steps.
const RESPONSE: usize = 1000;
/// The size of a pipe on Linux: larger writes would be cut up anyway.
const BLOCK: usize = 64 * 1024;

fn main() -> anyhow::Result<()> {
    if std::env::args().any(|argument| argument == "--version" || argument == "-v") {
        println!("{VERSION}");
        return Ok(());
    }
    let plan = Plan::from_environment()?;
    if let Some(core) = plan.core {
        pin(core)?;
    }
    let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    Replay {
        plan,
        input: BufReader::with_capacity(BLOCK, input),
        output,
    }
    .run()
}

/// What to replay.
struct Plan {
    kind: Kind,
    count: usize,
    /// Where to write what was done.
    report: Option<String>,
    core: Option<usize>,
}

#[derive(Clone, Copy)]
enum Kind {
    /// `count` deltas in writes of 64 KiB.
    Blocks,
    /// `count` deltas, each line in a write of its own.
    Lines,
    /// `count` permission requests, each after the answer to the one before.
    Permissions,
    /// Only the frame of a turn; then wait for more input.
    Idle,
}

impl Plan {
    fn from_environment() -> anyhow::Result<Self> {
        let set = |name: &str| std::env::var(name).ok();
        let number = |name: &str| {
            let text = set(name)?;
            Some(
                text.parse::<usize>()
                    .with_context(|| format!("{name}={text:?} is not a number")),
            )
        };
        let kind = match set("ESTELLE_REPLAY").as_deref() {
            None | Some("blocks") => Kind::Blocks,
            Some("lines") => Kind::Lines,
            Some("permissions") => Kind::Permissions,
            Some("idle") => Kind::Idle,
            Some(other) => {
                bail!("ESTELLE_REPLAY={other:?}: say blocks, lines, permissions or idle")
            }
        };
        Ok(Self {
            kind,
            count: number("ESTELLE_REPLAY_COUNT").transpose()?.unwrap_or(1000),
            report: set("ESTELLE_REPLAY_REPORT"),
            core: number("ESTELLE_REPLAY_CORE").transpose()?,
        })
    }
}

/// Moves this process to one core, away from the SDK that started it on another.
fn pin(core: usize) -> anyhow::Result<()> {
    let mut cores = rustix::thread::CpuSet::new();
    cores.set(core);
    rustix::thread::sched_setaffinity(None, &cores)
        .with_context(|| format!("failed to move to core {core}"))
}

struct Replay {
    plan: Plan,
    input: BufReader<File>,
    output: File,
}

impl Replay {
    /// Serves until the input ends.
    fn run(mut self) -> anyhow::Result<()> {
        let mut replayed = false;
        while let Some(line) = self.next_line()? {
            let Ok(message) = serde_json::from_slice::<Value>(&line) else {
                bail!("a line of input is not JSON");
            };
            match message["type"].as_str() {
                Some("control_request") => self.answer(&message)?,
                Some("user") if !replayed => {
                    replayed = true;
                    self.replay()?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn next_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut line = Vec::with_capacity(512);
        let read = self.input.read_until(b'\n', &mut line)?;
        Ok((read > 0).then_some(line))
    }

    fn answer(&mut self, message: &Value) -> io::Result<()> {
        let response = match message["request"]["subtype"].as_str() {
            Some("initialize") => json!({
                "commands": [], "agents": [], "output_style": "default", "available_output_styles": ["default"],
                "models": [{"value": "default", "displayName": "Default", "description": MODEL}],
                "account": {"apiKeySource": "ANTHROPIC_API_KEY"}, "pid": std::process::id(),
            }),
            _ => json!({}),
        };
        let line = json!({
            "type": "control_response",
            "response": {"subtype": "success", "request_id": message["request_id"], "response": response},
        });
        self.output.write_all(format!("{line}\n").as_bytes())
    }

    fn replay(&mut self) -> anyhow::Result<()> {
        let report = match self.plan.kind {
            Kind::Blocks => self.stream(BLOCK)?,
            // A buffer smaller than a line makes every line a write.
            Kind::Lines => self.stream(1)?,
            Kind::Permissions => self.permissions()?,
            Kind::Idle => {
                self.plan.count = 0;
                self.stream(BLOCK)?
            }
        };
        if let Some(path) = &self.plan.report {
            std::fs::write(path, report.to_string())
                .with_context(|| format!("failed to write {path}"))?;
        }
        // Last of all, because an SDK may end this process once it has seen the result.
        self.output.write_all(&bytes(&result()))?;
        Ok(())
    }

    /// Prints the deltas of the plan and the lines around them.
    fn stream(&mut self, buffer: usize) -> anyhow::Result<Value> {
        let mut output = Counted {
            output: BufWriter::with_capacity(buffer, &self.output),
            lines: 1,
        };
        output.line(&bytes(&init()))?;
        let mut delta = Delta::new();
        let mut printed = 0;
        while printed < self.plan.count {
            let deltas = RESPONSE.min(self.plan.count - printed);
            output.line(&bytes(&event(
                &json!({"type": "message_start", "message": message(&json!([]))}),
            )))?;
            output.line(&bytes(&event(
                &json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
            )))?;
            let mut text = String::with_capacity(deltas * DIGITS);
            for number in printed..printed + deltas {
                output.line(delta.numbered(number))?;
                text.push_str(delta.text());
            }
            let content = json!([{"type": "text", "text": text}]);
            output.line(&bytes(
                &json!({"type": "assistant", "message": message(&content), "parent_tool_use_id": null,
                    "session_id": SESSION, "uuid": uuid(printed)}),
            ))?;
            for end in [
                json!({"type": "content_block_stop", "index": 0}),
                json!({"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": null},
                    "usage": {"output_tokens": deltas}}),
                json!({"type": "message_stop"}),
            ] {
                output.line(&bytes(&event(&end)))?;
            }
            printed += deltas;
        }
        output.output.flush()?;
        Ok(
            json!({"messages": output.lines, "deltas": self.plan.count, "line_bytes": Delta::new().0.len()}),
        )
    }

    /// Asks one permission after the other and times the answers.
    fn permissions(&mut self) -> anyhow::Result<Value> {
        self.output.write_all(&bytes(&init()))?;
        let mut nanoseconds = Vec::with_capacity(self.plan.count);
        for number in 0..self.plan.count {
            let id = uuid(number);
            let request = permission_request(&id);
            let asked = Instant::now();
            self.output.write_all(&request)?;
            let answer = self
                .next_line()?
                .context("the input ended before all permissions were answered")?;
            nanoseconds.push(u64::try_from(asked.elapsed().as_nanos())?);
            check_answer(&answer, &id)?;
        }
        nanoseconds.sort_unstable();
        let percentile =
            |percent: usize| nanoseconds.get((nanoseconds.len() * percent / 100).saturating_sub(1));
        Ok(
            json!({"answers": nanoseconds.len(), "p50_ns": percentile(50), "p99_ns": percentile(99)}),
        )
    }
}

/// A request in the field order of the real CLI, which `json!` would not keep.
fn permission_request(id: &str) -> Vec<u8> {
    format!(
        "{{\"type\":\"control_request\",\"request_id\":\"{id}\",\"request\":{{\"subtype\":\"can_use_tool\",\
         \"tool_name\":\"Write\",\"display_name\":\"Write\",\
         \"input\":{{\"file_path\":\"/home/user/a.txt\",\"content\":\"orig\"}},\"description\":\"a.txt\",\
         \"permission_suggestions\":[{{\"type\":\"setMode\",\"mode\":\"acceptEdits\",\"destination\":\"session\"}}],\
         \"tool_use_id\":\"toolu_00000000000000000000\"}}}}\n"
    )
    .into_bytes()
}

fn check_answer(answer: &[u8], id: &str) -> anyhow::Result<()> {
    let answer: Value = serde_json::from_slice(answer).context("an answer is not JSON")?;
    let response = &answer["response"];
    if response["request_id"] != id || response["response"]["behavior"] != "allow" {
        bail!("the permission {id} was answered with {answer}");
    }
    Ok(())
}

struct Counted<W> {
    output: W,
    lines: usize,
}

impl<W: Write> Counted<W> {
    fn line(&mut self, line: &[u8]) -> io::Result<()> {
        self.lines += 1;
        self.output.write_all(line)
    }
}

/// How many digits number a delta; with seven a line has 288 bytes, like those of the real CLI.
const DIGITS: usize = 7;

/// The line of a delta, made once; only its number is written anew, so that making lines costs next to nothing.
struct Delta(Vec<u8>, [usize; 2]);

impl Delta {
    fn new() -> Self {
        let mark = "#".repeat(DIGITS);
        // The order of the fields is that of the real CLI, which `json!` would not keep.
        let line = format!(
            "{{\"type\":\"stream_event\",\"event\":{{\"type\":\"content_block_delta\",\"index\":0,\
             \"delta\":{{\"type\":\"text_delta\",\"text\":\"{mark}\"}}}},\"session_id\":\"{SESSION}\",\
             \"parent_tool_use_id\":null,\"uuid\":\"de17a000-0000-4000-8000-00000{mark}\",\
             \"api_message_id\":\"msg_00000000000000000000\"}}\n"
        );
        let first = line.find(&mark).unwrap_or_default();
        let second = line.rfind(&mark).unwrap_or_default();
        Self(line.into_bytes(), [first, second])
    }

    fn numbered(&mut self, number: usize) -> &[u8] {
        let mut rest = number;
        for digit in (0..DIGITS).rev() {
            let character = b'0' + u8::try_from(rest % 10).unwrap_or_default();
            for start in self.1 {
                self.0[start + digit] = character;
            }
            rest /= 10;
        }
        &self.0
    }

    fn text(&self) -> &str {
        let start = self.1[0];
        std::str::from_utf8(&self.0[start..start + DIGITS]).unwrap_or_default()
    }
}

fn bytes(line: &Value) -> Vec<u8> {
    format!("{line}\n").into_bytes()
}

fn uuid(number: usize) -> String {
    format!("ca11ab1e-0000-4000-8000-{number:012}")
}

fn event(event: &Value) -> Value {
    json!({"type": "stream_event", "event": event, "session_id": SESSION, "parent_tool_use_id": null,
        "uuid": uuid(0), "api_message_id": "msg_00000000000000000000"})
}

fn message(content: &Value) -> Value {
    json!({"id": "msg_00000000000000000000", "type": "message", "role": "assistant", "model": MODEL, "content": content,
        "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 100, "output_tokens": 1,
        "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}})
}

fn init() -> Value {
    json!({"type": "system", "subtype": "init", "cwd": "/home/user", "session_id": SESSION,
        "tools": ["Bash", "Read", "Write"], "mcp_servers": [], "model": MODEL, "permissionMode": "default",
        "slash_commands": ["compact"], "apiKeySource": "ANTHROPIC_API_KEY", "claude_code_version": "2.1.325",
        "output_style": "default", "agents": ["general-purpose"], "skills": [], "plugins": [], "uuid": uuid(1)})
}

fn result() -> Value {
    json!({"type": "result", "subtype": "success", "is_error": false, "duration_ms": 1, "duration_api_ms": 1,
        "num_turns": 1, "result": "done", "stop_reason": "end_turn", "session_id": SESSION, "total_cost_usd": 0.0009,
        "usage": {"input_tokens": 100, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 25},
        "modelUsage": {}, "permission_denials": [], "terminal_reason": "completed", "uuid": uuid(2)})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delta_has_the_length_of_a_real_one_and_carries_its_number() {
        let mut delta = Delta::new();
        assert_eq!(delta.numbered(1_204_567).len(), 288);
        let line: Value = serde_json::from_slice(delta.numbered(42)).unwrap();
        assert_eq!(line["event"]["delta"]["text"], "0000042");
        assert_eq!(line["uuid"], "de17a000-0000-4000-8000-000000000042");
        assert_eq!(delta.text(), "0000042");
    }

    #[test]
    fn a_permission_must_be_allowed_by_its_own_id() {
        let request: Value = serde_json::from_slice(&permission_request("a")).unwrap();
        assert_eq!(request["request"]["subtype"], "can_use_tool");
        let answer = |id: &str, behavior: &str| {
            bytes(&json!({"type": "control_response", "response":
                {"subtype": "success", "request_id": id, "response": {"behavior": behavior}}}))
        };
        check_answer(&answer("a", "allow"), "a").unwrap();
        check_answer(&answer("b", "allow"), "a").unwrap_err();
        check_answer(&answer("a", "deny"), "a").unwrap_err();
    }
}
