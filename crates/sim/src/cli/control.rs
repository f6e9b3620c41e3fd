//! Control requests of the host that change something: interrupt, modes, models, tasks, MCP, the end.
//!
//! Requests that only ask for information are in [`super::inquiry`]. An unknown one gets the error the real CLI gives.

use super::json::{Json, obj};
use super::mcp::{McpServer, Phase};
use super::state::{Abort, Scope, Sim};

const MODES: [&str; 6] = [
    "acceptEdits",
    "auto",
    "bypassPermissions",
    "default",
    "dontAsk",
    "plan",
];
const NO_BYPASS: &str = "Cannot set permission mode to bypassPermissions because the session was not launched with --dangerously-skip-permissions";

/// What a request is answered with.
pub(crate) enum Answered {
    /// Success without a payload.
    Empty,
    /// Success with a payload.
    With(Json),
    /// An error, with the code that only 2.1.325 gives.
    Error(String, Option<&'static str>),
    /// The answer comes later, from a flow.
    Later,
    /// Not one of these.
    Unknown,
}

impl Sim {
    /// Takes a control request.
    pub(crate) fn take_request(&self, line: &Json) {
        let id = line.get("request_id").cloned();
        let request = line.get("request").cloned().unwrap_or_default();
        let subtype = request.text("subtype").unwrap_or_default().to_owned();
        let answered = match self.change(&subtype, &request, id.as_ref()) {
            Answered::Unknown => {
                if subtype == "side_question" && self.is_325() {
                    let body = obj! { "request_id" => id.clone(), "status" => "started" };
                    self.print_system("control_request_progress", body);
                }
                self.inquire(&subtype, &request)
            }
            answered @ (Answered::Empty
            | Answered::With(_)
            | Answered::Error(..)
            | Answered::Later) => answered,
        };
        match answered {
            Answered::Empty => self.answer(id.as_ref(), None),
            Answered::With(body) => self.answer(id.as_ref(), Some(body)),
            Answered::Error(text, code) => self.answer_error(id.as_ref(), &text, code),
            Answered::Later => {}
            Answered::Unknown => {
                let text = format!("Unsupported control request subtype: {subtype}");
                self.answer_error(id.as_ref(), &text, Some("unsupported_request"));
            }
        }
        self.after_answer(&subtype, &request);
    }

    /// Prints a successful answer.
    pub(crate) fn answer(&self, id: Option<&Json>, body: Option<Json>) {
        self.emit(&obj! {
            "type" => "control_response",
            "response" => obj! {
                "subtype" => "success",
                "request_id" if id.is_some() => id.cloned(),
                "response" if body.is_some() => body,
            },
        });
    }

    fn answer_error(&self, id: Option<&Json>, text: &str, code: Option<&str>) {
        let code = code.filter(|_| self.is_325());
        self.emit(&obj! {
            "type" => "control_response",
            "response" => obj! {
                "subtype" => "error",
                "request_id" if id.is_some() => id.cloned(),
                "error" => text,
                "error_code" if code.is_some() => code,
            },
        });
    }

    fn change(&self, subtype: &str, request: &Json, id: Option<&Json>) -> Answered {
        match subtype {
            "initialize" => {
                self.initialize(request, id);
                Answered::Later
            }
            "interrupt" => self.interrupt(request),
            "set_permission_mode" => self.set_mode(request),
            "set_model" => self.set_model(request.text("model")),
            "apply_flag_settings" => {
                let model = request.at(&["settings", "model"]).and_then(Json::as_text);
                if let Some(model) = model {
                    self.set_model(Some(model));
                }
                Answered::Empty
            }
            "set_max_thinking_tokens" | "seed_read_state" => Answered::Empty,
            "rename_session" => {
                if self.is_325() {
                    let title = request.text("title").unwrap_or_default();
                    self.print_system("session_title_changed", obj! { "title" => title });
                }
                Answered::Empty
            }
            "cancel_async_message" => {
                let uuid = request.text("message_uuid").unwrap_or_default();
                Answered::With(obj! { "cancelled" => self.unqueue(uuid) })
            }
            "stop_task" => {
                self.stop_task(request.text("task_id").unwrap_or_default());
                Answered::With(Json::empty())
            }
            "background_tasks" => {
                self.move_behind(request.text("tool_use_id"));
                Answered::With(Json::empty())
            }
            "end_session" => self.end_session(),
            "set_has_subscribers" if self.is_325() => Answered::Empty,
            "update_settings" if self.is_325() => Answered::With(Json::empty()),
            "rewind_files" => self.rewind(request),
            _ => self.change_mcp(subtype, request, id),
        }
    }

