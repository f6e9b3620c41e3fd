//! Control requests of the host that only ask: who are you, what does it cost, what is set.

use super::control::Answered;
use super::hooks::read_hooks;
use super::json::{Json, obj};
use super::state::Sim;

const HOOK_EVENTS: [&str; 33] = [
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "Notification",
    "UserPromptSubmit",
    "UserPromptExpansion",
    "SessionStart",
    "SessionEnd",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "PreModelSwitch",
    "PostModelSwitch",
    "PermissionRequest",
    "PermissionDenied",
    "Setup",
    "TeammateIdle",
    "TaskCreated",
    "TaskCompleted",
    "Elicitation",
    "ElicitationResult",
    "ConfigChange",
    "WorktreeCreate",
    "WorktreeRemove",
    "InstructionsLoaded",
    "CwdChanged",
    "FileChanged",
    "DirectoryAdded",
    "MessageDisplay",
];

impl Sim {
    /// `initialize`: registers hooks and servers, and answers once the servers have greeted back.
    pub(crate) fn initialize(&self, request: &Json, id: Option<&Json>) {
        let again = self.with(|state| {
            let again = state.initialized;
            state.initialized = true;
            state.agent_text |= request.flag("forwardSubagentText");
            state.initializing += 1;
            again
        });
        // A second one registers hooks on 2.1.325 only.
        if let Some(hooks) = request.get("hooks").filter(|_| !again || self.is_325()) {
            let hooks = read_hooks(hooks);
            self.with(|state| state.hooks = hooks);
        }
        let named: Vec<String> = request
            .get("sdkMcpServers")
            .map(Json::items)
            .unwrap_or_default()
            .iter()
            .filter_map(Json::as_text)
            .map(str::to_owned)
            .collect();
        // Servers that only `initialize` names are not waited for; the newer CLI greets them first.
        if !named.is_empty() && !self.is_325() {
            self.answer_initialize(id, again);
            self.with(|state| state.initializing -= 1);
            self.connect_servers(&named);
            return;
        }
        self.connect_servers(&named);
        let waits = named.is_empty();
        let (sim, id) = (self.clone(), id.cloned());
        self.spawn(async move {
            sim.until(|state| {
                let greeted = |server: &super::mcp::McpServer| {
                    !waits || server.greeted || server.is_settled()
                };
                state.mcp.iter().all(greeted).then_some(())
            })
            .await;
            sim.answer_initialize(id.as_ref(), again);
            sim.with(|state| state.initializing -= 1);
        });
    }

    fn answer_initialize(&self, id: Option<&Json>, again: bool) {
        let setup = self.setup();
        let (env, newer) = (&setup.env, setup.version.is_325());
        let mut body = setup.version.recorded("initialize");
        if newer {
            let mode = self.with(|state| state.chat.mode.clone());
            let busy = self.with(|state| state.work.turn.is_some());
            body.set(
                "user_output_styles_dir",
                format!("{}/.claude/output-styles", env.home),
            );
            body.set("current_permission_mode", mode);
            let asking = self.with(|state| state.pending.iter().any(super::state::Pending::is_ask));
            let doing = match (busy, asking) {
                (true, true) => "requires_action",
                (true, false) => "running",
                (false, _) => "idle",
            };
            body.set("session_state", doing);
            // The process id stands between the account and the version.
            let hooked = self.with(|state| !state.hooks.is_empty());
            let mut fields = Vec::new();
            for (key, value) in body.fields() {
                if key == "claude_code_version" {
                    fields.push(("pid".to_owned(), Json::from(env.pid)));
                }
                fields.push((key.clone(), value.clone()));
                if key == "current_permission_mode" && hooked {
                    fields.push(("hooks_applied".to_owned(), Json::Bool(true)));
                }
            }
            body = Json::Object(fields);
        } else {
            body.set("pid", env.pid);
        }
        let pending: Vec<Json> = self.with(|state| {
            let asks = state.pending.iter().filter(|pending| pending.is_ask());
            asks.map(|pending| pending.line.clone()).collect()
        });
        let begun = self.with(|state| state.work.turn.is_some() || state.totals.results > 0);
        let listed = newer || again || begun;
        let none: Vec<Json> = Vec::new();
        self.emit(&obj! {
            "type" => "control_response",
            "response" => obj! {
                "subtype" => "success",
                "request_id" if id.is_some() => id.cloned(),
                "response" => body,
                "pending_permission_requests" if listed => pending,
                "pending_user_dialog_requests" if listed => none,
            },
        });
        if begun {
            self.print_tasks();
        }
    }

