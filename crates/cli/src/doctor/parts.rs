//! The parts that run now, and whether they are of the same build.

use estelle_host::data::socket;
use estelle_host::ipc::{Client, ConnectError};

use super::{Check, Patient};
use crate::client::ClientArgs;

const OWN: &str = env!("CARGO_PKG_VERSION");

pub(super) async fn examine(patient: &Patient) -> Vec<Check> {
    let mut checks = vec![host(patient).await];
    if patient.is_up {
        checks.push(relay(patient).await);
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

async fn relay(patient: &Patient) -> Check {
    let client = ClientArgs::of_folder(patient.data.clone());
    match client.presence().await {
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
