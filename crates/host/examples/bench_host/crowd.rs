//! Many conversations in one host: at rest, at full speed, and taken up again after the host was killed.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use estelle_host::ipc::Client;
use estelle_host::log::{Log, Sync};
use estelle_proto::ConversationId;
use estelle_proto::events::ClaudeEvent;
use serde_json::{Value, json};

use crate::Outcome;
use crate::latency::{paced, prompt_line};
use crate::meter;
use crate::stage::{Programs, Stage, conversation};

/// How often the host is killed.
const KILLS: usize = 3;

/// Turns in the log that is multiplied.
const TURNS: usize = 10;

/// How many live conversations there are, and what some of them do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Load {
    pub(crate) live: usize,
    pub(crate) seconds: u64,
    pub(crate) streams: usize,
    pub(crate) deltas: usize,
}

/// A host with so many conversations that have a past and no process.
pub(crate) fn logs(programs: &Programs, count: usize, seconds: u64) -> Outcome<Value> {
    let mut stage = Stage::new(programs)?;
    if count > 0 {
        let template = template(&mut stage)?;
        for nth in 0..count {
            let id = conversation(nth)?;
            let folder = stage.data().join("conversations").join(id.as_str());
            std::fs::create_dir_all(&folder)?;
            multiply(&template, &id, &folder.join("log.jsonl"))?;
        }
    }
    let start = stage.start()?;
    // What was needed for the start alone is given back meanwhile.
    stage.pause(Duration::from_secs(1));
    let mut rest = stage.at_rest(seconds);
    rest["start_us"] = json!(micros(start));
    rest["conversations"] = json!(stage.conversations()?);
    Ok(rest)
}

