//! Starts `estelle chat` with the simulator, in a home and a folder of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use rexpect::reader::Options;
use rexpect::session::{PtySession, spawn_with_options};

/// Longest wait for anything to appear.
const PATIENCE_MS: u64 = 20_000;

/// A home, a folder to work in, and the program.
pub(crate) struct Place {
    home: tempfile::TempDir,
    folder: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self {
            home: tempfile::tempdir().unwrap(),
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// The folder the conversation works in.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// `estelle` with these arguments, and nothing of our own environment.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_estelle"));
        command
            .args(args)
            .env_clear()
            .env("HOME", self.home.path())
            .env("PATH", "/usr/bin:/bin")
            .env("TERM", "xterm")
            .env("ESTELLE_SIM_CLAUDE", simulator())
            .current_dir(self.folder());
        command
    }

    /// A conversation over a terminal; the output is seen without colours.
    pub(crate) fn talk(&self, args: &[&str]) -> Talk {
        self.talk_with(args, true)
    }

    /// A conversation over a terminal, with or without its escape sequences.
    pub(crate) fn talk_with(&self, args: &[&str], strip_ansi_escape_codes: bool) -> Talk {
        let args = [&["chat", "--simulate"], args].concat();
        let options = Options::new()
            .timeout_ms(Some(PATIENCE_MS))
            .strip_ansi_escape_codes(strip_ansi_escape_codes);
        let session = spawn_with_options(self.command(&args), options).unwrap();
        let mut talk = Talk { session };
        // Before the prompt the terminal may still show what is typed.
        talk.see("A simulator answers.");
        talk.see("› ");
        talk
    }

    /// Runs to the end with this on standard input.
    pub(crate) fn run(&self, args: &[&str], input: &str) -> Output {
        let mut command = self.command(args);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        std::io::Write::write_all(&mut stdin, input.as_bytes()).unwrap();
        drop(stdin);
        child.wait_with_output().unwrap()
    }
}

/// A conversation over a terminal.
///
/// The library reads bytes as characters, so every text is turned into bytes and back.
pub(crate) struct Talk {
    session: PtySession,
}

impl Talk {
    /// Types a line.
    pub(crate) fn line(&mut self, line: &str) {
        self.session.send_line(line).unwrap();
    }

    /// Presses a key together with Ctrl.
    pub(crate) fn ctrl(&mut self, key: char) {
        self.session.send_control(key).unwrap();
    }

    /// Waits until this appears; gives what came before it.
    pub(crate) fn see(&mut self, text: &str) -> String {
        let bytes: String = text.bytes().map(char::from).collect();
        match self.session.exp_string(&bytes) {
            Ok(before) => decode(&before),
            Err(error) => panic!("{text:?} did not appear: {}", decode(&error.to_string())),
        }
    }

    /// Waits until a text appears that matches; gives it.
    pub(crate) fn see_match(&mut self, regex: &str) -> String {
        match self.session.exp_regex(regex) {
            Ok((_, found)) => decode(&found),
            Err(error) => panic!("{regex:?} did not appear: {}", decode(&error.to_string())),
        }
    }

    /// Waits for the end and gives the exit code.
    pub(crate) fn exit_code(mut self) -> i32 {
        self.session.exp_eof().unwrap();
        // The library does not export the type of the status, only its words.
        let status = format!("{:?}", self.session.process().wait().unwrap());
        let code = status
            .strip_prefix("Exited(")
            .and_then(|rest| rest.split_once(", "));
        let code = code.and_then(|(_, code)| code.strip_suffix(')')?.parse().ok());
        code.unwrap_or_else(|| panic!("{status}"))
    }
}

fn decode(text: &str) -> String {
    let bytes: Vec<u8> = text
        .chars()
        .map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?'))
        .collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The simulator beside our program; built if nobody has built it yet.
pub(crate) fn simulator() -> &'static Path {
    static SIMULATOR: OnceLock<PathBuf> = OnceLock::new();
    SIMULATOR.get_or_init(|| {
        let path = Path::new(env!("CARGO_BIN_EXE_estelle")).with_file_name("estelle-sim-claude");
        if !path.is_file() {
            let target = path.parent().and_then(Path::parent).unwrap();
            let mut build = Command::new(env!("CARGO"));
            build.args([
                "build",
                "--quiet",
                "--package",
                "estelle-sim",
                "--bin",
                "estelle-sim-claude",
                "--target-dir",
            ]);
            assert!(build.arg(target).status().unwrap().success());
        }
        path
    })
}

/// What was written to standard output.
pub(crate) fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

/// What was written to standard error.
pub(crate) fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}
