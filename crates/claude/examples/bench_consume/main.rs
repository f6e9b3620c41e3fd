//! One run of a Rust consumer against the replayer, for `cargo xtask bench sdk`.
//!
//! `bench_consume <consumer> <replayer> [count]`, where the consumer is one of ours (`typed`, `lines`,
//! `permissions`, `idle`) or a raw limit without any of the SDK (`value`, `memchr`, `blocking`). Prints one
//! line of JSON: what was delivered, and the time, processor time and memory it took.

mod measure;
mod raw;
mod sdk;

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [consumer, replayer, rest @ ..] = arguments.as_slice() else {
        return Err("usage: bench_consume <consumer> <replayer> [count]".into());
    };
    let report = match consumer.as_str() {
        "typed" => sdk::typed(replayer)?,
        "lines" => sdk::lines(replayer)?,
        "permissions" => sdk::permissions(replayer)?,
        "idle" => sdk::idle(
            replayer,
            rest.first().map_or(Ok(50), |count| count.parse())?,
        )?,
        "value" => raw::value(replayer)?,
        "memchr" => raw::memchr(replayer)?,
        "blocking" => raw::permissions(replayer)?,
        other => return Err(format!("there is no consumer {other:?}").into()),
    };
    println!("{report}");
    Ok(())
}
