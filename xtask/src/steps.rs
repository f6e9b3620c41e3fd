//! The steps of `cargo xtask test`, in the order in which they run, and the choice among them.
//!
//! A step names the tools it needs, so that running one alone installs no more than that. The steps go on after
//! a failure: one run tells everything that is wrong.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, bail};

use crate::command::{self, Watch};
use crate::progress::Progress;
use crate::setup::{Cache, Plan, Tool, Tools, web};
use crate::{chaos, fuzz, gateway, generate, tidy, workspace};

/// A cold build of everything on two cores takes several minutes.
const BUILD_LIMIT: Duration = Duration::from_mins(30);
const TEST_LIMIT: Duration = Duration::from_mins(50);
/// Types, lints, tests and build of the web app take seconds; its pages in a browser minutes, many on a busy machine.
const WEB_LIMIT: Duration = Duration::from_mins(25);
/// Time for each fuzz target; long enough to cover the paths of a reader.
const FUZZ_SECONDS: u64 = 30;

/// Set where one test that failed by bad luck must not throw a whole run away: such a test is played once more, and the
/// run names it. The web app's tests read the same variable. By hand nothing is played twice: a flaky test is a fault.
const SECOND_TRY: &str = "ESTELLE_SECOND_TRY";

/// The variables by which tests of pages find the programs of this build.
const PROGRAMS: [(&str, &str); 3] = [
    ("ESTELLE_PROGRAM", "estelle"),
    ("ESTELLE_SIM_CLAUDE", "estelle-sim-claude"),
    ("ESTELLE_FAKE_API", "estelle-fake-api"),
];

/// One check of the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Fmt,
    Tidy,
    Gen,
    Web,
    WebPages,
    Clippy,
    Build,
    Tests,
    DocTests,
    Docs,
    Gateway,
    Chaos,
    Fuzz,
}

/// All steps. Cheap ones come first, so that a slip shows within seconds.
const ALL: [Step; 13] = [
    Step::Fmt,
    Step::Tidy,
    Step::Gen,
    Step::Web,
    Step::Clippy,
    Step::Build,
    Step::Tests,
    Step::DocTests,
    Step::Docs,
    Step::Gateway,
    Step::WebPages,
    Step::Chaos,
    Step::Fuzz,
];

impl Step {
    fn name(self) -> &'static str {
        match self {
            Self::Fmt => "fmt",
            Self::Tidy => "tidy",
            Self::Gen => "gen",
            Self::Web => "web",
            Self::WebPages => "web-pages",
            Self::Clippy => "clippy",
            Self::Build => "build",
            Self::Tests => "tests",
            Self::DocTests => "doc-tests",
            Self::Docs => "docs",
            Self::Gateway => "gateway",
            Self::Chaos => "chaos",
            Self::Fuzz => "fuzz",
        }
    }

    /// The name under which `--only` takes several steps at once.
    fn group(self) -> &'static str {
        match self {
            Self::Fmt | Self::Tidy | Self::Gen => "quick",
            Self::Clippy | Self::Build | Self::Tests | Self::DocTests | Self::Docs => "rust",
            Self::Gateway => "gateway",
            Self::Web | Self::WebPages => "app",
            Self::Chaos => "chaos",
            Self::Fuzz => "fuzz",
        }
    }

    fn what(self) -> &'static str {
        match self {
            Self::Fmt => "the code is formatted",
            Self::Tidy => "crate edges, module docs, sizes, names, texts",
            Self::Gen => "TypeScript, schemas and pages fit the protocol types",
            Self::Web => "types, lints, tests and build of the web app, and its size",
            Self::WebPages => {
                "the web app in Chromium, over a stand-in and over `estelle up`: use, safety, accessibility, speed"
            }
            Self::Clippy => "no warning from compiler and lints",
            Self::Build => "all programs build",
            Self::Tests => "unit and integration tests, with the simulator and both real CLIs",
            Self::DocTests => "examples in the documentation run",
            Self::Docs => "the documentation builds without warning",
            Self::Gateway => {
                "the HTTP interface answers as its description says, to good and bad requests"
            }
            Self::Chaos => {
                "relay, Pylon, host, CLIs and the network between them fail 120 times and more, and no promise breaks"
            }
            Self::Fuzz => "each fuzz target for 30 s",
        }
    }

    fn needs(self) -> &'static [Tool] {
        match self {
            Self::Tests => &[Tool::OldestClaude, Tool::NewestClaude, Tool::Nextest],
            Self::Gateway => &[Tool::Schemathesis],
            Self::Web => &[Tool::WebPackages],
            Self::WebPages => &[Tool::WebPackages, Tool::Browser, Tool::NewestClaude],
            Self::Fmt
            | Self::Tidy
            | Self::Gen
            | Self::Clippy
            | Self::Build
            | Self::DocTests
            | Self::Docs
            | Self::Chaos
            | Self::Fuzz => &[],
        }
    }

    fn run(self, tools: &Tools, watch: Watch<'_>) -> anyhow::Result<()> {
        match self {
            Self::Fmt => cargo(&["fmt", "--all", "--check"], watch),
            Self::Tidy => tidy::run(),
            Self::Gen => generate::check(),
            Self::Web => web_app(tools, watch, &["check", "test", "build"]),
            Self::WebPages => web_pages(tools, watch),
            Self::Clippy => {
                let args = [
                    "clippy",
                    "--workspace",
                    "--all-targets",
                    "--all-features",
                    "--locked",
                ];
                cargo(
                    &[args.as_slice(), &["--", "-D", "warnings"]].concat(),
                    watch,
                )
            }
            Self::Build => cargo(
                &[
                    "build",
                    "--workspace",
                    "--bins",
                    "--all-features",
                    "--locked",
                ],
                watch,
            ),
            Self::Tests => tests(tools, watch),
            Self::DocTests => cargo(
                &["test", "--doc", "--workspace", "--all-features", "--locked"],
                watch,
            ),
            Self::Docs => docs(watch),
            Self::Gateway => {
                programs(watch)?;
                gateway::run(tools, watch)
            }
            Self::Chaos => chaos::play_in_tests(watch),
            Self::Fuzz => fuzz::run(FUZZ_SECONDS, watch),
        }
    }
}

