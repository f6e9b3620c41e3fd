//! Plays the scenes of load and writes the page: `estelle-load <file or -> <full, quick or tiny> [part of a name]`.
//!
//! `cargo xtask load` builds and calls it.

use std::process::ExitCode;

use estelle_proof::load::{Scale, Scene, page, play};

fn main() -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let mut args = std::env::args().skip(1);
    let target = args.next().unwrap_or_else(|| "-".to_owned());
    let scale = match args.next().as_deref() {
        None | Some("full") => Scale::full(),
        Some("quick") => Scale::quick(),
        Some("tiny") => Scale::tiny(),
        Some(other) => anyhow::bail!("{other} is none of full, quick and tiny"),
    };
    let only = args.next().unwrap_or_default();
    let scenes = runtime.block_on(play(&scale, &only, tell));
    runtime.shutdown_background();
    anyhow::ensure!(!scenes.is_empty(), "no scene has `{only}` in its name");
    if target == "-" {
        print!("{}", page(&scenes, &machine(), ""));
    } else {
        let former = std::fs::read_to_string(&target).unwrap_or_default();
        std::fs::write(&target, page(&scenes, &machine(), &former))?;
    }
    let is_good = scenes.iter().all(Scene::is_good);
    Ok(if is_good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Says on the way how it goes.
fn tell(scene: &Scene) {
    match &scene.outcome {
        Ok(figures) => {
            for figure in figures {
                eprintln!("{}: {}: {}", scene.name, figure.what, figure.value);
            }
        }
        Err(error) => eprintln!("{}: {error:#}", scene.name),
    }
}

fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let total = total.and_then(|line| {
        line.trim()
            .trim_end_matches("kB")
            .trim()
            .parse::<u64>()
            .ok()
    });
    let gigabytes = total.unwrap_or_default() / 1024 / 1024;
    format!("{cores} cores, {gigabytes} GiB of memory")
}
