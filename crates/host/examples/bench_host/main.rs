//! One measurement of the host, for `cargo xtask bench host`.
//!
//! `bench_host <estelle> <simulator> <folder> <what> ...` starts what it needs below the folder, measures, ends what it
//! started, and prints one line of JSON. The host is the real program in a process of its own, the CLI behind it the
//! simulator; what it is compared with (a bare pipe, a bare journal, a bare file) is measured here with nothing of ours
//! in between.

mod crowd;
mod disk;
mod latency;
mod meter;
mod stage;

use std::path::PathBuf;

use serde_json::Value;

use crate::latency::{Placement, Reader};
use crate::stage::Programs;

/// Whatever goes wrong ends the measurement.
pub(crate) type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [estelle, simulator, folder, what, rest @ ..] = arguments.as_slice() else {
        return Err("usage: bench_host <estelle> <simulator> <folder> <what> ...".into());
    };
    let programs = Programs {
        estelle: PathBuf::from(estelle),
        simulator: PathBuf::from(simulator),
        folder: PathBuf::from(folder),
    };
    let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
    println!("{}", measure(&programs, what, &rest)?);
    Ok(())
}

fn measure(programs: &Programs, what: &str, rest: &[&str]) -> Outcome<Value> {
    match (what, rest) {
        ("latency", [reader, deltas, host_core, cli_core]) => {
            let placement = Placement {
                host: host_core.parse()?,
                cli: cli_core.parse()?,
            };
            latency::measure(programs, Reader::parse(reader)?, deltas.parse()?, placement)
        }
        ("logs", [count, seconds]) => crowd::logs(programs, count.parse()?, seconds.parse()?),
        ("live", [count, seconds, streams, deltas]) => {
            let load = crowd::Load {
                live: count.parse()?,
                seconds: seconds.parse()?,
                streams: streams.parse()?,
                deltas: deltas.parse()?,
            };
            crowd::live(programs, load)
        }
        ("unread", [streams, deltas]) => crowd::unread(programs, streams.parse()?, deltas.parse()?),
        ("append", [records, synced]) => disk::append(programs, records.parse()?, synced.parse()?),
        ("start", [count, events]) => disk::start(programs, count.parse()?, events.parse()?),
        ("open", [events]) => disk::open(programs, events.parse()?),
        _ => Err(format!("there is nothing to measure by the name {what:?} with {rest:?}").into()),
    }
}
