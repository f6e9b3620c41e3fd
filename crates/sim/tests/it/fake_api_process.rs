//! The fake API as a process: it says where it listens and ends when its owner goes.

use std::process::Stdio;

use anyhow::Context as _;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

async fn start() -> anyhow::Result<(Child, String)> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_estelle-fake-api"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let mut lines = BufReader::new(child.stdout.take().context("stdout")?).lines();
    let line: Value = serde_json::from_str(&lines.next_line().await?.context("a line")?)?;
    let url = line["url"].as_str().context("a URL")?;
    Ok((
        child,
        url.strip_prefix("http://")
            .context("a plain URL")?
            .to_owned(),
    ))
}

#[tokio::test]
async fn serves_until_standard_input_ends() -> anyhow::Result<()> {
    let (mut child, address) = start().await?;
    let mut stream = TcpStream::connect(&address).await?;
    stream.write_all(b"GET /v1/models HTTP/1.0\r\n\r\n").await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    assert!(answer.contains("claude-opus"), "{answer}");
    drop(child.stdin.take());
    assert!(child.wait().await?.success());
    assert!(TcpStream::connect(&address).await.is_err());
    Ok(())
}

#[tokio::test]
async fn ends_on_sigterm() -> anyhow::Result<()> {
    let (mut child, _) = start().await?;
    let pid = i32::try_from(child.id().context("running")?)?;
    let pid = rustix::process::Pid::from_raw(pid).context("a pid")?;
    rustix::process::kill_process(pid, rustix::process::Signal::TERM)?;
    assert!(child.wait().await?.success());
    Ok(())
}
