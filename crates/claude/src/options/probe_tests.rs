//! Version probes of small scripts; the real CLIs are asked in `real_tests`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use tempfile::TempDir;

use super::super::PrepareError;
use super::*;

/// An executable shell script with this body.
fn script(root: &TempDir, name: &str, body: &str) -> PathBuf {
    let path = root.path().join(name);
    fs::write(&path, format!("#!/bin/sh\n{body}\n")).expect("write");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("chmod");
    path
}

fn root() -> TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

#[tokio::test]
async fn the_version_is_asked_once_per_file() {
    let root = root();
    let runs = root.path().join("runs");
    let body = |version: &str| {
        format!(
            "echo \"$1\" >> {}; echo '{version} (Claude Code)'",
            runs.display()
        )
    };
    let cli = script(&root, "cli", &body("2.1.197"));
    for _ in 0..3 {
        assert_eq!(
            probe(&cli).await.expect("a version"),
            CliVersion::new(2, 1, 197)
        );
    }
    assert_eq!(fs::read_to_string(&runs).expect("it ran"), "--version\n");
    // An upgrade in place is another file: size or time differ.
    let cli = script(&root, "cli", &body("10.20.30"));
    assert_eq!(
        probe(&cli).await.expect("a version"),
        CliVersion::new(10, 20, 30)
    );
}

#[tokio::test]
async fn what_is_not_claude_code_is_told_apart() {
    let root = root();
    let check = async |body: &str, text: &str| {
        let path = script(&root, "cli", body);
        let error = probe(&path).await.expect_err("no version").to_string();
        assert_eq!(error, text.replace("PATH", &format!("{path:?}")));
    };
    check(
        "echo hello",
        "PATH answers --version with \"hello\", so it is not Claude Code: name the right program",
    )
    .await;
    check(
        "exit 0",
        "PATH answers --version with \"\", so it is not Claude Code: name the right program",
    )
    .await;
    check(
        "echo broken >&2; exit 3",
        "PATH --version failed (exit status: 3): broken",
    )
    .await;
}

#[tokio::test]
async fn a_file_the_system_cannot_run_is_told_apart() {
    let root = root();
    let path = root.path().join("cli");
    fs::write(&path, "#!/no/such/interpreter\n").expect("write");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("chmod");
    let error = probe(&path).await.expect_err("not runnable");
    assert!(matches!(error, ProbeError::Spawn { .. }), "{error}");
}

#[tokio::test]
async fn endless_output_is_cut_off() {
    let root = root();
    let path = script(
        &root,
        "cli",
        "while echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; do :; done 2>/dev/null; exit 1",
    );
    let error = probe(&path).await.expect_err("no version");
    assert!(
        matches!(
            error,
            ProbeError::Failed { .. } | ProbeError::NotAVersion { .. }
        ),
        "{error}"
    );
}

#[tokio::test]
async fn a_wrong_program_is_described_in_one_short_line() {
    let root = root();
    let path = script(
        &root,
        "cli",
        "printf 'other %0500d\\nCopyright\\nNo warranty\\n' 0",
    );
    let error = probe(&path).await.expect_err("no version");
    let ProbeError::NotAVersion { output, .. } = &error else {
        panic!("{error}");
    };
    assert!(output.starts_with("other 000"), "{output}");
    assert_eq!(output.chars().count(), SHOWN_CHARACTERS);
}

#[tokio::test]
async fn a_program_that_hangs_is_given_up_and_killed() {
    let root = root();
    let pid_file = root.path().join("pid");
    // `exec` makes the waiting program the child itself, so that its end is the child's end.
    let path = script(
        &root,
        "cli",
        &format!("echo $$ > {}; exec sleep 600", pid_file.display()),
    );
    let mut asked = Box::pin(ask(
        Launch {
            program: path,
            args: Vec::new(),
            env: super::super::LaunchEnv::default(),
            cwd: None,
        },
        PROBE_TIMEOUT,
    ));
    let pid = loop {
        if let Some(pid) = fs::read_to_string(&pid_file)
            .ok()
            .and_then(|text| text.trim().parse::<u32>().ok())
        {
            break pid;
        }
        let polled = futures_util::poll!(&mut asked);
        assert!(polled.is_pending(), "it hangs");
        tokio::task::yield_now().await;
    };
    tokio::time::pause();
    let error = asked.await.expect_err("it hangs");
    assert!(
        error
            .to_string()
            .ends_with("has not answered --version within 20 s: run it by hand to see why")
    );
    let proc = PathBuf::from(format!("/proc/{pid}/stat"));
    while fs::read_to_string(&proc).is_ok_and(|stat| !stat.contains(") Z ")) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn preparing_checks_directories_options_and_version() {
    let root = root();
    let cli = script(&root, "cli", "echo '2.1.197 (Claude Code)'");
    let options = Options::new()
        .path_to_claude_code_executable(&cli)
        .cwd(root.path());
    let launch = options.prepare().await.expect("all is well");
    assert_eq!(launch.program, cli);
    assert_eq!(launch.cwd.as_deref(), Some(root.path()));

    let gone = options
        .clone()
        .cwd(root.path().join("gone"))
        .prepare()
        .await
        .expect_err("no directory");
    assert!(
        matches!(&gone, PrepareError::Directory { option: "cwd", .. }),
        "{gone}"
    );
    let file = options
        .clone()
        .cwd(&cli)
        .prepare()
        .await
        .expect_err("a file");
    assert!(
        matches!(&file, PrepareError::Directory { option: "cwd", .. }),
        "{file}"
    );

    let newer = options
        .project_config_root(root.path())
        .prepare()
        .await
        .expect_err("unknown option");
    assert!(
        newer
            .to_string()
            .contains("needs Claude Code 2.1.325 or newer, but 2.1.197 is installed"),
        "{newer}"
    );
}
