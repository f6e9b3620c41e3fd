//! Discovery in temporary directories; nothing here runs a program.

use std::os::unix::fs::PermissionsExt;

use tempfile::TempDir;

use super::*;

/// A file with these permission bits, with its directories.
fn file(root: &TempDir, name: &str, mode: u32) -> PathBuf {
    let path = root.path().join(name);
    fs::create_dir_all(path.parent().expect("a file has a directory")).expect("create directories");
    fs::write(&path, "").expect("write");
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("chmod");
    path
}

fn root() -> TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

#[test]
fn a_named_file_wins_over_everything_else() {
    let root = root();
    let named = file(&root, "named/my-claude", 0o755);
    file(&root, "bin/claude", 0o755);
    let search = Search::default()
        .path_variable(root.path().join("bin"))
        .explicit(&named);
    assert_eq!(search.find(), Ok(named));
}

#[test]
fn a_bare_name_is_looked_up_on_the_path() {
    let root = root();
    let found = file(&root, "bin/other-claude", 0o755);
    let search = Search::default().path_variable(root.path().join("bin"));
    assert_eq!(search.clone().explicit("other-claude").find(), Ok(found));
    assert!(matches!(
        search.explicit("no-such-claude").find(),
        Err(FindError::Missing { .. })
    ));
}

#[test]
fn the_path_is_searched_in_order_and_only_for_what_runs() {
    let root = root();
    file(&root, "a/claude", 0o644);
    fs::create_dir_all(root.path().join("b/claude")).expect("create directories");
    let found = file(&root, "c/claude", 0o755);
    file(&root, "d/claude", 0o755);
    let path = std::env::join_paths(["a", "b", "c", "d"].map(|name| root.path().join(name)))
        .expect("a PATH");
    assert_eq!(Search::default().path_variable(path).find(), Ok(found));
}

#[test]
fn the_variable_names_the_file_and_an_empty_one_does_not() {
    let root = root();
    let named = file(&root, "named", 0o755);
    let on_path = file(&root, "bin/claude", 0o755);
    let search = |own: &Path| {
        let own = own.as_os_str().to_owned();
        let bin = root.path().join("bin").into_os_string();
        Search::from_variables(move |name| match name {
            "CLAUDE_CODE_PATH" => Some(own.clone()),
            "PATH" => Some(bin.clone()),
            _ => None,
        })
    };
    assert_eq!(search(&named).find(), Ok(named.clone()));
    assert_eq!(search(Path::new("")).find(), Ok(on_path));
    let gone = root.path().join("gone");
    assert_eq!(
        search(&gone).find(),
        Err(FindError::Missing {
            path: gone.clone(),
            named_by: "the variable CLAUDE_CODE_PATH"
        }),
        "a name that leads nowhere is not replaced by what is on the path"
    );
    assert_eq!(
        search(&gone).explicit(&named).find(),
        Ok(named),
        "the option wins over the variable"
    );
}

#[test]
fn relative_entries_of_the_path_are_passed_over() {
    let search = Search::default().path_variable(".:bin:");
    assert_eq!(
        search.find(),
        Err(FindError::NotFound {
            searched: Vec::new()
        })
    );
}

#[test]
fn the_usual_places_come_after_the_path() {
    let root = root();
    let npm = file(&root, "prefix/bin/claude", 0o755);
    let search = Search::default().usual_places(
        Some(&root.path().join("home")),
        Some(&root.path().join("prefix")),
    );
    assert_eq!(search.find(), Ok(npm));
    let home = file(&root, "home/.local/bin/claude", 0o755);
    assert_eq!(search.find(), Ok(home));
    let on_path = file(&root, "bin/claude", 0o755);
    assert_eq!(
        search.path_variable(root.path().join("bin")).find(),
        Ok(on_path)
    );
}

#[test]
fn a_script_needs_no_execute_bit_and_gets_a_runtime() {
    let root = root();
    let script = file(&root, "cli.js", 0o644);
    assert_eq!(
        Search::default().explicit(&script).find(),
        Ok(script.clone())
    );
    let args = ["--smol".to_owned()];
    assert_eq!(
        command(&script, Some(Runtime::Bun), &args),
        (
            PathBuf::from("bun"),
            vec!["--smol".into(), script.clone().into_os_string()]
        )
    );
    assert_eq!(
        command(&script, None, &[]),
        (PathBuf::from("node"), vec![script.into_os_string()])
    );
    assert_eq!(
        command(Path::new("/opt/claude"), Some(Runtime::Deno), &args),
        (PathBuf::from("/opt/claude"), vec!["--smol".into()])
    );
}

#[test]
fn errors_say_what_to_do() {
    let root = root();
    let plain = file(&root, "plain", 0o644);
    let missing = root.path().join("missing");
    let check = |path: &Path, text: &str| {
        let error = Search::default()
            .explicit(path)
            .find()
            .expect_err("not usable");
        assert_eq!(
            error.to_string(),
            text.replace("PATH", &format!("{path:?}"))
        );
    };
    check(
        &missing,
        "there is no file PATH, which the option path_to_claude_code_executable names: correct the path, or leave \
         it out to search",
    );
    check(
        root.path(),
        "PATH, which the option path_to_claude_code_executable names, is not a file: name the program itself",
    );
    check(
        &plain,
        "PATH, which the option path_to_claude_code_executable names, is not executable: run `chmod +x` on it, or \
         name another",
    );
    let nowhere = FindError::NotFound {
        searched: vec![plain],
    };
    assert_eq!(
        nowhere.to_string(),
        "no `claude` on PATH nor in 1 usual places: install Claude Code (`npm install -g \
         @anthropic-ai/claude-code`), or name it with the option `path_to_claude_code_executable` or the variable \
         CLAUDE_CODE_PATH"
    );
}
