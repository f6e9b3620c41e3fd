//! `${VAR}` and `${VAR:-default}` in server configurations.
//!
//! The rules are the CLI's own for `--mcp-config` and `.mcp.json`: a variable that is unset and has no default stays
//! as it is written, a bare `$VAR` is plain text, and what a variable holds is not looked at again. Needed only where
//! the CLI does not do it itself (`mcp_set_servers`) and for paths this crate resolves.

use std::collections::BTreeMap;

use super::config::{McpServerConfig, RemoteServer, StdioServer};

impl McpServerConfig {
    /// Replaces variables in the command, arguments, environment, working directory, URL and headers with what
    /// `lookup` gives for them.
    ///
    /// `--mcp-config` needs no such step; the servers of `mcp_set_servers` do.
    #[must_use]
    pub fn expand_variables(self, lookup: impl Fn(&str) -> Option<String>) -> Self {
        let expand = |text: &str| expand(text, &lookup);
        match self {
            Self::Stdio(server) => Self::Stdio(StdioServer {
                command: expand(&server.command),
                args: server.args.iter().map(|arg| expand(arg)).collect(),
                env: expand_values(&server.env, expand),
                cwd: server.cwd.map(|cwd| expand(&cwd.to_string_lossy()).into()),
                ..server
            }),
            Self::Sse(server) => Self::Sse(expand_remote(server, expand)),
            Self::Http(server) => Self::Http(expand_remote(server, expand)),
            unchanged @ (Self::Sdk(_) | Self::Other(_)) => unchanged,
        }
    }
}

fn expand_remote(server: RemoteServer, expand: impl Fn(&str) -> String) -> RemoteServer {
    RemoteServer {
        url: expand(&server.url),
        headers: expand_values(&server.headers, expand),
        ..server
    }
}

fn expand_values(
    map: &BTreeMap<String, String>,
    expand: impl Fn(&str) -> String,
) -> BTreeMap<String, String> {
    map.iter()
        .map(|(key, value)| (key.clone(), expand(value)))
        .collect()
}

fn expand(text: &str, lookup: &impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let Some(length) = rest[start..].find('}') else {
            break;
        };
        let written = &rest[start..=start + length];
        out.push_str(&rest[..start]);
        out.push_str(&value_of(written, lookup));
        rest = &rest[start + length + 1..];
    }
    out.push_str(rest);
    out
}

/// What stands for `written`, which is `${…}`.
fn value_of(written: &str, lookup: &impl Fn(&str) -> Option<String>) -> String {
    let inside = &written[2..written.len() - 1];
    let (name, default) = match inside.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (inside, None),
    };
    lookup(name)
        .or_else(|| default.map(str::to_owned))
        .unwrap_or_else(|| written.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lookup(name: &str) -> Option<String> {
        match name {
            "A" => Some("one".to_owned()),
            "LOOP" => Some("${A}".to_owned()),
            _ => None,
        }
    }

    #[test]
    fn text_is_expanded_as_the_cli_does() {
        for (text, expected) in [
            ("${A}", "one"),
            ("x${A}y${A}z", "xoneyonez"),
            ("${NONE:-d}", "d"),
            ("${A:-d}", "one"),
            ("${NONE:-}", ""),
            ("${NONE:-a:-b}", "a:-b"),
            ("${NONE}", "${NONE}"),
            ("$A ${", "$A ${"),
            ("${A} ${A", "one ${A"),
            ("${LOOP}", "${A}"),
            ("ä${A}ö", "äoneö"),
        ] {
            assert_eq!(expand(text, &lookup), expected, "{text}");
        }
    }

    #[test]
    fn every_text_of_a_server_is_expanded() {
        let stdio = StdioServer::new("${A}")
            .arg("${A}")
            .env("K", "${A}")
            .cwd("${A}/x");
        let McpServerConfig::Stdio(stdio) = McpServerConfig::from(stdio).expand_variables(lookup)
        else {
            panic!("still stdio");
        };
        assert_eq!(
            stdio,
            StdioServer::new("one")
                .arg("one")
                .env("K", "one")
                .cwd("one/x")
        );

        let remote = RemoteServer::new("http://${A}/").header("H", "${A}");
        let McpServerConfig::Http(remote) = McpServerConfig::Http(remote).expand_variables(lookup)
        else {
            panic!("still http");
        };
        assert_eq!(remote, RemoteServer::new("http://one/").header("H", "one"));
    }
}
