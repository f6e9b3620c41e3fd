//! The machine and the versions that figures were taken with, and which of its cores may be used.

use std::process::Command;

use anyhow::{Context as _, bail};

use super::peers::{self, Peers};
use crate::command;

/// One line per fact, for the document.
pub(crate) fn describe(peers: &Peers) -> anyhow::Result<String> {
    let node = node()?;
    let python = version(Command::new(peers::python(&peers.python)).arg("--version"))?;
    Ok(format!(
        "{}\
         - TypeScript SDK {} on {node}\n\
         - Python SDK {} on {python}\n\
         {}",
        hardware(),
        peers.typescript_version,
        peers.python_version,
        compiler()?,
    ))
}

/// Node, with its version.
pub(crate) fn node() -> anyhow::Result<String> {
    let version = version(Command::new("node").arg("--version"))?;
    Ok(format!("node {}", version.trim_start_matches('v')))
}

/// The same where nobody else takes part.
pub(crate) fn ours() -> anyhow::Result<String> {
    Ok(format!("{}{}", hardware(), compiler()?))
}

/// How many programs wanted to run in the last minute, for the document: others slow everything down.
pub(crate) fn load() -> String {
    let average = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let minute = average.split(' ').next().unwrap_or("unknown");
    format!("- Load of the machine before anything was measured: {minute}\n")
}

fn version(program: &mut Command) -> anyhow::Result<String> {
    Ok(command::probe(program)?.trim().to_owned())
}

fn hardware() -> String {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(':'))
        .map_or("unknown processor", |(_, model)| model.trim());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let (system, architecture) = (std::env::consts::OS, std::env::consts::ARCH);
    format!("- Machine: {model}, {cores} cores, {system} {architecture}\n")
}

fn compiler() -> anyhow::Result<String> {
    let rust = version(Command::new("rustc").arg("--version"))?;
    // The hash and the date of the compiler say nothing that its version does not.
    let rust = rust.split(" (").next().unwrap_or(&rust);
    Ok(format!(
        "- Ours with {rust}, optimised as in the workspace's release profile\n"
    ))
}

/// Two cores that this process may run on.
pub(crate) fn two_cores() -> anyhow::Result<[usize; 2]> {
    let status =
        std::fs::read_to_string("/proc/self/status").context("failed to read /proc/self/status")?;
    let list = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    match cores_of(list.unwrap_or_default()).as_slice() {
        [first, second, ..] => Ok([*first, *second]),
        _ => bail!("the round trip between two cores needs a machine with two; this one has fewer"),
    }
}

/// Reads a list like `0-3,8`.
fn cores_of(text: &str) -> Vec<usize> {
    let mut cores = Vec::new();
    for range in text.trim().split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        if let (Ok(first), Ok(last)) = (first.parse::<usize>(), last.parse::<usize>()) {
            cores.extend(first..=last);
        }
    }
    cores
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_cores_has_ranges_and_single_ones() {
        assert_eq!(cores_of("\t0-2,7\n"), [0, 1, 2, 7]);
        assert_eq!(cores_of(""), [] as [usize; 0]);
    }
}