    /// Answers a request that changes nothing.
    pub(crate) fn inquire(&self, subtype: &str, request: &Json) -> Answered {
        let newer = self.is_325();
        let setup = self.setup();
        match subtype {
            "mcp_status" => {
                let entries: Vec<Json> =
                    self.with(|state| state.mcp.iter().map(|server| server.entry(newer)).collect());
                Answered::With(obj! { "mcpServers" => entries })
            }
            "get_context_usage" => Answered::With(self.context_usage()),
            "get_settings" => Answered::With(self.settings()),
            "get_session_cost" => Answered::With(obj! { "text" => self.cost_text() }),
            "get_usage" => Answered::With(self.usage()),
            "get_binary_version" => Answered::With(obj! {
                "version" => setup.version.number(),
                "buildTime" => setup.version.build_time(),
            }),
            "file_suggestions" => {
                let none: Vec<Json> = Vec::new();
                Answered::With(obj! { "suggestions" => none, "cwd" if newer => &setup.env.cwd })
            }
            "read_file" => self.read_file(request),
            "register_repo_root" => self.refuse_root(request),
            "reload_plugins" => self.reload_plugins(),
            "reload_skills" => Answered::With(self.skills()),
            "side_question" => Self::side_question(request),
            "generate_session_title" => Answered::With(obj! { "title" => Json::Null }),
            _ if newer => self.inquire_325(subtype, request),
            _ => Answered::Unknown,
        }
    }

    fn inquire_325(&self, subtype: &str, _request: &Json) -> Answered {
        let recorded = self.version().recorded("initialize");
        let part = |key: &str| recorded.get(key).cloned().unwrap_or_default();
        match subtype {
            "list_models" => Answered::With(obj! { "models" => part("models") }),
            "reload_output_styles" => Answered::With(
                obj! { "available_output_styles" => part("available_output_styles") },
            ),
            "list_permission_rules" => {
                let none: Vec<Json> = Vec::new();
                Answered::With(obj! {
                    "state" => obj! {
                        "rules" => none.clone(),
                        "workspaceDirectories" => none,
                        "originalCwd" => &self.setup().env.cwd,
                        "managedOnly" => false,
                    },
                })
            }
            "get_hooks_listing" => Answered::With(hooks_listing()),
            "get_task_output" => {
                let text =
                    "get_task_output: no shell or Monitor task with that task_id in this session";
                Answered::Error(text.to_owned(), None)
            }
            _ => Answered::Unknown,
        }
    }

    fn context_usage(&self) -> Json {
        let model = self.with(|state| state.chat.model.clone());
        let category = |name: &str, tokens: u32, color: &str| {
            obj! { "name" => name, "tokens" => tokens, "color" => color }
        };
        let none: Vec<Json> = Vec::new();
        obj! {
            "categories" => vec![
                category("System prompt", 900, "promptBorder"),
                category("Messages", 100, "purple_FOR_SUBAGENTS_ONLY"),
                category("Free space", 999_000, "promptBorder"),
            ],
            "totalTokens" => 1000,
            "maxTokens" => 1_000_000,
            "rawMaxTokens" => 1_000_000,
            "percentage" => 0,
            "gridRows" => none.clone(),
            "model" => model,
            "memoryFiles" => none.clone(),
            "mcpTools" => none.clone(),
            "agents" => none,
        }
    }

    fn settings(&self) -> Json {
        let model = self.with(|state| state.chat.model.clone());
        let newer = self.is_325();
        let none: Vec<Json> = Vec::new();
        obj! {
            "effective" => Json::empty(),
            "sources" => none,
            "applied" => obj! {
                "model" => model,
                "effort" => self.version().effort(),
                "advisor" if newer => Json::Null,
                "ultracode" => false,
                "ultracodeRequested" if newer => false,
                "ultracodeAvailable" if newer => true,
                "ultrathinkAvailable" if newer => false,
                "outsideFileToolReadsBlocked" if newer => false,
                "outsideFileToolWritesBlocked" if newer => false,
                "outsideBlocksCountLaunchFoldersOnly" if newer => false,
                "launchEnvLeftOwnFilesInPlace" if newer => true,
            },
        }
    }

