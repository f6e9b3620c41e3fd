//! Slash commands: those that need no model, and `/compact`.

use super::json::{Json, obj};
use super::result::Outcome;
use super::state::Sim;
use super::turn::{AgentVoice, Turn, Voice};

impl Sim {
    /// Does what a slash command says; nothing if the text is none, or one that goes to the model.
    pub(crate) async fn slash(&self, turn: &mut Turn, text: &str) -> Option<Outcome> {
        let name = text
            .strip_prefix('/')?
            .split_whitespace()
            .next()?
            .to_owned();
        match name.as_str() {
            "clear" => Some(self.clear(turn)),
            "compact" => Some(self.compact(turn).await),
            "context" => Some(self.say_local(turn, &name, &self.context_text())),
            "usage" | "cost" => Some(self.say_local(turn, &name, &self.cost_text())),
            // 2.1.325 gives an unknown command to the model.
            _ if self.is_325() || self.is_known_command(&name) => None,
            _ => Some(self.say_local(turn, &name, &format!("Unknown command: /{name}"))),
        }
    }

    fn is_known_command(&self, name: &str) -> bool {
        let recorded = self.version().recorded("init");
        let known = recorded
            .get("slash_commands")
            .map(Json::items)
            .unwrap_or_default();
        known.iter().any(|command| command.as_text() == Some(name))
    }

    fn say_local(&self, turn: &mut Turn, name: &str, text: &str) -> Outcome {
        self.print_init();
        self.print_local(turn, text);
        self.print_command(turn, name);
        Outcome::Local {
            text: text.to_owned(),
            command: Some(name.to_owned()),
        }
    }

    fn print_local(&self, turn: &mut Turn, text: &str) {
        let (stop, sequence) = if self.is_325() {
            ("end_turn", Json::Null)
        } else {
            ("stop_sequence", "".into())
        };
        let message = self.synthetic_message(text, stop, sequence);
        let mut line = self.assistant_line(turn, &message);
        if self.is_325() {
            let wrapped = format!("<local-command-stdout>{text}</local-command-stdout>");
            line.set("local_command_source", wrapped);
        }
        self.emit(&line);
    }

    /// The echo of a command has a form of its own on 2.1.325.
    fn print_command(&self, turn: &mut Turn, name: &str) {
        if !self.is_325() {
            turn.echoes.clear();
            return;
        }
        for mut line in std::mem::take(&mut turn.echoes) {
            let pad = " ".repeat(12);
            let content = format!(
                "<command-name>/{name}</command-name>\n{pad}<command-message>{name}</command-message>\n{pad}<command-args></command-args>"
            );
            line.set("message", obj! { "role" => "user", "content" => content });
            self.emit(&line);
        }
    }

    fn clear(&self, turn: &mut Turn) -> Outcome {
        self.flush_record();
        let newer = self.is_325();
        if newer {
            // The line calls the conversation by its own uuid, which is not the id of the session that follows.
            let reset = self.uuid();
            self.emit(&obj! {
                "type" => "conversation_reset",
                "new_conversation_id" => &reset,
                "uuid" => &reset,
                "trigger" => "clear",
                "user_message_uuid" if !turn.uuids.is_empty() => turn.uuids.last(),
                "timestamp" => self.with(|state| state.timestamp()),
                "session_id" => self.session_id(),
            });
            self.print_tasks();
        }
        let id = self.uuid();
        for line in &mut turn.echoes {
            line.set("session_id", &id);
        }
        self.with(|state| {
            state.chat.id = id;
            state.chat.messages = 0;
            state.chat.answers = 0;
            state.chat.last_uuid = None;
            if newer {
                state.totals.reset();
            }
        });
        self.print_init();
        if !self.is_325() {
            self.print_local(turn, "(no content)");
        }
        self.print_command(turn, "clear");
        Outcome::Local {
            text: String::new(),
            command: Some("clear".to_owned()),
        }
    }

    async fn compact(&self, turn: &mut Turn) -> Outcome {
        let done = Outcome::Local {
            text: String::new(),
            command: Some("compact".to_owned()),
        };
        // The command itself is already in the transcript.
        let earlier = self.with(|state| state.chat.messages.saturating_sub(1));
        if earlier == 0 {
            self.print_init();
            self.print_local(turn, "Error: No messages to compact");
            self.print_command(turn, "compact");
            return done;
        }
        self.print_system("status", obj! { "status" => "compacting" });
        if self.with(|state| state.chat.answers == 0) {
            return self.compact_failed(turn);
        }
        if let Err(abort) = self.compact_hooks(turn).await {
            return Outcome::Aborted {
                abort,
                in_tools: false,
            };
        }
        let model = self.with(|state| state.chat.model.clone());
        self.with(|state| state.totals.count(state.setup.version, &model, 0));
        self.print_system(
            "status",
            obj! { "status" => Json::Null, "compact_result" => "success" },
        );
        self.print_init();
        self.print_boundary(turn);
        self.print_command(turn, "compact");
        done
    }

