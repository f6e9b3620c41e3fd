//! Where the programs are that play the CLI.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use estelle_claude::options::{Cli, Search};
use estelle_host::launch::find_cli;
use estelle_sim::api::RealCli;

/// The simulator and both real CLIs.
pub(crate) async fn programs() -> Vec<Cli> {
    let paths = [
        simulator().to_owned(),
        RealCli::v197().unwrap().path().to_owned(),
        RealCli::v325().unwrap().path().to_owned(),
    ];
    let mut programs = Vec::new();
    for path in paths {
        let search = Search::default().explicit(path);
        programs.push(find_cli(&search).await.unwrap());
    }
    programs
}

/// The simulator beside this test; built if nobody has built it yet.
pub(crate) fn simulator() -> &'static Path {
    static SIMULATOR: OnceLock<PathBuf> = OnceLock::new();
    SIMULATOR.get_or_init(|| {
        let test = std::env::current_exe().unwrap();
        let programs = test.parent().and_then(Path::parent).unwrap();
        let path = programs.join("estelle-sim-claude");
        if !path.is_file() {
            let mut build = Command::new(env!("CARGO"));
            build.args(["build", "--quiet", "--package", "estelle-sim"]);
            build.args(["--bin", "estelle-sim-claude", "--target-dir"]);
            let target = programs.parent().unwrap();
            assert!(build.arg(target).status().unwrap().success());
        }
        path
    })
}
