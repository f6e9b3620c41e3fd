//! The command line, option by option.
//!
//! The arguments and their form (`--flag=value`, or two words for JSON and extra arguments) are those the
//! TypeScript SDK 0.3.325 passes. The order is fixed, so equal options give equal command lines.

use std::ffi::{OsStr, OsString};

use super::{
    Beta, Effort, Options, OutputFormat, PermissionPrompts, PluginDelivery, Settings, Skills,
    Thinking, Tools, sandbox,
};
use crate::mcp::mcp_config_argument;
use crate::wire::PermissionMode;

impl Options {
    /// The arguments behind program and runtime, the base first.
    pub(crate) fn arguments(&self) -> Vec<OsString> {
        let mut args = Arguments::default();
        args.pair("--output-format", "stream-json");
        args.flag("--verbose");
        args.pair("--input-format", "stream-json");
        self.model_arguments(&mut args);
        self.tool_arguments(&mut args);
        self.session_arguments(&mut args);
        self.process_arguments(&mut args);
        self.settings_arguments(&mut args);
        for extra in &self.process.extra_args {
            let flag = format!("--{}", extra.name);
            match &extra.value {
                Some(value) => args.pair(&flag, value),
                None => args.flag(&flag),
            }
        }
        args.0
    }

    fn model_arguments(&self, args: &mut Arguments) {
        let model = &self.model;
        let thinking = model
            .thinking
            .or(model.max_thinking_tokens.map(|tokens| match tokens {
                0 => Thinking::Disabled,
                _ => Thinking::budget(tokens),
            }));
        match thinking {
            Some(Thinking::Enabled {
                budget_tokens: Some(tokens),
                ..
            }) => {
                args.joined("--max-thinking-tokens", tokens.to_string());
            }
            Some(
                Thinking::Adaptive(_)
                | Thinking::Enabled {
                    budget_tokens: None,
                    ..
                },
            ) => {
                args.flag("--thinking=adaptive");
            }
            Some(Thinking::Disabled) => args.flag("--thinking=disabled"),
            None => {}
        }
        args.optional(
            "--thinking-display",
            thinking
                .and_then(Thinking::display)
                .map(|it| it.to_string()),
        );
        args.optional("--effort", model.effort.map(Effort::as_str));
        args.optional(
            "--max-turns",
            model.max_turns.map(|turns| turns.to_string()),
        );
        args.optional(
            "--max-budget-usd",
            model.max_budget_usd.map(|dollars| dollars.to_string()),
        );
        args.optional(
            "--task-budget",
            model.task_budget.map(|tokens| tokens.to_string()),
        );
        args.optional("--model", model.model.as_deref());
        args.optional("--fallback-model", model.fallback_model.as_deref());
        args.optional("--agent", self.agents.agent.as_deref());
        args.list("--betas", model.betas.iter().map(Beta::as_str));
        if let Some(OutputFormat::JsonSchema(schema)) = &model.output_format {
            args.joined("--json-schema", schema.to_string());
        }
    }

    fn tool_arguments(&self, args: &mut Arguments) {
        if self.callbacks.can_use_tool.is_some() {
            args.flag("--permission-prompt-tool=stdio");
        }
        args.optional(
            "--permission-prompt-tool",
            self.permissions.prompt_tool_name.as_deref(),
        );
        args.optional(
            "--permission-prompts",
            self.permissions.prompts.map(PermissionPrompts::as_str),
        );
        args.optional(
            "--permission-mode",
            self.permissions.mode.as_ref().map(PermissionMode::as_str),
        );
        if self.permissions.allow_dangerously_skip {
            args.flag("--allow-dangerously-skip-permissions");
        }
        let allowed = self.allowed_tools_with_skills();
        args.list("--allowedTools", allowed.iter().map(String::as_str));
        args.list(
            "--disallowedTools",
            self.tools.disallowed.iter().map(String::as_str),
        );
        match &self.tools.tools {
            Some(Tools::List(names)) => args.joined("--tools", names.join(",")),
            Some(Tools::Preset) => args.flag("--tools=default"),
            None => {}
        }
    }

    /// The allowed rules and those that the skills need, each once.
    fn allowed_tools_with_skills(&self) -> Vec<String> {
        let for_skills = match &self.tools.skills {
            None => Vec::new(),
            Some(Skills::All) => vec!["Skill".to_owned()],
            Some(Skills::List(names)) => {
                names.iter().map(|name| format!("Skill({name})")).collect()
            }
        };
        let mut allowed = self.tools.allowed.clone();
        for rule in for_skills {
            if !allowed.contains(&rule) {
                allowed.push(rule);
            }
        }
        allowed
    }

