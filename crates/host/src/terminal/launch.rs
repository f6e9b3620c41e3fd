//! What a terminal executes: the user's shell, or the agent's own interface.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use estelle_claude::options::Cli;
use estelle_proto::TerminalId;

use crate::conversation::Lent;
use crate::launch::is_inherited;
use crate::run::LaunchRecord;

/// Says which terminal a process belongs to.
const TERMINAL_VARIABLE: &str = "ESTELLE_TERMINAL";

/// What the terminal around the host would say about itself.
const SURROUNDING: [&str; 8] = [
    "TERM_PROGRAM",
    "TERM_PROGRAM_VERSION",
    "TERM_SESSION_ID",
    "TMUX",
    "TMUX_PANE",
    "STY",
    "LINES",
    "COLUMNS",
];

/// The shell when the user has none, or one that cannot be run.
const PLAIN_SHELL: &str = "/bin/sh";

/// The user's shell, as a login shell: the host may have been started with a bare environment.
pub(crate) fn shell(
    id: &TerminalId,
    folder: &Path,
    inherited: &BTreeMap<OsString, OsString>,
) -> LaunchRecord {
    let wanted = inherited.get(&OsString::from("SHELL")).map(PathBuf::from);
    let program = wanted.filter(|path| path.is_absolute() && path.is_file());
    LaunchRecord {
        program: program.unwrap_or_else(|| PLAIN_SHELL.into()),
        args: vec!["-l".to_owned()],
        env: environment(id, inherited),
        cwd: folder.to_owned(),
        cli_version: String::new(),
    }
}

/// The agent's own interface, going on with a conversation.
pub(crate) fn agent(
    id: &TerminalId,
    folder: &Path,
    cli: &Cli,
    lent: &Lent,
    prompt: Option<&str>,
    inherited: &BTreeMap<OsString, OsString>,
) -> LaunchRecord {
    let session = if lent.has_begun {
        "--resume"
    } else {
        "--session-id"
    };
    let mut args = vec![
        session.to_owned(),
        lent.session.to_string(),
        "--permission-mode".to_owned(),
        lent.mode.to_string(),
    ];
    if let Some(model) = lent.model.as_deref().filter(|model| *model != "auto") {
        // In one word: a model that begins like an option stays a model.
        args.push(format!("--model={model}"));
    }
    if let Some(prompt) = prompt {
        // What a person writes may begin like an option.
        args.extend(["--".to_owned(), prompt.to_owned()]);
    }
    let mut env = environment(id, inherited);
    env.insert("DISABLE_AUTOUPDATER".to_owned(), "1".to_owned());
    LaunchRecord {
        program: cli.path().to_owned(),
        args,
        env,
        cwd: folder.to_owned(),
        cli_version: cli.version().to_string(),
    }
}

/// What the host has, without its own secrets and without the marks of other terminals.
fn environment(
    id: &TerminalId,
    inherited: &BTreeMap<OsString, OsString>,
) -> BTreeMap<String, String> {
    let text = |(name, value): (&OsString, &OsString)| {
        Some((name.to_str()?.to_owned(), value.to_str()?.to_owned()))
    };
    let mut env: BTreeMap<String, String> = inherited
        .iter()
        .filter_map(text)
        .filter(|(name, _)| is_inherited(name) && !SURROUNDING.contains(&name.as_str()))
        .collect();
    env.insert("TERM".to_owned(), "xterm-256color".to_owned());
    env.insert("COLORTERM".to_owned(), "truecolor".to_owned());
    env.insert(TERMINAL_VARIABLE.to_owned(), id.to_string());
    env
}

#[cfg(test)]
mod tests {
    use estelle_claude::options::CliVersion;
    use estelle_proto::{ClaudeSessionId, PermissionMode};

    use super::*;

    fn inherited(pairs: &[(&str, &str)]) -> BTreeMap<OsString, OsString> {
        let pairs = pairs.iter();
        pairs
            .map(|(name, value)| (OsString::from(name), OsString::from(value)))
            .collect()
    }

    fn id() -> TerminalId {
        TerminalId::parse("t-1").unwrap()
    }

    #[test]
    fn t12_no_secret_of_ours_and_no_mark_of_another_terminal_is_handed_on() {
        let shell = shell(
            &id(),
            Path::new("/"),
            &inherited(&[
                ("PATH", "/bin"),
                ("SHELL", "/no/such/shell"),
                ("ESTELLE_TOKEN", "hush"),
                ("ESTELLE_RUN", "x"),
                ("CLAUDECODE", "1"),
                ("TMUX", "x"),
                ("TERM", "dumb"),
            ]),
        );
        let names: Vec<&str> = shell.env.keys().map(String::as_str).collect();
        assert_eq!(
            names,
            ["COLORTERM", "ESTELLE_TERMINAL", "PATH", "SHELL", "TERM"]
        );
        assert_eq!(shell.program, Path::new(PLAIN_SHELL));
    }

    #[test]
    fn r103_the_agent_goes_on_with_the_session_and_the_model() {
        let cli = Cli::new(PathBuf::from("/bin/claude"), CliVersion::new(2, 1, 325));
        let lent = |has_begun, model: Option<&str>| Lent {
            session: ClaudeSessionId::parse("5f0c").unwrap(),
            has_begun,
            model: model.map(str::to_owned),
            mode: PermissionMode::Default,
        };
        let args = |lent: &Lent, prompt| {
            agent(&id(), Path::new("/"), &cli, lent, prompt, &BTreeMap::new()).args
        };
        let mode = ["--permission-mode", "default"];
        assert_eq!(
            args(&lent(true, None), None),
            [&["--resume", "5f0c"], &mode[..]].concat()
        );
        assert_eq!(
            args(&lent(false, Some("auto")), None),
            [&["--session-id", "5f0c"], &mode[..]].concat()
        );
        assert_eq!(
            args(&lent(true, Some("opus")), Some("--help")),
            [
                &["--resume", "5f0c"],
                &mode[..],
                &["--model=opus", "--", "--help"]
            ]
            .concat()
        );
    }

    #[test]
    fn m13_neither_a_model_nor_a_prompt_becomes_an_option() {
        let cli = Cli::new(PathBuf::from("/bin/claude"), CliVersion::new(2, 1, 325));
        let lent = Lent {
            session: ClaudeSessionId::parse("5f0c").unwrap(),
            has_begun: true,
            model: Some("--dangerously-skip-permissions".to_owned()),
            mode: PermissionMode::Default,
        };
        let prompt = Some("--settings={}");
        let args = agent(&id(), Path::new("/"), &cli, &lent, prompt, &BTreeMap::new()).args;
        let options = args.iter().take_while(|word| *word != "--");
        let options: Vec<_> = options.filter(|word| word.starts_with('-')).collect();
        assert_eq!(
            options,
            [
                "--resume",
                "--permission-mode",
                "--model=--dangerously-skip-permissions"
            ]
        );
        assert_eq!(args.last().map(String::as_str), prompt);
    }
}
