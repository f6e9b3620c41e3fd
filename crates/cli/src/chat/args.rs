//! The command line of `estelle chat`.

use std::path::PathBuf;

use clap::Args;

/// Talk to Claude Code in this terminal.
///
/// The answer appears as it is written, tools are shown with what exactly runs, and you are asked before anything
/// runs that needs your permission. Ctrl-C stops the running turn; a second one leaves, as do Ctrl-D and /quit.
/// What you type while Claude works is handed in at once. /help lists the commands.
///
/// Without a `claude` on this machine a simulator answers, and says so.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(crate) struct ChatArgs {
    /// A conversation of `estelle ls` to talk to over the relay, instead of a new one in this terminal
    #[arg(conflicts_with_all = ["resume", "continue_", "print", "model", "permission_mode", "cwd", "claude", "simulate"])]
    pub(crate) conversation: Option<String>,

    #[command(flatten)]
    pub(crate) client: crate::client::ClientArgs,

    /// Take up the conversation with this id
    #[arg(long, value_name = "ID", conflicts_with = "continue_")]
    pub(crate) resume: Option<String>,

    /// Take up the newest conversation of the folder
    #[arg(long = "continue", short = 'c')]
    pub(crate) continue_: bool,

    /// Send one message, print the final text and leave; what needs permission is refused
    #[arg(long, short, value_name = "MESSAGE")]
    pub(crate) print: Option<String>,

    /// Model to talk to, such as `opus` or a full name
    #[arg(long)]
    pub(crate) model: Option<String>,

    /// When to ask: default, acceptEdits, plan, dontAsk, auto or bypassPermissions
    #[arg(long, value_name = "MODE", value_parser = parse_mode)]
    pub(crate) permission_mode: Option<String>,

    /// Folder to work in, instead of the current one
    #[arg(long, value_name = "FOLDER")]
    pub(crate) cwd: Option<PathBuf>,

    /// The `claude` program to run, instead of the one found on this machine
    #[arg(long, value_name = "PATH", conflicts_with = "simulate")]
    pub(crate) claude: Option<PathBuf>,

    /// Talk to the simulator: no account, no network, no real model
    #[arg(long, visible_alias = "sim")]
    pub(crate) simulate: bool,
}

/// The modes the CLI knows; it takes any word without complaint, so a wrong one is refused here.
pub(crate) const MODES: [&str; 6] = [
    "default",
    "acceptEdits",
    "plan",
    "dontAsk",
    "auto",
    "bypassPermissions",
];

const AFTER_HELP: &str = "\
When standard input is not a terminal:
  Each line is one message, sent when the turn before it is over; empty lines are passed over.
  A question takes the next line if that is an answer to it (y, a, n and why; a number or words).
  Otherwise, and at the end of the input, the question is refused and the line stays a message.
  The output is plain text. After the last line the conversation is ended.

Exit codes:
  0  all went well
  1  a turn failed (without a terminal or with --print), Claude Code crashed or could not be started
  2  the command line is wrong
  130, 143  stopped by Ctrl-C or a signal

Environment:
  CLAUDE_CODE_PATH    the `claude` program, as --claude
  ESTELLE_SIM_CLAUDE  the simulator, instead of the `estelle-sim-claude` beside this program
  NO_COLOR            no colours";

fn parse_mode(text: &str) -> Result<String, String> {
    let found = MODES.iter().find(|mode| mode.eq_ignore_ascii_case(text));
    found
        .map(|mode| (*mode).to_owned())
        .ok_or_else(|| format!("the modes are {}", MODES.join(", ")))
}