    fn session_arguments(&self, args: &mut Arguments) {
        let session = &self.session;
        args.switch("--continue", session.continue_);
        args.optional("--resume", session.resume.as_deref());
        args.switch("--fork-session", session.fork);
        args.optional("--resume-session-at", session.resume_at.as_deref());
        args.optional("--resume-drops-turn", session.resume_drops_turn.as_deref());
        args.optional("--session-id", session.session_id.as_deref());
        args.switch("--no-session-persistence", session.no_persistence);
        args.switch("--include-hook-events", self.stream.hook_events);
        args.switch("--include-partial-messages", self.stream.partial_messages);
        args.switch("--replay-user-messages", self.stream.replay_user_messages);
    }

    fn process_arguments(&self, args: &mut Arguments) {
        let process = &self.process;
        args.optional(
            "--project-config-root",
            process.project_config_root.as_deref(),
        );
        for directory in &process.additional_directories {
            args.joined("--add-dir", directory);
        }
        match &process.debug_file {
            Some(file) => args.joined("--debug-file", file),
            None => args.switch("--debug", process.debug),
        }
    }

    fn settings_arguments(&self, args: &mut Arguments) {
        let settings = &self.settings;
        if let Some(servers) = mcp_config_argument(&settings.mcp_servers) {
            args.pair("--mcp-config", servers);
        }
        args.switch("--strict-mcp-config", settings.strict_mcp_config);
        if let Some(sources) = &settings.sources {
            let names: Vec<_> = sources.iter().map(|source| source.as_str()).collect();
            args.joined("--setting-sources", names.join(","));
        }
        match settings.plugin_delivery {
            PluginDelivery::Initialize => args.flag("--await-initialize"),
            PluginDelivery::Argv => {
                for plugin in &settings.plugins {
                    let flag = if plugin.skip_mcp_discovery {
                        "--plugin-dir-no-mcp"
                    } else {
                        "--plugin-dir"
                    };
                    args.joined(flag, &plugin.path);
                }
            }
        }
        if let Some(managed) = &settings.managed {
            args.pair("--managed-settings", managed.to_string());
        }
        match (&settings.settings, &settings.sandbox) {
            (Some(Settings::Path(path)), _) => args.pair("--settings", path),
            (Some(Settings::Inline(value)), None) => args.pair("--settings", value.to_string()),
            (Some(Settings::Inline(value)), Some(sandbox)) => {
                args.pair(
                    "--settings",
                    sandbox::merged_settings(value, sandbox).to_string(),
                );
            }
            (None, Some(sandbox)) => {
                let settings = sandbox::merged_settings(&serde_json::Value::Null, sandbox);
                args.pair("--settings", settings.to_string());
            }
            (None, None) => {}
        }
    }
}

/// The arguments under construction.
#[derive(Default)]
struct Arguments(Vec<OsString>);

impl Arguments {
    fn flag(&mut self, flag: &str) {
        self.0.push(flag.into());
    }

    fn switch(&mut self, flag: &str, on: bool) {
        if on {
            self.flag(flag);
        }
    }

    /// `--flag=value`, which also carries values that begin with a dash.
    fn joined(&mut self, flag: &str, value: impl AsRef<OsStr>) {
        let mut arg = OsString::from(flag);
        arg.push("=");
        arg.push(value);
        self.0.push(arg);
    }

    fn optional(&mut self, flag: &str, value: Option<impl AsRef<OsStr>>) {
        if let Some(value) = value {
            self.joined(flag, value);
        }
    }

    fn list<'a>(&mut self, flag: &str, values: impl Iterator<Item = &'a str>) {
        let values: Vec<_> = values.collect();
        if !values.is_empty() {
            self.joined(flag, values.join(","));
        }
    }

    /// `--flag value`, or the joined form when the value would be taken for a flag.
    fn pair(&mut self, flag: &str, value: impl AsRef<OsStr>) {
        let value = value.as_ref();
        if value.len() > 1 && value.as_encoded_bytes().starts_with(b"-") {
            self.joined(flag, value);
        } else {
            self.flag(flag);
            self.0.push(value.to_owned());
        }
    }
}
