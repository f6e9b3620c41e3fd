//! `cargo xtask dist`: an archive of a release, its checksum and an install script.
//!
//! ```text
//!   target/dist/estelle-<version>-<machine>.tar.gz    bin/estelle, completions, manual pages, licences, install.sh
//!   target/dist/SHA256SUMS
//!   target/dist/install.sh                            checks the sum of the archive beside it and unpacks it
//! ```
//!
//! There is one program, with the web app inside. The simulated agent of `--demo` is the same file under a second name.
//! What was packed is then installed elsewhere and tried ([`trial`]); an archive that fails is removed.

mod trial;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, bail};

use crate::command::{self, Watch};
use crate::progress::Progress;
use crate::setup::{Cache, Plan, Tool};
use crate::{steps, workspace};

/// A build for release takes its time on a small machine.
const BUILD_LIMIT: Duration = Duration::from_hours(2);
/// Everything else is quick.
const LIMIT: Duration = Duration::from_mins(5);
/// What an archive may have at most.
const MOST_BYTES: u64 = 40 * 1000 * 1000;
/// The program under its second name.
const SIMULATOR: &str = "estelle-sim-claude";
const INSTALL: &str = include_str!("install.sh");
/// Where each shell looks for completions, below the prefix.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "share/bash-completion/completions/estelle"),
    ("zsh", "share/zsh/site-functions/_estelle"),
    ("fish", "share/fish/vendor_completions.d/estelle.fish"),
];

/// Builds and packs.
pub(crate) fn run() -> anyhow::Result<()> {
    let plan = Plan::announce(&Cache::of_user()?, &[Tool::WebPackages])?;
    let mut progress = Progress::new(plan.steps() + 3);
    let tools = plan.carry_out(&mut progress)?;
    // What an earlier run packed must not be taken for this one's.
    let _ = fs::remove_dir_all(workspace::target().join("dist"));
    let web = |watch: Watch<'_>| steps::web_app(&tools, watch, &["build"]).map(drop);
    in_turn(&mut progress, web, build, |watch| {
        let archive = pack(watch)?;
        let dist = workspace::target().join("dist");
        if let Err(error) = trial::run(&dist, &dist.join("trial"), watch) {
            // Nobody is to publish it.
            fs::remove_file(&archive.path)?;
            return Err(error.context("the archive does not work, and was removed"));
        }
        println!(
            "    {} ({} kB)",
            archive.path.display(),
            archive.bytes / 1000
        );
        Ok(())
    });
    progress.finish()
}

