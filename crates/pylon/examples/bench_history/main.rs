//! One measurement of the store, for `cargo xtask bench history`.
//!
//! `bench_history fill <folder> <entries> <appends>` makes a store with a conversation of so many entries beside one of a
//! hundred; `bench_history read ours|plain <folder> <times>` asks it for pages and hits. "Plain" is the same database
//! over rusqlite, on the calling thread and without reading what is in a row: the least that any reader must do. Each
//! prints one line of JSON. What Node does with the same texts is in `bench/history`.

mod fill;
mod read;
mod text;

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

/// Whatever goes wrong ends the measurement.
pub(crate) type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let figures = match arguments.as_slice() {
        ["fill", folder, entries, appends] => {
            let (entries, appends) = (entries.parse()?, appends.parse()?);
            runtime.block_on(fill::fill(Path::new(folder), entries, appends))?
        }
        ["read", "ours", folder, times] => {
            runtime.block_on(read::ours(Path::new(folder), times.parse()?))?
        }
        ["read", "plain", folder, times] => read::plain(Path::new(folder), times.parse()?)?,
        other => return Err(format!("there is nothing to do by the name {other:?}").into()),
    };
    println!("{figures}");
    Ok(())
}

/// The middle and the bad end of some timings, in milliseconds.
pub(crate) fn quantiles(mut times: Vec<Duration>) -> Value {
    times.sort_unstable();
    let at = |part: usize| {
        let last = times.len().saturating_sub(1);
        let time = times.get((times.len() * part / 100).min(last));
        time.map(|time| time.as_secs_f64() * 1e3)
    };
    json!({"p50_ms": at(50), "p99_ms": at(99)})
}
