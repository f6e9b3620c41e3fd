//! What is counted, in the text format of Prometheus.
//!
//! Counts only: no names, no addresses, no ids. Whoever may read them learns how busy the relay is and nothing else.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

/// Generates the counters with their names and help texts.
macro_rules! counts {
    ($($(#[$doc:meta])* $field:ident: $kind:literal $help:literal,)+) => {
        /// The counters of a relay.
        #[derive(Debug, Default)]
        pub(crate) struct Metrics {
            $(pub(crate) $field: Count,)+
        }

        impl Metrics {
            /// All of them as text.
            pub(crate) fn render(&self) -> String {
                let mut text = String::new();
                $(render(&mut text, stringify!($field), $kind, $help, &self.$field);)+
                text
            }
        }
    };
}

counts! {
    connections: "gauge" "Open connections, authenticated or not.",
    pylons: "gauge" "Pylons that are connected.",
    apps: "gauge" "Apps that are connected.",
    frames_in_total: "counter" "Messages received.",
    bytes_in_total: "counter" "Bytes of messages received.",
    frames_out_total: "counter" "Messages handed to connections.",
    bytes_out_total: "counter" "Bytes of messages handed to connections.",
    logins_total: "counter" "Successful logins.",
    login_refusals_total: "counter" "Refused logins.",
    pairings_total: "counter" "Devices that joined a realm.",
    pair_refusals_total: "counter" "Refused requests to pair.",
    revocations_total: "counter" "Devices taken out of a realm, and secrets replaced.",
    forbidden_total: "counter" "Messages for which the sender lacked the right.",
    undeliverable_total: "counter" "Messages with an addressee that was not there.",
    invalid_total: "counter" "Messages that were no valid message.",
    cut_off_total: "counter" "Connections that were too slow.",
    rate_limited_total: "counter" "Connections that sent too much.",
    refused_requests_total: "counter" "HTTP requests with a wrong host, origin, method or form.",
    refused_connections_total: "counter" "Connections for which there was no room.",
    save_failures_total: "counter" "Times the registry could not be written.",
    unsaved: "gauge" "1 while the registry could not be written the last time, else 0.",
}

/// One number.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    pub(crate) fn add(&self, amount: usize) {
        self.0.fetch_add(amount as u64, Ordering::Relaxed);
    }

    pub(crate) fn one(&self) {
        self.add(1);
    }

    pub(crate) fn less_one(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    pub(crate) fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

fn render(text: &mut String, name: &str, kind: &str, help: &str, count: &Count) {
    let name = format!("estelle_relay_{name}");
    // Writing to a string does not fail.
    let _ = writeln!(text, "# HELP {name} {help}");
    let _ = writeln!(text, "# TYPE {name} {kind}");
    let _ = writeln!(text, "{name} {}", count.get());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_what_prometheus_reads() {
        let metrics = Metrics::default();
        metrics.frames_in_total.add(3);
        let text = metrics.render();
        assert!(text.contains(
            "# HELP estelle_relay_frames_in_total Messages received.\n\
             # TYPE estelle_relay_frames_in_total counter\n\
             estelle_relay_frames_in_total 3\n"
        ));
    }
}