    fn compact_failed(&self, turn: &mut Turn) -> Outcome {
        let text = "Not enough messages to compact.";
        self.print_system(
            "status",
            obj! { "status" => Json::Null, "compact_result" => "failed", "compact_error" => text },
        );
        self.say_local(turn, "compact", text)
    }

    async fn compact_hooks(&self, turn: &Turn) -> Result<(), super::state::Abort> {
        let before = obj! { "trigger" => "manual", "custom_instructions" => Json::Null };
        self.call_hooks(turn, "PreCompact", "manual", before)
            .await?;
        self.compacting_agents(turn).await?;
        let model = self.with(|state| state.chat.model.clone());
        let start = obj! { "source" => "compact", "model" => model };
        self.call_hooks(turn, "SessionStart", "compact", start)
            .await?;
        let after = obj! { "trigger" => "manual", "compact_summary" => "[simulated summary]" };
        self.call_hooks(turn, "PostCompact", "manual", after)
            .await?;
        Ok(())
    }

    /// The summary is the work of sub-agents without a type, whose end is told to the hooks.
    async fn compacting_agents(&self, turn: &Turn) -> Result<(), super::state::Abort> {
        let count = if self.is_325() { 2 } else { 1 };
        for _ in 0..count {
            let voice = Voice::Agent(AgentVoice {
                tool_use_id: String::new(),
                agent_id: self.with(|state| state.ids.agent()),
                kind: String::new(),
                description: String::new(),
                behind: false,
            });
            let mut inner = Turn::new(self, turn.scope, voice, Vec::new());
            inner.prompt_id.clone_from(&turn.prompt_id);
            self.agent_stopped(&inner, "[simulated summary]").await?;
        }
        Ok(())
    }

    fn print_boundary(&self, turn: &mut Turn) {
        let kept = self.with(|state| state.chat.last_answer.clone());
        let anchor = self.uuid();
        let metadata = obj! {
            "trigger" => "manual",
            "pre_tokens" => 125,
            "post_tokens" => 654,
            "cumulative_dropped_tokens" => 0,
            "duration_ms" => self.now() - turn.started,
            "preserved_segment" => obj! { "head_uuid" => &kept, "anchor_uuid" => &anchor, "tail_uuid" => &kept },
            "preserved_messages" => obj! {
                "anchor_uuid" => &anchor,
                "uuids" => vec![kept.clone()],
                "all_uuids" => vec![kept.clone()],
            },
        };
        let newer = self.is_325();
        let body = obj! { "compact_metadata" => metadata };
        let mut line = obj! {
            "type" => "system",
            "subtype" => "compact_boundary",
            "session_id" => self.session_id(),
            "uuid" => self.uuid(),
        };
        for (key, value) in body.into_fields() {
            line.set(&key, value);
        }
        if newer {
            line.set("logical_parent_uuid", kept);
        }
        self.emit(&line);
        let summary = "This session is being continued from a previous conversation that ran out of context. The summary below covers the earlier portion of the conversation.\n\n[simulated summary]";
        self.emit(
            &self
                .echo_line(&summary.into(), Some(&anchor), Some(self.now()))
                .with("isReplay", false)
                .with("isSynthetic", true),
        );
        let hooked: Vec<String> = ["PreCompact", "PostCompact"]
            .into_iter()
            .filter(|event| self.with(|state| state.hooks.iter().any(|hook| hook.is_for(event))))
            .map(|event| format!("{event} [callback] completed successfully"))
            .collect();
        let hooked = hooked.join("\n");
        let told = format!("<local-command-stdout>Compacted {hooked}</local-command-stdout>");
        self.emit(&self.echo_line(&told.into(), None, Some(self.now())));
        if !newer {
            turn.echoes.clear();
        }
    }

    fn context_text(&self) -> String {
        let model = self.with(|state| state.chat.model.clone());
        format!(
            "## Context Usage\n\n**Model:** {model}  \n**Tokens:** 3.1k / 1m (0%)\n\n### Estimated usage by category\n\n| Category | Tokens | Percentage |\n|----------|--------|------------|\n| System prompt | 900 | 0.1% |\n"
        )
    }

    /// The text of `/usage` and of `get_session_cost`.
    pub(crate) fn cost_text(&self) -> String {
        let (dollars, api, wall, usage) = self.with(|state| {
            let wall = (state.now - state.started) / 1000;
            let usage = state.totals.usage_text(state.setup.version);
            (
                state.totals.dollars,
                state.totals.api_ms / 1000,
                wall,
                usage,
            )
        });
        format!(
            "Total cost:            ${dollars:.4}\nTotal duration (API):  {api}s\nTotal duration (wall): {wall}s\nTotal code changes:    0 lines added, 0 lines removed\n{usage}"
        )
    }
}
