//! The page that says what was borne.
//!
//! A scene takes minutes to half an hour, so each can be played for itself: its section of the page is made anew, and the
//! sections of the others stay as they were.

use std::fmt::Write as _;

use super::{SCENES, Scene};

/// The document: what was played now, and what the former page says of the scenes that were not.
pub fn page(scenes: &[Scene], machine: &str, former: &str) -> String {
    let mut page = String::from(
        "# Load\n\nHow much one relay, Pylon and host bear on one machine, and what it costs them. Made by\n\
         `cargo xtask load` with a release build, the simulator as the agent, over the loopback; every scene is bounded in\n\
         count and time.\n",
    );
    let _ = write!(page, "\nThe machine: {machine}.\n");
    for (name, about) in SCENES {
        let _ = write!(page, "\n## {name}\n\n{about}\n\n");
        match scenes.iter().find(|scene| scene.name == name) {
            Some(scene) => page.push_str(&figures(scene)),
            None => page.push_str(kept(former, name).unwrap_or("Not played yet.\n")),
        }
    }
    page
}

fn figures(scene: &Scene) -> String {
    let figures = match &scene.outcome {
        Ok(figures) => figures,
        Err(error) => return format!("**Could not be played: {error:#}**\n"),
    };
    let mut table = String::from("| what | measured | as promised |\n|---|---|---|\n");
    for figure in figures {
        let held = match figure.held {
            Some(true) => "yes",
            Some(false) => "**no**",
            None => "",
        };
        let _ = writeln!(table, "| {} | {} | {held} |", figure.what, figure.value);
    }
    table
}

/// What a page says of a scene, below the sentence about it.
fn kept<'a>(page: &'a str, name: &str) -> Option<&'a str> {
    let section = page.split("\n## ").skip(1);
    let section = section
        .filter_map(|section| section.split_once("\n\n"))
        .find(|(title, _)| *title == name)?;
    section.1.split_once("\n\n").map(|(_, figures)| figures)
}

#[cfg(test)]
mod tests {
    use super::super::{Figure, Scene};
    use super::page;

    fn scene(name: &'static str, value: &str) -> Scene {
        Scene {
            name,
            about: "",
            outcome: Ok(vec![Figure::new("memory", value).held(true)]),
        }
    }

    #[test]
    fn a_scene_that_is_played_for_itself_leaves_the_others_as_they_were() {
        let first = page(&[scene("crowd", "1 MB"), scene("soak", "2 MB")], "m", "");
        assert!(first.contains("| memory | 1 MB | yes |"), "{first}");
        assert_eq!(first.matches("Not played yet.").count(), 3, "{first}");
        let second = page(&[scene("soak", "3 MB")], "m", &first);
        assert_eq!(second, first.replace("2 MB", "3 MB"));
        assert_eq!(page(&[], "m", &second), second);
    }
}
