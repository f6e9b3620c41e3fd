//! `estelle policy explain`: what would become of a tool call, and why.
//!
//! Reads the call from the command line, or one call per line from the input, asks the same function as the host with the
//! host's own rules, lists and order (unless arguments say otherwise), and prints the verdict. Nothing runs and nothing is changed. A line that is no call gets a line with an `error`, and the
//! next one is read; the exit code then says that something was wrong.

use std::io::{self, BufRead, Read as _, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use estelle_host::rules::{InForce, RuleBook};
use estelle_proto::WorkspaceId;
use estelle_state::policy::{DenyPatterns, Mode, Place, Policy, RuleTexts, Scope, Verdict, judge};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::config::ConfigArgs;
use crate::data::DataArgs;
use crate::host::load_patterns;

/// The longest line that is read as a call.
const LONGEST_LINE: u64 = 64 * 1024 * 1024;

/// Explain what the permission policy decides.
#[derive(Debug, Args)]
pub(crate) struct PolicyArgs {
    #[command(subcommand)]
    command: PolicyCommand,
}

#[derive(Debug, Subcommand)]
enum PolicyCommand {
    /// Print the verdict about a tool call and the reason for it; nothing is run.
    Explain(ExplainArgs),
}

#[derive(Debug, Args)]
struct ExplainArgs {
    /// The tool, such as Bash or Edit.
    #[arg(required_unless_present = "stdin")]
    tool: Option<String>,
    /// Its input as a JSON object, such as '{"command":"ls"}'.
    #[arg(required_unless_present = "stdin")]
    input: Option<String>,
    /// Read one {"tool","input","mode"?,"denyFirst"?} per line and print one verdict per line.
    #[arg(long, conflicts_with_all = ["tool", "input"])]
    stdin: bool,
    /// default, acceptEdits, bypassPermissions or plan.
    #[arg(long, default_value = "default")]
    mode: Mode,
    /// Let deny patterns and deny rules come before modes, or not; as configured for the host if nothing is said.
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true"
    )]
    deny_first: Option<bool>,
    /// The folder in which the tool would run.
    #[arg(long, value_name = "FOLDER")]
    cwd: Option<PathBuf>,
    /// The workspace whose rules count beside those of the machine.
    #[arg(long, value_name = "ID", conflicts_with = "rules")]
    workspace: Option<String>,
    /// Rules and lists to apply in place of the host's own, as JSON: {"allow":[],"deny":[],"ask":[],"workspace":{"allow":[],...},"patterns":{...}}.
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    /// A folder that no tool may touch; the data folder if nothing is said.
    #[arg(long, value_name = "FOLDER")]
    data_folder: Option<PathBuf>,
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    config: ConfigArgs,
    /// Print JSON, also for a single call.
    #[arg(long)]
    json: bool,
}

/// The file behind `--rules`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RulesFile {
    allow: Vec<String>,
    deny: Vec<String>,
    ask: Vec<String>,
    workspace: RuleTexts,
    patterns: DenyPatterns,
}

/// One line of the input.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallLine {
    tool: String,
    input: Value,
    mode: Option<Mode>,
    deny_first: Option<bool>,
}

