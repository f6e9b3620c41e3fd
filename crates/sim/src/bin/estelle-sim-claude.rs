//! The simulated Claude Code CLI as a program: stands in for `claude` wherever a real one would be started.

use std::process::ExitCode;

fn main() -> ExitCode {
    match estelle_sim::cli::run() {
        Ok(code) => u8::try_from(code).map_or(ExitCode::FAILURE, ExitCode::from),
        Err(error) => {
            eprintln!("estelle-sim-claude: {error:#}");
            ExitCode::FAILURE
        }
    }
}
