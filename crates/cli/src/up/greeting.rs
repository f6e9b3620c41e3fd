//! What `estelle up` says when everything runs: where the app is, who answers, and what to do next.

use std::fmt;
use std::path::PathBuf;

use estelle_proto::DeviceId;
use serde_json::json;

use crate::chat::agent::{Agent, Kind};
use crate::ending::HostEnd;

/// Everything that is worth saying.
#[derive(Debug)]
pub(super) struct Greeting {
    pub(super) address: String,
    /// Whether other machines can come in.
    pub(super) is_reachable: bool,
    pub(super) data: PathBuf,
    pub(super) agent: Agent,
    pub(super) pylon: DeviceId,
    /// The HTTP interface, if there is one.
    pub(super) gateway: Option<String>,
}

impl Greeting {
    /// For scripts.
    pub(super) fn json(&self) -> serde_json::Value {
        json!({
            "address": self.address,
            "data": self.data,
            "agent": { "simulated": self.agent.is_simulated(), "program": self.agent.path },
            "pylonId": self.pylon,
            "gateway": self.gateway,
        })
    }

    /// When relay and Pylon have ended.
    pub(super) fn farewell(&self, host: HostEnd) -> String {
        let rest = match host {
            HostEnd::Ended => {
                return "Relay, Pylon and host have ended, and the agents with them.".to_owned();
            }
            HostEnd::Left => "the host goes on with what it does.",
            HostEnd::Unknown => "the host may still be ending its agents, or go on with them.",
        };
        format!(
            "Relay and Pylon have ended; {rest}\n\
             To end it as well: estelle host stop --all --data {}",
            self.data.display()
        )
    }
}

impl fmt::Display for Greeting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Estelle is up: {}", self.address)?;
        match self.agent.kind {
            Kind::Claude => writeln!(f, "Answers: {}", self.agent.path.display())?,
            Kind::Simulator => {
                writeln!(
                    f,
                    "Answers: a simulated agent. No account, no network, no real model."
                )?;
            }
            Kind::Substitute => {
                writeln!(
                    f,
                    "Answers: a simulated agent, because there is no `claude` on this machine."
                )?;
                writeln!(
                    f,
                    "         For the real one: npm install -g @anthropic-ai/claude-code, then start again."
                )?;
            }
        }
        writeln!(f, "Data:    {}", self.data.display())?;
        if let Some(gateway) = &self.gateway {
            writeln!(f, "HTTP:    {gateway}/api/docs")?;
        }
        if !self.is_reachable {
            writeln!(
                f,
                "Only this machine can come in. For a phone: estelle up --lan, or relay.public_url behind a proxy."
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn greeting(kind: Kind) -> String {
        let path = PathBuf::from("/usr/bin/claude");
        let greeting = Greeting {
            address: "http://127.0.0.1:7710".to_owned(),
            is_reachable: false,
            data: "/d".into(),
            agent: Agent { path, kind },
            pylon: DeviceId(1),
            gateway: None,
        };
        greeting.to_string()
    }

    #[test]
    fn who_answers_is_said_plainly() {
        assert!(greeting(Kind::Claude).contains("Answers: /usr/bin/claude\n"));
        assert!(greeting(Kind::Simulator).contains("simulated agent"));
        let substitute = greeting(Kind::Substitute);
        assert!(
            substitute.contains("no `claude` on this machine"),
            "{substitute}"
        );
        assert!(
            substitute.contains("npm install -g @anthropic-ai/claude-code"),
            "{substitute}"
        );
    }
}
