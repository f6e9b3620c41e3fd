//! Puts the built web app into a release of the program.
//!
//! A debug build reads the files at run time instead (`src/web.rs`), so that building one does not wait for the other.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let dist = Path::new("../../web/dist");
    let mut files = Vec::new();
    if env::var("PROFILE").is_ok_and(|profile| profile == "release") {
        println!("cargo::rerun-if-changed={}", dist.display());
        if dist.is_dir() {
            collect(&dist.canonicalize()?, &mut files)?;
        }
        if files.is_empty() {
            println!(
                "cargo::warning=there is no built web app in web/dist: this program will have none"
            );
        }
    }
    files.sort();
    let root = dist.canonicalize().unwrap_or_default();
    let rows = files.iter().map(|file| {
        let name = file.strip_prefix(&root).unwrap_or(file).display();
        format!(
            "    (\"/{name}\", include_bytes!({:?})),\n",
            file.display().to_string()
        )
    });
    let list = format!("&[\n{}]\n", rows.collect::<String>());
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(out.join("web_files.rs"), list)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
