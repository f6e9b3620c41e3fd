//! Who may speak to the relay at all: the host they asked for, the page they come from, the address they have.
//!
//! A name that points to this machine by trickery is refused on every route, and so is a page of another origin. Names
//! are compared whole: a prefix proves nothing.

use std::net::{IpAddr, SocketAddr};

use hyper::Uri;
use hyper::header::{HOST, HeaderMap, HeaderName, ORIGIN};
use hyper::http::uri::Authority;

/// The rules of one relay.
#[derive(Debug)]
pub(super) struct Guard {
    hosts: Vec<String>,
    origins: Vec<String>,
    proxies: Vec<IpAddr>,
    schemes: &'static [&'static str],
}

/// How the relay itself is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transport {
    /// Perhaps behind a proxy that speaks TLS.
    Plain,
    Tls,
}

impl Guard {
    pub(super) fn new(
        hosts: &[String],
        origins: &[String],
        proxies: &[IpAddr],
        transport: Transport,
    ) -> Self {
        let lower = |texts: &[String]| texts.iter().map(|text| text.to_ascii_lowercase()).collect();
        Self {
            hosts: lower(hosts),
            origins: lower(origins),
            proxies: proxies.to_vec(),
            schemes: match transport {
                Transport::Plain => &["http", "https"],
                Transport::Tls => &["https"],
            },
        }
    }

    /// The host a request is for, if it is one of ours.
    pub(super) fn host(&self, headers: &HeaderMap, uri: &Uri, local: SocketAddr) -> Option<String> {
        let host = only(headers, &HOST)??.to_ascii_lowercase();
        let in_uri = uri.authority().map(Authority::as_str);
        if in_uri.is_some_and(|authority| !authority.eq_ignore_ascii_case(&host)) {
            return None;
        }
        let is_ours = self.hosts.contains(&host) || self.own_names(local).contains(&host);
        is_ours.then_some(host)
    }

    /// The names under which the address itself is reached.
    fn own_names(&self, local: SocketAddr) -> Vec<String> {
        let (address, port) = (local.ip().to_canonical(), local.port());
        let mut names = vec![bracketed(address)];
        if address.is_loopback() {
            names.extend(["localhost", "127.0.0.1", "[::1]"].map(str::to_owned));
        }
        let usual = if self.schemes.contains(&"http") {
            80
        } else {
            443
        };
        let with_port = names.iter().map(|name| format!("{name}:{port}"));
        let mut all: Vec<String> = with_port.collect();
        if port == usual {
            all.extend(names);
        }
        all
    }

    /// Whether a page may connect. Programs send no origin; they have to authenticate like everybody.
    pub(super) fn allows_origin(&self, headers: &HeaderMap, host: &str) -> bool {
        let Some(origin) = only(headers, &ORIGIN) else {
            return false;
        };
        let Some(origin) = origin.map(str::to_ascii_lowercase) else {
            return true;
        };
        let is_own = |scheme: &&str| origin == format!("{scheme}://{host}");
        self.schemes.iter().any(is_own) || self.origins.contains(&origin)
    }

    /// Whether an address is that of a proxy whose word counts.
    pub(super) fn is_proxy(&self, address: IpAddr) -> bool {
        self.proxies.contains(&address.to_canonical())
    }

    /// Where a request really comes from: what a trusted proxy says, and nobody else.
    pub(super) fn client(&self, headers: &HeaderMap, peer: IpAddr) -> IpAddr {
        if !self.is_proxy(peer) {
            return peer;
        }
        let lines = headers.get_all("x-forwarded-for").iter();
        let lines = lines.filter_map(|line| line.to_str().ok());
        let hops: Vec<IpAddr> = lines
            .flat_map(|line| line.split(','))
            .filter_map(|hop| hop.trim().parse().ok())
            .collect();
        // What stands further left was written by whoever stands to its right.
        let real = hops.into_iter().rev().find(|hop| !self.is_proxy(*hop));
        real.unwrap_or(peer)
    }
}

/// The text of a header that may come once: nothing if it comes twice or is no text.
#[expect(
    clippy::option_option,
    reason = "absent and unusable are different things, and callers treat them differently"
)]
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<Option<&'a str>> {
    let mut values = headers.get_all(name).iter();
    let Some(first) = values.next() else {
        return Some(None);
    };
    match values.next() {
        Some(_) => None,
        None => first.to_str().ok().map(Some),
    }
}

fn bracketed(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    }
}

#[cfg(test)]
#[path = "guard_tests.rs"]
mod tests;