/// Each step needs the one before: what an earlier build left is not packed in its place.
fn in_turn(
    progress: &mut Progress,
    web: impl FnOnce(Watch<'_>) -> anyhow::Result<()>,
    build: impl FnOnce(Watch<'_>) -> anyhow::Result<()>,
    pack: impl FnOnce(Watch<'_>) -> anyhow::Result<()>,
) {
    let is_there = progress.step("web", "the web app", web).is_some();
    let is_built = if is_there {
        let program = progress.step("build", "the program for release", build);
        program.is_some()
    } else {
        progress.skip("build", "the web app belongs into the program");
        false
    };
    if is_built {
        progress.step("pack", "the archive, installed and tried", pack);
    } else {
        progress.skip("pack", "there is no new program");
    }
}

fn build(watch: Watch<'_>) -> anyhow::Result<()> {
    let args = ["build", "--release", "--locked", "--package", "estelle"];
    let mut cargo = workspace::cargo(&args);
    cargo.env("CARGO_PROFILE_RELEASE_STRIP", "symbols");
    command::run(&mut cargo, BUILD_LIMIT, watch).context("the build failed")?;
    Ok(())
}

/// What was made.
struct Archive {
    path: PathBuf,
    bytes: u64,
}

fn pack(watch: Watch<'_>) -> anyhow::Result<Archive> {
    let program = workspace::target().join("release/estelle");
    let dist = workspace::target().join("dist");
    let name = format!("estelle-{}-{}", env!("CARGO_PKG_VERSION"), machine());
    let stage = dist.join(&name);
    // What lies there is of an earlier time.
    let _ = fs::remove_dir_all(&stage);
    fill(&program, &stage, watch)?;
    let path = dist.join(format!("{name}.tar.gz"));
    let mut tar = Command::new("tar");
    tar.args([
        "--sort=name",
        "--owner=0",
        "--group=0",
        "--numeric-owner",
        "-czf",
    ])
    .arg(&path)
    .arg("-C")
    .arg(&dist)
    .arg(&name);
    command::run(&mut tar, LIMIT, watch).context("`tar` failed")?;
    let bytes = size(&path)?;
    let mut sums = Command::new("sha256sum");
    sums.arg(format!("{name}.tar.gz")).current_dir(&dist);
    let sums = command::run(&mut sums, LIMIT, watch).context("`sha256sum` failed")?;
    fs::write(dist.join("SHA256SUMS"), format!("{}\n", sums.trim_end()))?;
    put_script(&dist)?;
    Ok(Archive { path, bytes })
}

/// How large an archive is. One that is too large is removed, so that nobody publishes it.
fn size(archive: &Path) -> anyhow::Result<u64> {
    let bytes = archive.metadata()?.len();
    if bytes > MOST_BYTES {
        fs::remove_file(archive)?;
        bail!("the archive has {bytes} bytes, at most {MOST_BYTES} are wanted: it was removed");
    }
    Ok(bytes)
}

/// Puts everything where it belongs below a prefix.
fn fill(program: &Path, stage: &Path, watch: Watch<'_>) -> anyhow::Result<()> {
    let bin = stage.join("bin");
    fs::create_dir_all(&bin)?;
    let own = bin.join("estelle");
    fs::copy(program, &own).with_context(|| format!("failed to copy {}", program.display()))?;
    fs::hard_link(&own, bin.join(SIMULATOR))?;
    let mut man = Command::new(&own);
    man.args(["man", "--dir"]).arg(stage.join("share/man/man1"));
    command::run(&mut man, LIMIT, watch).context("`estelle man` failed")?;
    for (shell, place) in COMPLETIONS {
        let mut completions = Command::new(&own);
        completions.args(["completions", shell]);
        let text = command::run(&mut completions, LIMIT, watch)
            .with_context(|| format!("`estelle completions {shell}` failed"))?;
        let place = stage.join(place);
        fs::create_dir_all(place.parent().unwrap_or(stage))?;
        fs::write(place, text)?;
    }
    let doc = stage.join("share/doc/estelle");
    fs::create_dir_all(&doc)?;
    for file in ["LICENSE-MIT", "LICENSE-APACHE", "README.md"] {
        fs::copy(workspace::root().join(file), doc.join(file))
            .with_context(|| format!("failed to copy {file}"))?;
    }
    put_script(stage)
}

fn put_script(folder: &Path) -> anyhow::Result<()> {
    let script = folder.join("install.sh");
    fs::write(&script, INSTALL)?;
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755))?;
    Ok(())
}

/// The machine that programs built here run on.
fn machine() -> String {
    format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder as a release has it, with a program that says who it is.
    fn release(folder: &Path) -> PathBuf {
        let stage = folder.join("estelle-0.0.0-test");
        let bin = stage.join("bin");
        fs::create_dir_all(&bin).unwrap();
        let program = bin.join("estelle");
        fs::write(&program, "#!/bin/sh\necho estelle 0.0.0\n").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        fs::hard_link(&program, bin.join(SIMULATOR)).unwrap();
        fs::create_dir_all(stage.join("share/man/man1")).unwrap();
        fs::write(stage.join("share/man/man1/estelle.1"), ".TH").unwrap();
        put_script(&stage).unwrap();
        stage
    }

    fn install(from: &Path, prefix: &Path) -> (bool, String) {
        let output = Command::new("sh")
            .arg(from.join("install.sh"))
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("PREFIX", prefix)
            .output()
            .unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8(said).unwrap())
    }

    #[test]
    fn nothing_is_packed_after_a_failure() {
        let packed = |web: fn() -> anyhow::Result<()>, build: fn() -> anyhow::Result<()>| {
            let mut packed = false;
            let mut progress = Progress::new(3);
            in_turn(
                &mut progress,
                |_| web(),
                |_| build(),
                |_| {
                    packed = true;
                    Ok(())
                },
            );
            (packed, progress.finish().is_ok())
        };
        let fails = || anyhow::bail!("broken");
        assert_eq!(packed(|| Ok(()), || Ok(())), (true, true));
        assert_eq!(packed(|| Ok(()), fails), (false, false));
        assert_eq!(packed(fails, || Ok(())), (false, false));
    }

    #[test]
    fn the_script_installs_what_is_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let stage = release(folder.path());
        let prefix = folder.path().join("a prefix");
        for _ in ["once", "and over itself"] {
            let (done, said) = install(&stage, &prefix);
            assert!(done && said.contains("estelle 0.0.0"), "{said}");
        }
        assert!(prefix.join("bin/estelle-sim-claude").exists());
        assert!(prefix.join("share/man/man1/estelle.1").exists());
    }

    #[test]
    fn an_archive_that_is_not_the_one_of_the_sum_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (dist, name) = (folder.path(), "estelle-0.0.0-test");
        release(dist);
        let archive = format!("{name}.tar.gz");
        let tar = Command::new("tar")
            .args(["-czf", &archive, name])
            .current_dir(dist)
            .status();
        assert!(tar.unwrap().success());
        let sums = Command::new("sha256sum")
            .arg(&archive)
            .current_dir(dist)
            .output()
            .unwrap();
        fs::write(dist.join("SHA256SUMS"), sums.stdout).unwrap();
        put_script(dist).unwrap();
        let prefix = dist.join("prefix");
        let (done, said) = install(dist, &prefix);
        assert!(done && prefix.join("bin/estelle").exists(), "{said}");
        fs::remove_dir_all(&prefix).unwrap();
        let mut bytes = fs::read(dist.join(&archive)).unwrap();
        bytes.push(0);
        fs::write(dist.join(&archive), bytes).unwrap();
        let (done, said) = install(dist, &prefix);
        assert!(!done && !prefix.join("bin/estelle").exists(), "{said}");
    }

    #[test]
    fn an_archive_of_more_than_forty_megabytes_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let archive = folder.path().join("estelle.tar.gz");
        let file = fs::File::create(&archive).unwrap();
        file.set_len(40_000_000).unwrap();
        assert_eq!(size(&archive).unwrap(), 40_000_000);
        file.set_len(40_000_001).unwrap();
        let refused = size(&archive).unwrap_err().to_string();
        assert!(refused.contains("40000001 bytes"), "{refused}");
        assert!(!archive.exists(), "it would be published");
    }
}