    fn after_answer(&self, subtype: &str, request: &Json) {
        let mode = request.text("mode").unwrap_or_default();
        let known = MODES.contains(&mode);
        let refused = mode == "bypassPermissions" && !self.setup().args.permissions.may_bypass;
        if subtype == "set_permission_mode" && known && !refused {
            // The answer comes before the line that says so.
            let current = self.with(|state| std::mem::take(&mut state.chat.mode));
            self.with(|state| state.chat.mode = current);
            self.print_system(
                "status",
                obj! { "status" => Json::Null, "permissionMode" => mode },
            );
        }
    }

    fn interrupt(&self, request: &Json) -> Answered {
        let scope = self.with(|state| state.work.turn);
        if let Some(scope) = scope {
            self.abort(scope);
        }
        if !self.is_325() {
            return Answered::Empty;
        }
        let queued: Vec<String> = self.with(|state| {
            state
                .inbox
                .queue
                .iter()
                .filter_map(|message| message.uuid.clone())
                .collect()
        });
        if !request.flag("cancel_queued") {
            return Answered::With(obj! { "still_queued" => queued });
        }
        let cancelled: Vec<String> = queued
            .into_iter()
            .filter(|uuid| self.unqueue(uuid))
            .collect();
        let none: Vec<String> = Vec::new();
        Answered::With(obj! { "still_queued" => none, "cancelled" => cancelled })
    }

    /// Ends a scope as an interrupt does.
    fn abort(&self, scope: Scope) {
        self.with(|state| {
            state.work.aborted.entry(scope).or_insert(Abort::Interrupt);
        });
        self.cancel_requests(|pending| pending.scope == scope);
    }

    fn set_mode(&self, request: &Json) -> Answered {
        let mode = request.text("mode").unwrap_or_default();
        if !MODES.contains(&mode) && self.is_325() {
            let text = format!(
                "Cannot set permission mode: must be one of {}",
                MODES.join(", ")
            );
            return Answered::Error(text, Some("invalid_mode"));
        }
        if mode == "bypassPermissions" && !self.setup().args.permissions.may_bypass {
            return Answered::Error(NO_BYPASS.to_owned(), Some("bypass_not_launched"));
        }
        self.with(|state| mode.clone_into(&mut state.chat.mode));
        Answered::With(obj! { "mode" => mode })
    }

    fn set_model(&self, wanted: Option<&str>) -> Answered {
        let version = self.version();
        let wanted = wanted.filter(|name| *name != "default");
        let name = wanted.unwrap_or(version.default_model());
        let full = version.resolve_model(name);
        let before = self.with(|state| std::mem::replace(&mut state.chat.model, full.clone()));
        let newer = version.is_325();
        let answer = if newer {
            Answered::With(obj! { "model" => &full })
        } else {
            Answered::Empty
        };
        if before == full {
            return answer;
        }
        let shown = if full == name {
            full
        } else {
            format!("{name} ({full})")
        };
        let shown = if newer { format!("`{shown}`") } else { shown };
        let text = format!("<local-command-stdout>Set model to {shown}</local-command-stdout>");
        self.emit(&self.echo_line(&text.into(), None, Some(self.now())));
        answer
    }

    fn end_session(&self) -> Answered {
        let running = self.with(|state| {
            state.inbox.ending = true;
            state.work.turn
        });
        if let Some(scope) = running {
            self.abort(scope);
        }
        if self.is_325() {
            let queued: Vec<String> = self.with(|state| {
                state
                    .inbox
                    .queue
                    .drain(..)
                    .filter_map(|message| message.uuid)
                    .collect()
            });
            for uuid in queued {
                self.print_lifecycle(Some(&uuid), "cancelled");
            }
        }
        Answered::Empty
    }