/// The payloads of a log of some turns.
fn template(stage: &mut Stage) -> Outcome<Vec<String>> {
    stage.start()?;
    let id = template_id()?;
    let mut client = stage.connect()?;
    let answer = "All that is said here is said again and again. ".repeat(10);
    let prompt = format!(r#"SCRIPT:[{{"say":"{answer}"}}]"#);
    stage.say(&mut client, &id, &prompt)?;
    stage.follow(&mut client, &id)?;
    stage.results(&mut client, 1)?;
    for _ in 1..TURNS {
        stage.say(&mut client, &id, &prompt)?;
        stage.results(&mut client, 1)?;
    }
    let _ = stage.runtime.block_on(async {
        let stop = estelle_proto::ipc::Shutdown {
            stop_runs: Some(true),
            ..estelle_proto::ipc::Shutdown::default()
        };
        client.send(stop).await?;
        while client.receive().await.is_ok() {}
        Ok::<(), estelle_host::ipc::WireError>(())
    });
    stage.kill_host();
    let folder = stage.data().join("conversations").join(id.as_str());
    let log = estelle_host::log::inspect(&folder.join("log.jsonl"))?;
    std::fs::remove_dir_all(folder)?;
    let payloads = log.records.into_iter().map(|record| record.payload);
    Ok(payloads.map(String::from_utf8).collect::<Result<_, _>>()?)
}

fn template_id() -> Outcome<ConversationId> {
    Ok(ConversationId::parse("bench-template")?)
}

fn multiply(payloads: &[String], id: &ConversationId, path: &Path) -> Outcome<()> {
    let mut log = Log::open(path)?.log;
    for payload in payloads {
        let payload = payload.replace("bench-template", id.as_str());
        log.append(payload.as_bytes(), Sync::Later)?;
    }
    Ok(())
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// A host with so many live processes: at rest, with some of them at full speed, and killed.
pub(crate) fn live(programs: &Programs, load: Load) -> Outcome<Value> {
    let mut stage = Stage::new(programs)?;
    stage.start()?;
    let mut client = stage.connect()?;
    let begin = Instant::now();
    for nth in 0..load.live {
        let id = conversation(nth)?;
        let message = stage.message(&id, "hello")?;
        stage.runtime.block_on(client.request(message))?;
        stage.follow(&mut client, &id)?;
    }
    stage.results(&mut client, load.live)?;
    let started = begin.elapsed();
    stage.pause(Duration::from_secs(1));
    let rest = stage.at_rest(load.seconds);
    let runs = stage.runs();
    let sum = |pids: &mut dyn Iterator<Item = u32>| pids.map(meter::proportional_kb).sum::<u64>();
    let shims = sum(&mut runs.iter().map(|run| run.shim_pid));
    let clis = sum(&mut runs.iter().map(|run| run.pid));
    let streaming = if load.streams > 0 {
        streaming(&stage, &mut client, load)?
    } else {
        Value::Null
    };
    let after = json!({
        "rss_kb": meter::resident_kb(stage.pid()),
        "pss_kb": meter::proportional_kb(stage.pid()),
    });
    let mut kills = Vec::new();
    if load.streams > 0 {
        let id = conversation(0)?;
        stage.say(&mut client, &id, &paced(100_000, 5))?;
        for _ in 0..KILLS {
            drop(client);
            stage.kill_host();
            let (kill, next) = taken_up(&mut stage, &id, load.live)?;
            kills.push(kill);
            client = next;
        }
    }
    Ok(json!({
        "live": runs.len(), "started_us": micros(started), "rest": rest, "shims_pss_kb": shims,
        "clis_pss_kb": clis, "streaming": streaming, "after": after, "kills": kills,
    }))
}

/// Some conversations stream as fast as they can; every delta must arrive.
fn streaming(stage: &Stage, client: &mut Client, load: Load) -> Outcome<Value> {
    let pid = stage.pid();
    meter::forget_peak(pid)?;
    let (begin, cpu) = (Instant::now(), meter::cpu_seconds(pid));
    let own = meter::cpu_seconds(std::process::id());
    for nth in 0..load.streams {
        let message = stage.message(&conversation(nth)?, &paced(load.deltas, 0))?;
        stage.runtime.block_on(client.send(message))?;
    }
    let (mut deltas, mut events, mut results) = (0, 0_u64, 0);
    stage.watch(client, |event| {
        events += 1;
        if let ClaudeEvent::Text(text) = &event.event {
            deltas += text.content.split_ascii_whitespace().count();
        }
        results += usize::from(matches!(event.event, ClaudeEvent::Result(_)));
        results == load.streams
    })?;
    if deltas != load.streams * load.deltas {
        return Err(format!("{deltas} deltas arrived").into());
    }
    Ok(json!({
        "deltas": deltas,
        "events": events,
        "wall_us": micros(begin.elapsed()),
        "cpu_seconds": meter::cpu_seconds(pid) - cpu,
        "client_cpu_seconds": meter::cpu_seconds(std::process::id()) - own,
        "peak_kb": meter::peak_kb(pid),
    }))
}

/// Starts a host on runs that live, until all are attached and one that streams is heard.
fn taken_up(stage: &mut Stage, id: &ConversationId, count: usize) -> Outcome<(Value, Client)> {
    let begin = Instant::now();
    let ready = stage.start()?;
    let mut client = stage.connect()?;
    stage.follow(&mut client, id)?;
    stage.watch(&mut client, |event| {
        matches!(event.event, ClaudeEvent::Text(_))
    })?;
    let heard = begin.elapsed();
    let all = stage.runtime.block_on(client.status(None))?;
    let attached = all
        .iter()
        .filter_map(|status| status.evidence.as_ref())
        .filter(|evidence| evidence.lock_held && evidence.pid.is_some())
        .count();
    if attached != count {
        return Err(format!("{attached} of {count} runs were attached").into());
    }
    let kill = json!({
        "ready_us": micros(ready), "heard_us": micros(heard), "attached_us": micros(begin.elapsed()),
    });
    Ok((kill, client))
}

/// The same streams with nobody reading: each CLI writes to a file.
pub(crate) fn unread(programs: &Programs, streams: usize, deltas: usize) -> Outcome<Value> {
    let stage = Stage::new(programs)?;
    let begin = Instant::now();
    let mut clis = Vec::new();
    for nth in 0..streams {
        let path = stage.file(&format!("journal-{nth}"));
        let journal = OpenOptions::new().append(true).create(true).open(&path)?;
        let mut cli = stage.bare_cli().stdout(Stdio::from(journal)).spawn()?;
        let mut input = cli.stdin.take().ok_or("the CLI has no input")?;
        input.write_all(prompt_line(&paced(deltas, 0)).as_bytes())?;
        // The end of the input ends it after the turn.
        drop(input);
        clis.push(cli);
    }
    for cli in &mut clis {
        cli.wait()?;
    }
    Ok(json!({"deltas": streams * deltas, "wall_us": micros(begin.elapsed())}))
}
