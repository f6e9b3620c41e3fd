//! The parts that run now, and whether they are of the same build.

use estelle_host::data::socket;
use estelle_host::ipc::{Client, ConnectError};

use estelle_proto::{IsoTime, Timestamp};

use super::{Check, Patient};
use crate::client::{ClientArgs, Presence, now};
use crate::up::{DENY_FIRST, host_args};

/// How far two clocks may be apart, in milliseconds.
const APART_MS: i64 = 30_000;
const OWN: &str = env!("CARGO_PKG_VERSION");

pub(super) async fn examine(patient: &Patient) -> Vec<Check> {
    let mut checks = vec![host(patient).await, order(patient)];
    if patient.is_up {
        checks.extend(relay(patient).await);
    } else {
        let found = format!("`estelle up` does not run on {}", patient.data.display());
        let advice = "start it, or `estelle service install` so that it always runs";
        checks.push(Check::warning("up", found, advice));
        checks.push(port(patient).await);
    }
    checks
}

async fn host(patient: &Patient) -> Check {
    match Client::connect(&socket(&patient.data)).await {
        Ok(client) => {
            let build = client.hello().build.clone();
            if build == OWN {
                return Check::good("host", build);
            }
            let advice =
                "it goes on; to replace it: `estelle host stop`, then `estelle up`. Runs live on";
            Check::warning("host", format!("{build}, and this is {OWN}"), advice)
        }
        Err(ConnectError::NoHost { .. }) if patient.is_up => Check::bad(
            "host",
            "it does not run, although `estelle up` does",
            "`estelle logs host` says why",
        ),
        Err(ConnectError::NoHost { .. }) => Check::good("host", "it does not run"),
        Err(error) => Check::bad("host", format!("{error}"), "`estelle logs host` says more"),
    }
}

/// In which order calls are judged. A host that runs has the order that it was started with.
fn order(patient: &Patient) -> Check {
    let configured = patient.config.host.deny_first;
    let started = host_args(&patient.data);
    let in_force = if patient.is_up && !started.is_empty() {
        started.iter().any(|arg| arg == DENY_FIRST)
    } else {
        configured
    };
    if in_force != configured {
        let found = format!("the host judges with `deny_first = {in_force}`, not as configured");
        return Check::warning("policy", found, "start `estelle up` anew; runs live on");
    }
    if in_force {
        let found = "what must not be touched or run is refused first, in every mode";
        return Check::good("policy", found);
    }
    Check::warning(
        "policy",
        "modes come before the lists of what must not be touched or run: acceptEdits and bypassPermissions pass them by",
        "set `host.deny_first = true`, so that these lists hold in every mode",
    )
}

async fn relay(patient: &Patient) -> Vec<Check> {
    let client = ClientArgs::of_folder(patient.data.clone());
    let began = now();
    let presence = client.presence().await;
    let theirs = presence.as_ref().ok();
    let theirs = theirs.and_then(|presence| presence.let_in_at.clone());
    let clock = theirs.map(|theirs| relay_clock(&theirs, began, now()));
    std::iter::once(joined(presence)).chain(clock).collect()
}

/// Whether the clock of the relay goes with ours: it let us in between two moments of ours.
fn relay_clock(theirs: &IsoTime, began: Timestamp, ended: Timestamp) -> Check {
    // All of them are of one form and in UTC, so that texts compare as times do.
    let earliest = IsoTime::from(Timestamp(began.0.saturating_sub(APART_MS)));
    let latest = IsoTime::from(Timestamp(ended.0.saturating_add(APART_MS)));
    if (earliest.as_str()..=latest.as_str()).contains(&theirs.as_str()) {
        return Check::good("relay", "its clock goes with ours");
    }
    let found = format!(
        "its clock shows {theirs}, and ours {}",
        IsoTime::from(ended)
    );
    let advice = "let both be kept by NTP: secrets and pairings expire by the clock of the relay";
    Check::warning("relay", found, advice)
}

fn joined(presence: anyhow::Result<Presence>) -> Check {
    match presence {
        Ok(presence) if presence.machines.is_empty() => Check::bad(
            "up",
            "the relay answers, and the Pylon has not joined it",
            "`estelle logs pylon` says why",
        ),
        Ok(presence) => {
            let build = presence
                .relay_build
                .unwrap_or_else(|| "an older build".to_owned());
            let machines = presence.machines.join(", ");
            let found = format!("relay {build} at {}, machines: {machines}", presence.url);
            if build == OWN {
                return Check::good("up", found);
            }
            Check::warning(
                "up",
                found,
                format!("this is {OWN}: start `estelle up` anew"),
            )
        }
        Err(error) => Check::bad("up", format!("{error:#}"), "`estelle logs relay` says more"),
    }
}

/// Whether the relay could listen.
async fn port(patient: &Patient) -> Check {
    let listen = patient.config.relay.listen;
    match tokio::net::TcpListener::bind(listen).await {
        Ok(_) => Check::good("port", format!("{listen} is free")),
        Err(error) => Check::bad(
            "port",
            format!("{listen} cannot be used: {error}"),
            "end what uses it, or set `relay.listen`",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Health;
    use super::*;

    #[test]
    fn the_order_in_force_is_told_and_the_safe_one_recommended() {
        let folder = tempfile::tempdir().unwrap();
        let mut patient = Patient {
            config: crate::config::Config::default(),
            data: folder.path().to_owned(),
            is_up: true,
        };
        let usual = order(&patient);
        assert_eq!(usual.health, Health::Warning);
        assert!(usual.advice.unwrap().contains("host.deny_first = true"));
        patient.config.host.deny_first = true;
        assert_eq!(order(&patient).health, Health::Good);
        let record = r#"{"pid":1,"args":["--claude","claude"]}"#;
        std::fs::write(folder.path().join("up-host.json"), record).unwrap();
        let other = order(&patient);
        assert!(other.found.contains("deny_first = false"), "{other}");
        patient.is_up = false;
        assert_eq!(order(&patient).health, Health::Good);
    }

    #[test]
    fn a_clock_that_is_far_from_ours_is_told() {
        let (began, ended) = (Timestamp(1_800_000_000_000), Timestamp(1_800_000_001_000));
        let health = |theirs: i64| {
            let theirs = IsoTime::from(Timestamp(theirs));
            relay_clock(&theirs, began, ended).health
        };
        assert_eq!(health(began.0), Health::Good);
        assert_eq!(health(began.0 - 29_000), Health::Good);
        assert_eq!(health(began.0 - 31_000), Health::Warning);
        assert_eq!(health(ended.0 + 31_000), Health::Warning);
    }
}