    fn rewind(&self, request: &Json) -> Answered {
        if !self.setup().env.is_on(super::state::Switch::Checkpoints) {
            return Answered::Error("File rewinding is not enabled.".to_owned(), None);
        }
        let uuid = request.text("user_message_id").unwrap_or_default();
        let saved: Vec<(String, Option<String>)> = self.with(|state| {
            let from = state
                .chat
                .checkpoints
                .iter()
                .position(|(message, ..)| message == uuid);
            let later = from
                .map(|from| &state.chat.checkpoints[from..])
                .unwrap_or_default();
            later
                .iter()
                .map(|(_, path, text)| (path.clone(), text.clone()))
                .collect()
        });
        if saved.is_empty() {
            let text = "No file checkpoint found for this message.".to_owned();
            return Answered::Error(text, None);
        }
        let paths: Vec<String> = saved.iter().map(|(path, _)| path.clone()).collect();
        if request.flag("dry_run") {
            return Answered::With(obj! {
                "canRewind" => true,
                "filesChanged" => paths,
                "insertions" => 0,
                "deletions" => 1,
            });
        }
        for (path, text) in saved.into_iter().rev() {
            let restored =
                self.with(|state| state.work.disk.write(&path, &text.unwrap_or_default()));
            if let Err(error) = restored {
                return Answered::Error(error.to_string(), None);
            }
        }
        Answered::With(obj! { "canRewind" => true })
    }

    fn change_mcp(&self, subtype: &str, request: &Json, id: Option<&Json>) -> Answered {
        let name = request.text("serverName").unwrap_or_default();
        let known = self.with(|state| state.mcp.iter().any(|server| server.name == name));
        let missing = || Answered::Error(format!("Server not found: {name}"), None);
        match subtype {
            "mcp_set_servers" => Answered::With(self.set_servers(request)),
            "mcp_reconnect" | "mcp_toggle" if !known => missing(),
            "mcp_reconnect" => Answered::Empty,
            "mcp_toggle" => {
                let phase = if request.flag("enabled") {
                    Phase::Connected
                } else {
                    Phase::Disabled
                };
                self.with(|state| {
                    for server in state.mcp.iter_mut().filter(|server| server.name == name) {
                        server.phase = phase;
                    }
                });
                Answered::Empty
            }
            "mcp_call" => self.call_mcp(request, id),
            "mcp_read_resource" if self.is_325() => missing(),
            _ => Answered::Unknown,
        }
    }

    fn set_servers(&self, request: &Json) -> Json {
        let wanted = request.get("servers").cloned().unwrap_or_default();
        let (added, removed) = self.with(|state| {
            let mut removed = Vec::new();
            state.mcp.retain(|server| {
                let kept = wanted.get(&server.name).is_some() || !server.is_in_process();
                if !kept {
                    removed.push(server.name.clone());
                }
                kept
            });
            let mut added = Vec::new();
            for (name, config) in wanted.fields() {
                if !state.mcp.iter().any(|server| server.name == *name) {
                    state.mcp.push(McpServer::new(name, config.clone()));
                    added.push(name.clone());
                }
            }
            (added, removed)
        });
        self.connect_servers(&[]);
        obj! { "added" => added, "removed" => removed, "errors" => Json::empty() }
    }

    fn call_mcp(&self, request: &Json, id: Option<&Json>) -> Answered {
        let tool = request.text("tool").unwrap_or_default();
        let named = tool
            .strip_prefix("mcp__")
            .and_then(|rest| rest.split_once("__"));
        let (server, name) = named.unwrap_or((tool, ""));
        let ready = self.with(|state| {
            let mut servers = state.mcp.iter();
            servers.any(|known| {
                known.name == server && known.is_in_process() && known.phase == Phase::Connected
            })
        });
        if !ready {
            return Answered::Error(format!("MCP server not connected: {server}"), None);
        }
        let sim = self.clone();
        let (server, name) = (server.to_owned(), name.to_owned());
        let (id, input) = (
            id.cloned(),
            request
                .get("arguments")
                .cloned()
                .unwrap_or_else(Json::empty),
        );
        self.spawn(async move {
            let (scope, call) = sim.with(|state| (state.open_scope(), state.ids.tool_use()));
            let answer = sim.call_server(scope, &server, &name, &input, &call).await;
            let body = answer.ok().flatten().unwrap_or_default();
            match body.get("result") {
                Some(result) => sim.answer(id.as_ref(), Some(result.clone())),
                None => sim.answer_error(id.as_ref(), "MCP tool call failed", None),
            }
        });
        Answered::Later
    }
}