    fn usage(&self) -> Json {
        let version = self.version();
        self.with(|state| {
            let session = obj! {
                "total_cost_usd" => state.totals.dollars,
                "total_api_duration_ms" => state.totals.api_ms,
                "total_duration_ms" => state.now - state.started,
                "total_lines_added" => 0,
                "total_lines_removed" => 0,
                "model_usage" => state.totals.by_model(version),
            };
            obj! {
                "session" => session,
                "subscription_type" => Json::Null,
                "rate_limits_available" => false,
                "rate_limits" => Json::Null,
                "behaviors" => Json::Null,
            }
        })
    }

    fn read_file(&self, request: &Json) -> Answered {
        let given = request.text("path").unwrap_or_default();
        let path = self.absolute(given);
        let text = self.with(|state| state.work.disk.read(&path));
        match text.filter(|_| self.is_inside(&path)) {
            Some(text) => Answered::With(obj! { "content" => text, "encoding" => "utf-8" }),
            None => Answered::Error(format!("read denied: {given}"), None),
        }
    }

    fn refuse_root(&self, request: &Json) -> Answered {
        let given = request.text("directory").unwrap_or_default();
        let path = self.absolute(given);
        let cwd = self.setup().env.cwd.clone();
        if self.is_inside(&path) && path != cwd {
            return Answered::With(Json::empty());
        }
        let text = if self.is_325() {
            format!(
                "register_repo_root: {given} is not a subdirectory of the session's working directory or of a launch-time --add-dir root"
            )
        } else {
            format!("register_repo_root: {given} is not a subdirectory of cwd")
        };
        Answered::Error(text, None)
    }

    fn reload_plugins(&self) -> Answered {
        let recorded = self.version().recorded("initialize");
        let part = |key: &str| recorded.get(key).cloned().unwrap_or_default();
        if !self.is_325() {
            self.print_system("commands_changed", obj! { "commands" => part("commands") });
        }
        let servers: Vec<Json> = Vec::new();
        Answered::With(obj! {
            "commands" => part("commands"),
            "agents" => part("agents"),
            "plugins" => self.version().recorded("init").get("plugins").cloned(),
            "mcpServers" => servers,
            "error_count" => 0,
        })
    }

    fn skills(&self) -> Json {
        let init = self.version().recorded("init");
        let names = init.get("skills").map(Json::items).unwrap_or_default();
        let recorded = self.version().recorded("initialize");
        let commands = recorded
            .get("commands")
            .map(Json::items)
            .unwrap_or_default();
        let skills: Vec<Json> = commands
            .iter()
            .filter(|command| {
                names
                    .iter()
                    .any(|name| name.as_text() == command.text("name"))
            })
            .cloned()
            .collect();
        obj! { "skills" => skills }
    }

    fn side_question(request: &Json) -> Answered {
        let asked = request.text("question").unwrap_or_default();
        let mut cursor = super::cursor::Cursor::read(asked, true);
        let said = match cursor.next() {
            super::cursor::Next::Say(text) => text,
            super::cursor::Next::Step(step) => match step.action {
                crate::script::Action::Answer(answer) => answer.say.unwrap_or_default(),
                crate::script::Action::Http(_)
                | crate::script::Action::Malformed(_)
                | crate::script::Action::Mischief(_) => String::new(),
            },
            super::cursor::Next::Error(error) => error.msg,
        };
        Answered::With(obj! { "response" => said, "synthetic" => false })
    }
}

fn hooks_listing() -> Json {
    let catalog: Vec<Json> = HOOK_EVENTS
        .iter()
        .map(|name| obj! { "name" => *name, "summary" => *name, "supportsMatcher" => true })
        .collect();
    let none: Vec<Json> = Vec::new();
    obj! {
        "events" => none.clone(),
        "hooks" => none,
        "eventCatalog" => catalog,
        "policy" => obj! {
            "disabledByPolicy" => false,
            "managedOnly" => false,
            "pluginOnly" => false,
            "allDisabled" => false,
            "policyHookCount" => 0,
        },
    }
}
