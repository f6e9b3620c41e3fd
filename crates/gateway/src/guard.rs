//! Who may speak to the gateway at all: the host they asked for and the page they come from.
//!
//! A name that points to this machine by trickery is refused on every route and upgrade, and so is a page of another
//! origin. Names are compared whole: a prefix proves nothing. Programs send no origin; they need the token like all.

use std::net::{IpAddr, SocketAddr};

use hyper::Uri;
use hyper::header::{HOST, HeaderMap, HeaderName, ORIGIN};
use hyper::http::uri::Authority;

/// The rules of one gateway.
#[derive(Debug)]
pub(crate) struct Guard {
    hosts: Vec<String>,
    origins: Vec<String>,
}

impl Guard {
    pub(crate) fn new(local: SocketAddr, hosts: &[String], origins: &[String]) -> Self {
        let lower = |texts: &[String]| -> Vec<String> {
            texts.iter().map(|text| text.to_ascii_lowercase()).collect()
        };
        let address = match local.ip().to_canonical() {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => format!("[{address}]"),
        };
        let names = [address.as_str(), "localhost", "127.0.0.1", "[::1]"];
        let mut own: Vec<String> = names
            .map(|name| format!("{name}:{}", local.port()))
            .to_vec();
        if local.port() == 80 {
            own.extend(names.map(str::to_owned));
        }
        own.extend(lower(hosts));
        Self {
            hosts: own,
            origins: lower(origins),
        }
    }

    /// Whether a request may be looked at.
    pub(crate) fn allows(&self, headers: &HeaderMap, uri: &Uri) -> bool {
        let Some(Some(host)) = only(headers, &HOST) else {
            return false;
        };
        let host = host.to_ascii_lowercase();
        let in_uri = uri.authority().map(Authority::as_str);
        if in_uri.is_some_and(|authority| !authority.eq_ignore_ascii_case(&host)) {
            return false;
        }
        self.hosts.contains(&host) && self.allows_origin(headers, &host)
    }

    fn allows_origin(&self, headers: &HeaderMap, host: &str) -> bool {
        match only(headers, &ORIGIN) {
            None => false,
            Some(None) => true,
            Some(Some(origin)) => {
                let origin = origin.to_ascii_lowercase();
                let own = ["http", "https"].map(|scheme| format!("{scheme}://{host}"));
                own.contains(&origin) || self.origins.contains(&origin)
            }
        }
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

#[cfg(test)]
#[path = "guard_tests.rs"]
mod tests;