/// Runs the subcommand.
pub(crate) fn run(args: PolicyArgs) -> anyhow::Result<ExitCode> {
    let PolicyCommand::Explain(args) = args.command;
    let desk = Desk::new(&args)?;
    let outcome = match (args.tool, args.input) {
        (Some(tool), Some(input)) => desk.explain_one(&tool, &input, args.json),
        _ => desk.explain_lines(io::stdin().lock(), io::stdout().lock()),
    };
    match outcome {
        // Whoever reads our output has seen enough.
        Err(error) if is_broken_pipe(&error) => Ok(ExitCode::SUCCESS),
        other => other,
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let source = error.downcast_ref::<io::Error>();
    source.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// What is the same for every call.
#[derive(Debug)]
struct Desk {
    policy: Policy,
    /// Why the host would ask about everything.
    damaged: Option<String>,
    cwd: String,
    home: Option<String>,
    data_folder: Option<String>,
}

impl Desk {
    fn new(args: &ExplainArgs) -> anyhow::Result<Self> {
        let deny_first = match args.deny_first {
            Some(deny_first) => deny_first,
            None => args.config.load()?.host.deny_first,
        };
        let mut policy = Policy {
            mode: args.mode,
            deny_first,
            ..Policy::default()
        };
        let data = args.data.folder().ok();
        let mut damaged = None;
        if let Some(file) = &args.rules {
            load_rules(file, &mut policy)?;
        } else if let Some(data) = &data {
            damaged = load_own_rules(data, args.workspace.as_deref(), &mut policy)?;
        }
        let current = || {
            std::env::current_dir()
                .context("failed to find the current folder; give one with --cwd")
        };
        let cwd = args.cwd.clone().map_or_else(current, Ok)?;
        Ok(Self {
            policy,
            damaged,
            cwd: absolute_text(&cwd, "--cwd")?,
            home: std::env::var("HOME")
                .ok()
                .filter(|home| home.starts_with('/')),
            data_folder: args
                .data_folder
                .as_deref()
                .or(data.as_deref())
                .map(|folder| absolute_text(folder, "--data-folder"))
                .transpose()?,
        })
    }

    fn explain_one(&self, tool: &str, input: &str, as_json: bool) -> anyhow::Result<ExitCode> {
        let input: Value = serde_json::from_str(input)
            .context("failed to read the input as JSON; write it like '{\"command\":\"ls\"}'")?;
        if !input.is_object() {
            bail!("the input of a tool is a JSON object; write it like '{{\"command\":\"ls\"}}'");
        }
        let verdict = self.verdict(&self.policy, tool, &input);
        let mut out = io::stdout().lock();
        if as_json {
            writeln!(out, "{verdict}")?;
        } else {
            let text = |key: &str| verdict[key].as_str().unwrap_or_default();
            writeln!(out, "{}: {}", text("verdict"), text("reason"))?;
        }
        Ok(ExitCode::SUCCESS)
    }

    fn explain_lines(
        &self,
        mut lines: impl BufRead,
        mut out: impl Write,
    ) -> anyhow::Result<ExitCode> {
        let mut is_clean = true;
        let mut line = Vec::new();
        for number in 1_usize.. {
            line.clear();
            if lines
                .by_ref()
                .take(LONGEST_LINE)
                .read_until(b'\n', &mut line)?
                == 0
            {
                break;
            }
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let is_cut = line.len() as u64 == LONGEST_LINE && !line.ends_with(b"\n");
            let answer = if is_cut {
                skip_line(&mut lines)?;
                Err(anyhow::anyhow!(
                    "the line is longer than {LONGEST_LINE} bytes"
                ))
            } else {
                self.explain_line(&line)
            };
            let value = answer.unwrap_or_else(|error| {
                is_clean = false;
                json!({ "error": format!("{error:#}"), "line": number })
            });
            writeln!(out, "{value}")?;
            out.flush()?;
        }
        Ok(if is_clean {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }

    fn explain_line(&self, line: &[u8]) -> anyhow::Result<Value> {
        let call: CallLine = serde_json::from_slice(line)
            .context("failed to read a call; write {\"tool\":…,\"input\":{…}} with \"mode\" and \"denyFirst\" if wanted")?;
        if !call.input.is_object() {
            bail!("the input of a tool is a JSON object");
        }
        let policy = Policy {
            mode: call.mode.unwrap_or(self.policy.mode),
            deny_first: call.deny_first.unwrap_or(self.policy.deny_first),
            ..self.policy.clone()
        };
        Ok(self.verdict(&policy, &call.tool, &call.input))
    }

    fn verdict(&self, policy: &Policy, tool: &str, input: &Value) -> Value {
        match &self.damaged {
            Some(reason) => {
                json!({ "verdict": "ask", "reason": reason, "detail": { "code": "damagedRules" } })
            }
            None => as_value(&self.judge(policy, tool, input)),
        }
    }

    fn judge(&self, policy: &Policy, tool: &str, input: &Value) -> Verdict {
        let place = Place {
            cwd: &self.cwd,
            home: self.home.as_deref(),
            data_folder: self.data_folder.as_deref(),
            messages: &[],
            resolve: &|path| estelle_host::links::follow(path, &self.cwd),
            twins: &|_| Vec::new(),
        };
        let twins = |path: &str| estelle_host::links::twins(path, &place.vicinity(path));
        let place = Place {
            twins: &twins,
            ..place
        };
        judge(policy, place, tool, input)
    }
}

fn as_value(verdict: &Verdict) -> Value {
    json!({
        "verdict": verdict.word(),
        "reason": verdict.reason().to_string(),
        "detail": verdict.reason(),
    })
}

fn skip_line(lines: &mut impl BufRead) -> io::Result<()> {
    loop {
        let buffer = lines.fill_buf()?;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let length = end.map_or(buffer.len(), |end| end + 1);
        lines.consume(length);
        if end.is_some() || length == 0 {
            return Ok(());
        }
    }
}

/// The rules and lists that the host of this machine goes by. Gives the reason if it would ask about everything.
fn load_own_rules(
    data: &Path,
    workspace: Option<&str>,
    policy: &mut Policy,
) -> anyhow::Result<Option<String>> {
    let workspace = workspace
        .map(WorkspaceId::parse)
        .transpose()
        .context("--workspace is no id of a workspace; `estelle workspaces` lists them")?;
    policy.patterns = load_patterns(data)?;
    match RuleBook::load(data).in_force(workspace.as_ref()) {
        InForce::Rules(rules) => policy.rules = rules,
        InForce::AskEverything(damaged) => return Ok(Some(damaged.to_string())),
    }
    Ok(None)
}

fn load_rules(file: &Path, policy: &mut Policy) -> anyhow::Result<()> {
    let context = || format!("failed to read rules from {}", file.display());
    let text = std::fs::read_to_string(file).with_context(context)?;
    let rules: RulesFile = serde_json::from_str(&text).with_context(context)?;
    let global = RuleTexts {
        allow: rules.allow,
        deny: rules.deny,
        ask: rules.ask,
    };
    policy.rules = rules
        .workspace
        .parse(Scope::Workspace)
        .with_context(context)?;
    policy
        .rules
        .extend(global.parse(Scope::Global).with_context(context)?);
    policy.patterns = rules.patterns;
    Ok(())
}

fn absolute_text(path: &Path, option: &str) -> anyhow::Result<String> {
    let text = path
        .to_str()
        .with_context(|| format!("{option} is not valid text"))?;
    if !path.is_absolute() {
        bail!("{option} must be an absolute path, not {text}");
    }
    Ok(text.to_owned())
}
