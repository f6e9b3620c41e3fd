//! Builds and runs the fuzz targets of `fuzz/` with the stable compiler.
//!
//! The coverage instrumentation of LLVM is reachable on stable through plain code generation flags; with an
//! explicit `--target` they apply to the targets and their dependencies and not to build scripts. What a run
//! finds stays in `fuzz/corpus/<target>`, what makes it fail in `fuzz/artifacts/<target>`; both are ignored by git.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};

use crate::command::{self, Watch};
use crate::workspace;

const BUILD_LIMIT: Duration = Duration::from_mins(15);
/// What a target may take beyond its fuzzing time: reading the corpus, the last input.
const GRACE: Duration = Duration::from_mins(1);
/// Largest input, in bytes: room for several long lines, small enough for many runs per second.
const LONGEST_INPUT: u32 = 65536;

const FLAGS: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 -Cdebug-assertions";

/// Runs every target for the given time.
pub(crate) fn run(seconds: u64, watch: Watch<'_>) -> anyhow::Result<()> {
    let folder = workspace::root().join("fuzz");
    let targets = targets(&folder.join("fuzz_targets"))?;
    let host = host_triple()?;
    let products = workspace::target().join("fuzz");
    let mut build = workspace::cargo(&[
        "build",
        "--release",
        "--bins",
        "--locked",
        "--target",
        &host,
    ]);
    build
        .arg("--manifest-path")
        .arg(folder.join("Cargo.toml"))
        .env("CARGO_TARGET_DIR", &products)
        .env("RUSTFLAGS", FLAGS);
    command::run(&mut build, BUILD_LIMIT, watch).context("the fuzz targets do not build")?;
    write_cases(&folder)?;
    let programs = products.join(&host).join("release");
    // A target uses one core, and the smallest machine this is meant for has two.
    for pair in targets.chunks(2) {
        let [first, rest @ ..] = pair else { continue };
        let play = |target: &String, watch: Watch<'_>| {
            fuzz(&folder, target, &programs.join(target), seconds, watch)
        };
        std::thread::scope(|scope| {
            let beside: Vec<_> = rest
                .iter()
                .map(|target| scope.spawn(move || play(target, &mut |_, _| {})))
                .collect();
            let mut played = play(first, watch);
            for other in beside {
                let other = other
                    .join()
                    .unwrap_or_else(|_| bail!("the thread of a fuzz target ended early"));
                played = played.and(other);
            }
            played
        })?;
    }
    Ok(())
}

/// Gives the shell target what the policy's tests know: each command line of their cases is an input to start from.
fn write_cases(folder: &Path) -> anyhow::Result<()> {
    let corpus = folder.join("corpus/shell");
    std::fs::create_dir_all(&corpus)
        .with_context(|| format!("failed to create {}", corpus.display()))?;
    for kind in ["doubted", "harmless", "refused"] {
        let cases = workspace::root().join(format!("crates/state/tests/it/cases/{kind}.txt"));
        let text = std::fs::read_to_string(&cases)
            .with_context(|| format!("failed to read {}", cases.display()))?;
        let lines = text.lines().filter(|line| !line.starts_with(['#', '[']));
        for (number, line) in lines.enumerate() {
            std::fs::write(corpus.join(format!("{kind}-{number}")), line)
                .with_context(|| format!("failed to write into {}", corpus.display()))?;
        }
    }
    Ok(())
}

/// Inputs that are kept in the repository. The golden messages of the protocol are some as they are.
fn seeds(folder: &Path, target: &str) -> Vec<PathBuf> {
    let mut folders = vec![folder.join("seeds").join(target)];
    if target == "message" {
        folders.push(workspace::root().join("fixtures/proto/v1"));
    }
    folders.retain(|seeds| seeds.is_dir());
    folders
}

fn fuzz(
    folder: &Path,
    target: &str,
    program: &Path,
    seconds: u64,
    watch: Watch<'_>,
) -> anyhow::Result<()> {
    let corpus = folder.join("corpus").join(target);
    let artifacts = folder.join("artifacts").join(target);
    for made in [&corpus, &artifacts] {
        std::fs::create_dir_all(made)
            .with_context(|| format!("failed to create {}", made.display()))?;
    }
    let mut run = workspace::at_root(Command::new(program));
    run.arg(&corpus);
    // New finds go to the first folder only.
    run.args(seeds(folder, target));
    // The same beginning everywhere; how far a machine gets in the time depends on it. Another seed hunts for more.
    let seed = std::env::var("ESTELLE_FUZZ_SEED").unwrap_or_else(|_| "1".to_owned());
    run.arg(format!("-seed={seed}"))
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-max_len={LONGEST_INPUT}"))
        .arg(format!("-artifact_prefix={}/", artifacts.display()))
        .args(["-print_final_stats=1", "-timeout=10", "-rss_limit_mb=2048"]);
    let begin = Instant::now();
    let output =
        command::run(&mut run, Duration::from_secs(seconds) + GRACE, watch).with_context(|| {
            format!("fuzz target {target} found an input that fails, see fuzz/artifacts/{target}")
        })?;
    let played = begin.elapsed();
    ensure!(
        played >= Duration::from_secs(seconds),
        "fuzz target {target} ended by itself after {:.1} s of {seconds}",
        played.as_secs_f64()
    );
    println!(
        "    {target}: {} in {:.0} s",
        executions(&output)?,
        played.as_secs_f64()
    );
    Ok(())
}

/// A run that executed nothing would pass without having tested anything.
fn executions(output: &str) -> anyhow::Result<String> {
    let mut lines = output.lines();
    let count = lines.find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
    match count.map(|count| count.trim().parse::<u64>()) {
        Some(Ok(count)) if count > 0 => Ok(format!("{count} inputs, no failure")),
        _ => bail!("the fuzz target executed no input"),
    }
}

fn targets(folder: &Path) -> anyhow::Result<Vec<String>> {
    let entries = std::fs::read_dir(folder)
        .with_context(|| format!("failed to list {}", folder.display()))?;
    let files = entries.flatten().map(|entry| entry.path());
    let mut names: Vec<String> = files.filter_map(|file| target_name(&file)).collect();
    names.sort();
    if names.is_empty() {
        bail!("there is no fuzz target in {}", folder.display());
    }
    Ok(names)
}

fn target_name(file: &PathBuf) -> Option<String> {
    let is_rust = Path::new(file).extension()? == "rs";
    let name = file.file_stem()?.to_str()?;
    is_rust.then(|| name.to_owned())
}

fn host_triple() -> anyhow::Result<String> {
    let answer = command::probe(workspace::at_root(Command::new("rustc")).arg("-vV"))
        .context("failed to ask rustc for its host")?;
    let host = answer.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc names no host")?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_without_executions_is_a_failure() {
        assert_eq!(
            executions("x\nstat::number_of_executed_units: 12\n").unwrap(),
            "12 inputs, no failure"
        );
        assert!(executions("stat::number_of_executed_units: 0\n").is_err());
        assert!(executions("nothing\n").is_err());
    }

    #[test]
    fn a_folder_without_targets_is_a_failure() {
        let folder = tempfile::tempdir().unwrap();
        assert!(targets(folder.path()).is_err());
        std::fs::write(folder.path().join("lines.rs"), "").unwrap();
        std::fs::write(folder.path().join("notes.txt"), "").unwrap();
        assert_eq!(targets(folder.path()).unwrap(), ["lines"]);
    }
}
