//! The lines that describe the session rather than the conversation: `init`, `status`, state changes, life cycle, echoes.
//!
//! Order and names of fields follow the recorded traffic of both versions.

use super::json::{Json, obj};
use super::state::{Queued, Sim, State, Switch};

/// Tools that are offered only when somebody can be asked.
const ASKING_TOOLS: [&str; 3] = ["AskUserQuestion", "EnterPlanMode", "ExitPlanMode"];

impl Sim {
    /// Prints `system/init`.
    pub(crate) fn print_init(&self) {
        let line = self.with(init_line);
        self.emit(&line);
    }

    /// Prints `system/status` with `status: requesting`, if the host wants partial messages.
    pub(crate) fn print_requesting(&self, uuids: &[String]) {
        if !self.setup().args.partial {
            return;
        }
        let line = self.system("status", obj! { "status" => "requesting" });
        let named = self.is_325() && !uuids.is_empty();
        let line = if named {
            line.with("user_message_uuids", uuids.to_vec())
        } else {
            line
        };
        self.emit(&line);
    }

    /// A `system` line.
    pub(crate) fn system(&self, subtype: &str, body: Json) -> Json {
        let mut line = obj! { "type" => "system", "subtype" => subtype };
        for (key, value) in body.into_fields() {
            line.set(&key, value);
        }
        let (session, uuid) = (self.session_id(), self.uuid());
        if self.names_session_first(subtype, &line) {
            line.with("session_id", session).with("uuid", uuid)
        } else {
            line.with("uuid", uuid).with("session_id", session)
        }
    }

    /// Which of the two ids comes first differs from line to line in the real output.
    fn names_session_first(&self, subtype: &str, line: &Json) -> bool {
        let newer = self.is_325();
        match subtype {
            "status" if line.get("permissionMode").is_some() => false,
            "status" => newer || line.text("status") != Some("requesting"),
            "api_retry" => true,
            "notification" | "thinking_tokens" => newer,
            "task_notification" => {
                // A sub-agent in the foreground has no file for its output.
                let behind = line
                    .text("output_file")
                    .is_some_and(|file| !file.is_empty());
                !newer && line.text("status") == Some("completed") && behind
            }
            _ => false,
        }
    }

    /// Prints a `system` line.
    pub(crate) fn print_system(&self, subtype: &str, body: Json) {
        let line = self.system(subtype, body);
        self.emit(&line);
    }

    /// Prints `session_state_changed`, if asked for.
    pub(crate) fn print_state(&self, name: &str) {
        if self.setup().env.is_on(Switch::StateEvents) {
            self.print_system("session_state_changed", obj! { "state" => name });
        }
    }

    /// Prints `command_lifecycle` for a message with a uuid.
    pub(crate) fn print_lifecycle(&self, uuid: Option<&String>, name: &str) {
        let Some(command) = uuid.filter(|_| self.is_325()) else {
            return;
        };
        self.emit(&obj! {
            "type" => "command_lifecycle",
            "command_uuid" => command,
            "state" => name,
            "uuid" => self.uuid(),
            "session_id" => self.session_id(),
        });
    }

    /// Sets the permission mode and says so.
    pub(crate) fn change_mode(&self, mode: &str) {
        let changed = self.with(|state| {
            let changed = state.chat.mode != mode;
            mode.clone_into(&mut state.chat.mode);
            changed
        });
        if changed {
            self.print_system(
                "status",
                obj! { "status" => Json::Null, "permissionMode" => mode },
            );
        }
    }

    /// The echo of a user message at the moment it is taken.
    pub(crate) fn echo_line(&self, content: &Json, uuid: Option<&String>, at: Option<u64>) -> Json {
        let uuid = uuid.cloned().unwrap_or_else(|| self.uuid());
        obj! {
            "type" => "user",
            "message" => obj! { "role" => "user", "content" => content },
            "session_id" => self.session_id(),
            "parent_tool_use_id" => Json::Null,
            "uuid" => uuid,
            "timestamp" if at.is_some() => super::clock::iso(at.unwrap_or_default()),
            "isReplay" => true,
        }
    }

    /// The echo of a queued message.
    pub(crate) fn echo_queued(&self, message: &Queued) -> Json {
        self.echo_line(&message.content, message.uuid.as_ref(), Some(message.at))
    }
}

fn init_line(state: &mut State) -> Json {
    let setup = &state.setup;
    let recorded = setup.version.recorded("init");
    let can_ask = setup.args.permissions.prompt_tool.is_some();
    let mut tools: Vec<String> = recorded
        .get("tools")
        .map(Json::items)
        .unwrap_or_default()
        .iter()
        .filter_map(Json::as_text)
        .filter(|tool| can_ask || !ASKING_TOOLS.contains(tool))
        .filter(|tool| offered(setup.args.tools.as_deref(), tool))
        .map(str::to_owned)
        .collect();
    tools.extend(state.mcp.iter().flat_map(super::mcp::McpServer::tool_names));
    let servers: Vec<Json> = state
        .mcp
        .iter()
        .map(|server| {
            let named = state.setup.version.is_325() && server.is_in_process();
            obj! { "name" => &server.name, "status" => server.status(), "source" if named => "sdk" }
        })
        .collect();
    let env = &setup.env;
    let memory = format!("{}/memory/", super::store::project_dir(env));
    let mut line = recorded
        .with("cwd", &env.cwd)
        .with("session_id", &state.chat.id)
        .with("tools", tools)
        .with("mcp_servers", servers)
        .with("model", &state.chat.model)
        .with("permissionMode", &state.chat.mode)
        .with("uuid", state.ids.uuid())
        .with("memory_paths", obj! { "auto" => memory });
    if setup.version.is_325() {
        line.set("original_cwd", &env.cwd);
        line.set("additional_directories", setup.args.add_dirs.clone());
        line.set(
            "messaging_socket_path",
            format!("/tmp/cc-socks/{}.sock", env.pid),
        );
        if !state.work.turn_uuids.is_empty() {
            line.set("user_message_uuids", state.work.turn_uuids.clone());
        }
    }
    line
}

fn offered(wanted: Option<&[String]>, tool: &str) -> bool {
    let named = |list: &[String]| {
        list.iter()
            .any(|name| name == "default" || name == tool || (tool == "Task" && name == "Agent"))
    };
    wanted.is_none_or(named)
}
