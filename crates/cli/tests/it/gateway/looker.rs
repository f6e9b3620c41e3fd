//! Somebody who looks at a terminal of the gateway with a terminal of their own, and what is left of terminals.

use std::num::NonZeroU16;
use std::time::Duration;

use serde_json::{Value, json};

use super::client::{Api, PATIENCE, Watcher};
use crate::up::stage::Machine;

/// Somebody who looks at a terminal with a terminal of their own.
pub(crate) struct Looker {
    pub(crate) watcher: Watcher,
    pub(crate) screen: vt100::Parser,
}

fn blank(cols: u64, rows: u64) -> vt100::Parser {
    let sure = |count: u64| NonZeroU16::new(u16::try_from(count).unwrap()).unwrap();
    vt100::Parser::new(sure(rows), sure(cols), 5000)
}

impl Looker {
    pub(crate) async fn at(api: &Api, id: &str, query: &str) -> Self {
        let bearer = format!("Bearer {}", api.token);
        let path = format!("/ws/terminals/{id}{query}");
        let socket = api.knock(&path, &[("authorization", &bearer)]).await;
        let mut looker = Self {
            watcher: Watcher {
                socket: socket.unwrap(),
                seen: Vec::new(),
            },
            screen: blank(80, 24),
        };
        let attached = looker.watcher.next().await.unwrap();
        assert_eq!(attached["type"], "attached", "{attached}");
        let notice = attached["notice"].as_str().unwrap();
        assert!(notice.contains("Nobody is asked"), "{notice}");
        looker
    }

    pub(crate) async fn types(&mut self, data: &str) {
        self.watcher
            .say(json!({"type": "input", "data": data}))
            .await;
    }

    /// Takes the next message in.
    pub(crate) async fn see(&mut self) -> Value {
        let seen = self.try_see().await;
        seen.unwrap_or_else(|code| panic!("closed with {code:?} after\n{}", self.shown()))
    }

    /// The same, or the code with which the connection was closed.
    pub(crate) async fn try_see(&mut self) -> Result<Value, Option<u16>> {
        let next = tokio::time::timeout(Duration::from_secs(39), self.watcher.next()).await;
        let message = next.unwrap_or_else(|_| panic!("nothing more after\n{}", self.shown()));
        let message = message.map_err(|frame| frame.map(|frame| frame.code.into()))?;
        // What a flood printed is not kept twice.
        self.watcher.seen.clear();
        let data = message["data"].as_str().unwrap_or_default();
        if message["type"] == "screen" {
            let size = |name: &str| message[name].as_u64().unwrap();
            self.screen = blank(size("cols"), size("rows"));
        }
        self.screen.process(data.as_bytes());
        Ok(message)
    }

    pub(crate) fn shown(&self) -> String {
        self.screen.screen().contents()
    }

    /// Reads on until the screen shows something.
    pub(crate) async fn until_shown(&mut self, wanted: &str) {
        while !self.shown().contains(wanted) {
            let message = self.see().await;
            assert_ne!(message["type"], "exit", "{message}\n{}", self.shown());
        }
    }

    pub(crate) async fn until_exit(&mut self) -> Value {
        loop {
            let message = self.see().await;
            if message["type"] == "exit" {
                return message;
            }
        }
    }
}

pub(crate) async fn shell(api: &Api, machine: &Machine) -> String {
    let wanted = json!({"kind": "shell", "cols": 80, "rows": 24, "path": machine.path("work")});
    let made = api.call("POST /api/terminals", Some(wanted)).await;
    assert_eq!(made.status, 201, "{made:?}");
    let made = made.json();
    assert_eq!(made["terminal"]["state"], "running", "{made}");
    made["terminal"]["id"].as_str().unwrap().to_owned()
}

/// Waits until a process is gone.
pub(crate) async fn gone(pid: u32) {
    let is_there = || std::path::Path::new(&format!("/proc/{pid}")).exists();
    let end = async {
        while is_there() {
            tokio::task::yield_now().await;
        }
    };
    let end = tokio::time::timeout(PATIENCE, end).await;
    assert!(end.is_ok(), "process {pid} is still there");
}

/// The processes that carry the mark of a terminal.
pub(crate) fn marked(id: &str) -> Vec<u32> {
    let mark = format!("ESTELLE_TERMINAL={id}\0");
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| {
        let env = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        String::from_utf8_lossy(&env).contains(&mark)
    })
    .collect()
}