/// Installs what the chosen steps need, then runs them. An empty choice means all.
pub(crate) fn run(only: &[String]) -> anyhow::Result<()> {
    let steps = choose(only)?;
    let mut needs = Vec::new();
    for tool in steps.iter().flat_map(|step| step.needs()) {
        if !needs.contains(tool) {
            needs.push(*tool);
        }
    }
    let plan = Plan::announce(&Cache::of_user()?, &needs)?;
    let mut progress = Progress::new(plan.steps() + steps.len());
    let tools = plan.carry_out(&mut progress)?;
    for step in steps {
        if step.needs().iter().all(|tool| tools.get(*tool).is_some()) {
            progress.step(step.name(), step.what(), |watch| step.run(&tools, watch));
        } else {
            progress.skip(
                step.name(),
                "because a tool it needs could not be installed",
            );
        }
    }
    progress.finish()
}

/// Prints names and groups for `--only`.
pub(crate) fn list() {
    for step in ALL {
        println!("{:10} {:6} {}", step.name(), step.group(), step.what());
    }
}

fn choose(only: &[String]) -> anyhow::Result<Vec<Step>> {
    for wanted in only {
        if !ALL.iter().any(|step| step.is_called(wanted)) {
            bail!("there is no step or group {wanted:?}; `cargo xtask test --list` shows them");
        }
    }
    let chosen = ALL
        .into_iter()
        .filter(|step| only.is_empty() || only.iter().any(|name| step.is_called(name)));
    Ok(chosen.collect())
}

impl Step {
    fn is_called(self, name: &str) -> bool {
        self.name() == name || self.group() == name
    }
}

fn cargo(args: &[&str], watch: Watch<'_>) -> anyhow::Result<()> {
    command::run(&mut workspace::cargo(args), BUILD_LIMIT, watch)
        .with_context(|| format!("`cargo {}` failed", args.join(" ")))?;
    Ok(())
}

/// The program and the simulator, for steps that run them.
fn programs(watch: Watch<'_>) -> anyhow::Result<()> {
    cargo(
        &[
            "build",
            "--locked",
            "--package",
            "estelle",
            "--package",
            "estelle-sim",
            "--bins",
        ],
        watch,
    )
}

/// The pages are those that the program itself serves, so it is built first.
fn web_pages(tools: &Tools, watch: Watch<'_>) -> anyhow::Result<()> {
    programs(watch)?;
    web_app(tools, watch, &["build", "e2e"])
}

