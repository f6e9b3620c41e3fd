//! The archive as a stranger gets it: installed below a prefix of its own, started, and asked for its page.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};

use crate::command::{self, Watch};

const LIMIT: Duration = Duration::from_mins(2);
/// An answer over the loopback comes sooner.
const PATIENCE: Duration = Duration::from_secs(20);

/// Installs what `dist` has and tries it; everything it makes goes into `scratch`, which is removed.
pub(super) fn run(dist: &Path, scratch: &Path, watch: Watch<'_>) -> anyhow::Result<()> {
    let _ = fs::remove_dir_all(scratch);
    fs::create_dir_all(scratch)?;
    let tried = try_out(dist, scratch, watch);
    let _ = fs::remove_dir_all(scratch);
    tried
}

fn try_out(dist: &Path, scratch: &Path, watch: Watch<'_>) -> anyhow::Result<()> {
    let prefix = scratch.join("prefix");
    let mut install = alone(Path::new("sh"), scratch);
    install.arg(dist.join("install.sh")).env("PREFIX", &prefix);
    let said = command::run(&mut install, LIMIT, watch).context("it cannot be installed")?;
    let version = env!("CARGO_PKG_VERSION");
    ensure!(
        said.contains(version),
        "it does not say that it is {version}: {said}"
    );
    let program = prefix.join("bin/estelle");
    is_stripped(&fs::read(&program)?).context("the program")?;
    let mut up = Up::start(&program, scratch)?;
    let page = up.page();
    up.end()?;
    let page = page?;
    ensure!(
        page.starts_with("HTTP/1.1 200") && page.contains("<script"),
        "the program does not show the web app: {}",
        page.chars().take(400).collect::<String>()
    );
    Ok(())
}

/// A command that knows nothing of this machine.
fn alone(program: &Path, scratch: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", scratch)
        .env("XDG_RUNTIME_DIR", scratch);
    command
}

/// Whether a program for Linux has no table of symbols.
fn is_stripped(program: &[u8]) -> anyhow::Result<()> {
    const SYMBOLS: u32 = 2;
    ensure!(
        program.starts_with(b"\x7fELF"),
        "it is no program for Linux"
    );
    let number = |at: usize, bytes: usize| -> Option<u64> {
        let part = program.get(at..at.checked_add(bytes)?)?;
        let sum = part
            .iter()
            .rev()
            .fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        Some(sum)
    };
    let at = |number: Option<u64>| number.and_then(|number| usize::try_from(number).ok());
    let header = (
        at(number(0x28, 8)),
        at(number(0x3a, 2)),
        at(number(0x3c, 2)),
    );
    let (Some(table), Some(size), Some(count)) = header else {
        bail!("its header is cut off");
    };
    for section in 0..count {
        let kind = number(table + section * size + 4, 4);
        ensure!(kind != Some(u64::from(SYMBOLS)), "it is not stripped");
    }
    Ok(())
}

/// `estelle up --demo`, as it was installed.
struct Up {
    child: Child,
    program: PathBuf,
    scratch: PathBuf,
    address: String,
}

impl Up {
    fn start(program: &Path, scratch: &Path) -> anyhow::Result<Self> {
        let mut command = alone(program, scratch);
        command.args(["up", "--demo", "--json", "--listen", "127.0.0.1:0"]);
        let mut child = command
            .env("ESTELLE_DATA", scratch.join("data"))
            .env("ESTELLE_GATEWAY_LISTEN", "127.0.0.1:0")
            .current_dir(scratch)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        if let Some(output) = child.stdout.take() {
            BufReader::new(output).read_line(&mut line)?;
        }
        let told: serde_json::Value = serde_json::from_str(&line).unwrap_or_default();
        let up = Self {
            address: told["address"].as_str().unwrap_or_default().to_owned(),
            child,
            program: program.to_owned(),
            scratch: scratch.to_owned(),
        };
        if up.address.is_empty() || told["agent"]["simulated"] != true {
            up.end()?;
            bail!("`estelle up --demo --json` said {line:?}");
        }
        Ok(up)
    }

    fn page(&mut self) -> anyhow::Result<String> {
        let host = self.address.trim_end_matches('/');
        let host = host.split_once("://").map_or(host, |(_, host)| host);
        let mut stream = TcpStream::connect(host).context("it does not listen")?;
        stream.set_read_timeout(Some(PATIENCE))?;
        write!(
            stream,
            "GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
        )?;
        let mut page = Vec::new();
        stream.read_to_end(&mut page)?;
        Ok(String::from_utf8_lossy(&page).into_owned())
    }

    fn end(mut self) -> anyhow::Result<()> {
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process(pid, Signal::TERM);
        }
        self.child.wait()?;
        // The host outlives what started it.
        let mut stop = alone(&self.program, &self.scratch);
        stop.env("ESTELLE_DATA", self.scratch.join("data"));
        stop.args(["host", "stop", "--all"]);
        command::run(&mut stop, LIMIT, &mut |_, _| {}).context("the host does not end")?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::is_stripped;

    #[test]
    fn a_program_with_symbols_is_known_by_them() {
        // Nothing strips the tests.
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let refused = is_stripped(&own).unwrap_err().to_string();
        assert!(refused.contains("not stripped"), "{refused}");
        is_stripped(b"#!/bin/sh").unwrap_err();
        is_stripped(&own[..32]).unwrap_err();
    }
}
