//! The page that says what was borne.

use std::fmt::Write as _;

use super::Scene;

/// The document.
pub fn page(scenes: &[Scene], machine: &str) -> String {
    let mut page = String::from(
        "# Load\n\nHow much one relay, Pylon and host bear on one machine, and what it costs them. Made by\n\
         `cargo xtask load` with a release build, the simulator as the agent, over the loopback; every scene is bounded in\n\
         count and time.\n",
    );
    let _ = write!(page, "\nThe machine: {machine}.\n");
    for scene in scenes {
        let _ = write!(page, "\n## {}\n\n{}\n\n", scene.name, scene.about);
        match &scene.outcome {
            Ok(figures) => {
                page.push_str("| what | measured | as promised |\n|---|---|---|\n");
                for figure in figures {
                    let held = match figure.held {
                        Some(true) => "yes",
                        Some(false) => "**no**",
                        None => "",
                    };
                    let _ = writeln!(page, "| {} | {} | {held} |", figure.what, figure.value);
                }
            }
            Err(error) => {
                let _ = writeln!(page, "**Could not be played: {error:#}**");
            }
        }
    }
    page
}