/// Runs scripts of the web app.
pub(crate) fn web_app(tools: &Tools, watch: Watch<'_>, scripts: &[&str]) -> anyhow::Result<()> {
    for script in scripts {
        let output = web_script(tools, watch, script, workspace::built)?;
        for figure in output.lines().filter(|line| is_figure(line)) {
            println!("    {}", figure.trim());
        }
    }
    Ok(())
}

/// Runs one script of the web app over these programs, and gives what it printed.
pub(crate) fn web_script(
    tools: &Tools,
    watch: Watch<'_>,
    script: &str,
    program: fn(&str) -> PathBuf,
) -> anyhow::Result<String> {
    let packages = tools
        .get(Tool::WebPackages)
        .context("the npm packages are missing")?;
    web::link(packages)?;
    let mut npm = workspace::at_root(Command::new("npm"));
    npm.args(["run", "--silent", script])
        .current_dir(web::folder());
    if let Some(browser) = tools.get(Tool::Browser) {
        npm.env("ESTELLE_CHROMIUM", browser);
    }
    npm.envs(tools.variables());
    for (variable, name) in PROGRAMS {
        npm.env(variable, program(name));
    }
    command::run(&mut npm, WEB_LIMIT, watch).with_context(|| format!("`npm run {script}` failed"))
}

/// What the scripts of the web app measure, and what they had to try again.
fn is_figure(line: &str) -> bool {
    [
        "First load: ",
        "10,000 entries: ",
        "100 pieces a second: ",
        "Scrolling back: ",
        "Tried again: ",
    ]
    .iter()
    .any(|start| line.starts_with(start))
}

fn docs(watch: Watch<'_>) -> anyhow::Result<()> {
    let mut cargo = workspace::cargo(&[
        "doc",
        "--workspace",
        "--no-deps",
        "--all-features",
        "--locked",
    ]);
    cargo.env("RUSTDOCFLAGS", "-D warnings");
    command::run(&mut cargo, BUILD_LIMIT, watch).context("`cargo doc` failed")?;
    Ok(())
}

fn tests(tools: &Tools, watch: Watch<'_>) -> anyhow::Result<()> {
    let runner = tools
        .get(Tool::Nextest)
        .context("cargo-nextest is missing")?;
    let mut nextest = workspace::at_root(Command::new(runner));
    nextest
        .args([
            "nextest",
            "run",
            "--workspace",
            "--all-features",
            "--locked",
            "--no-fail-fast",
        ])
        .args([
            "--status-level",
            "slow",
            "--final-status-level",
            "slow",
            "--color",
            "never",
        ])
        .envs(tools.variables());
    if std::env::var_os(SECOND_TRY).is_some() {
        nextest.args(["--retries", "1"]);
    }
    let output = command::run(&mut nextest, TEST_LIMIT, watch).context("tests failed")?;
    if let Some(summary) = output.lines().rfind(|line| line.contains("Summary [")) {
        println!("    {}", summary.trim());
    }
    for name in second_tries(&output) {
        println!("    passed only when played again: {name}");
    }
    Ok(())
}

/// The tests that nextest lists as flaky at the end of a run.
fn second_tries(output: &str) -> Vec<&str> {
    let mut names: Vec<&str> = output
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with("FLAKY "))
        .filter_map(|line| line.split_once(']').map(|(_, name)| name.trim()))
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(only: &[&str]) -> Vec<&'static str> {
        let only: Vec<_> = only.iter().map(|&name| name.to_owned()).collect();
        choose(&only).unwrap().into_iter().map(Step::name).collect()
    }

    #[test]
    fn what_passed_only_the_second_time_is_named_once() {
        let output = "  TRY 1 FAIL [   1.2s] pylon::it a::b\n   FLAKY 2/2 [   0.9s] pylon::it a::b\n\
                      Summary [  3s] 2 tests run: 2 passed (1 flaky), 0 skipped\n   FLAKY 2/2 [   0.9s] pylon::it a::b\n";
        assert_eq!(second_tries(output), ["pylon::it a::b"]);
    }

    #[test]
    fn no_choice_means_everything() {
        assert_eq!(names(&[]).len(), ALL.len());
    }

    #[test]
    fn a_group_and_a_step_can_be_combined_and_keep_the_order() {
        assert_eq!(names(&["fuzz", "quick"]), ["fmt", "tidy", "gen", "fuzz"]);
        assert_eq!(names(&["tests"]), ["tests"]);
    }

    #[test]
    fn an_unknown_name_is_refused() {
        let error = choose(&["nonsense".to_owned()]).unwrap_err().to_string();
        assert!(error.contains("--list"), "{error}");
    }
}
