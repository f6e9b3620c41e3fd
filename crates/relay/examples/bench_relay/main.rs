//! One measurement of a relay, for `cargo xtask bench relay`.
//!
//! `bench_relay <estelle> <script> <folder> <relay> <core> <own core> <what> ...` starts a relay as a process of its own,
//! talks to it over the loopback, checks that everything arrived, and prints one line of JSON. The relay is ours, the
//! obvious one on Node (the script), or the floor: the least that any relay must do, with nothing parsed. All three get
//! the same frames from the same clients.

mod candidate;
mod client;
mod crowd;
mod fanout;
mod floor;
mod meter;
mod round_trip;
mod stalled;

use std::path::PathBuf;

use serde_json::Value;

use crate::candidate::{Kind, Place};

/// Whatever goes wrong ends the measurement.
pub(crate) type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if arguments == ["floor"] {
        return floor::serve();
    }
    let [estelle, script, folder, kind, core, own_core, rest @ ..] = arguments.as_slice() else {
        return Err(
            "usage: bench_relay <estelle> <script> <folder> <relay> <core> <own core> <what> ..."
                .into(),
        );
    };
    let place = Place {
        estelle: PathBuf::from(estelle),
        script: PathBuf::from(script),
        folder: PathBuf::from(folder),
        kind: Kind::parse(kind)?,
        core: core.parse().ok(),
    };
    meter::open_many_files()?;
    if let Ok(core) = own_core.parse() {
        meter::pin(core)?;
    }
    println!("{}", measure(&place, rest)?);
    Ok(())
}

fn measure(place: &Place, what: &[&str]) -> Outcome<Value> {
    match what {
        ["round-trip", count] => round_trip::measure(place, count.parse()?),
        ["flood", clients, messages] => {
            let (clients, messages) = (clients.parse()?, messages.parse()?);
            fanout::measure(place, clients, messages, fanout::Tempo::Flood)
        }
        ["paced", clients, messages, rate] => {
            let (clients, messages) = (clients.parse()?, messages.parse()?);
            let tempo = fanout::Tempo::PerSecond(rate.parse()?);
            fanout::measure(place, clients, messages, tempo)
        }
        ["idle", count] => crowd::idle(place, count.parse()?),
        ["join", count] => crowd::join(place, count.parse()?),
        ["stalled", messages] => {
            stalled::measure(place, stalled::Beside::Stalled, messages.parse()?)
        }
        ["alone", messages] => stalled::measure(place, stalled::Beside::Nobody, messages.parse()?),
        other => Err(format!("there is nothing to measure by the name {other:?}").into()),
    }
}
