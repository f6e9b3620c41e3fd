//! From options to the `initialize` request, the first line the CLI reads.
//!
//! Pure, like `launch`. Sending it, and again after a reconnect, is the engine's part; because the value depends
//! on the options alone, a second one is equal to the first.

use std::collections::BTreeMap;

use super::callbacks::hook_id;
use super::{HookMatcher, Options, OutputFormat, Plugin, PluginDelivery, Skills, SystemPrompt};
use crate::mcp::SdkServerFields;
use crate::wire::Json;
use crate::wire::control::{self, Initialize, SdkMcpServerConfig, SdkMcpServerManifest};

impl Options {
    /// The `initialize` request. What was not asked for is left out of it.
    ///
    /// ```
    /// use estelle_claude::options::Options;
    ///
    /// let request = Options::new().title("Nightly run").initialize();
    /// assert_eq!(request.title.as_deref(), Some("Nightly run"));
    /// ```
    pub fn initialize(&self) -> Initialize {
        let mut request = Initialize {
            hooks: non_empty(self.hook_fields()),
            json_schema: self
                .model
                .output_format
                .as_ref()
                .map(|OutputFormat::JsonSchema(schema)| schema.clone().into()),
            plan_mode_instructions: self.prompt.plan_mode_instructions.clone(),
            tool_aliases: non_empty(self.tools.aliases.clone()),
            agents: non_empty(self.agent_fields()),
            title: self.session.title.clone(),
            prompt_suggestions: self.stream.prompt_suggestions.then_some(true),
            agent_progress_summaries: self.stream.agent_progress_summaries.then_some(true),
            forward_subagent_text: self.stream.subagent_text.then_some(true),
            per_task_stop_affordance: self.stream.per_task_stop_affordance.then_some(true),
            ..Initialize::default()
        };
        let kinds = &self.callbacks.supported_dialog_kinds;
        request.supported_dialog_kinds = (!kinds.is_empty()).then(|| kinds.clone());
        if let Some(Skills::List(names)) = &self.tools.skills {
            request.skills = Some(names.clone());
        }
        if self.settings.plugin_delivery == PluginDelivery::Initialize {
            request.plugins = Some(self.settings.plugins.iter().map(Plugin::to_wire).collect());
        }
        self.prompt_fields(&mut request);
        self.server_fields(&mut request);
        request
    }

    fn prompt_fields(&self, request: &mut Initialize) {
        match &self.prompt.system_prompt {
            None => request.system_prompt = Some(vec![String::new()]),
            Some(SystemPrompt::Custom(prompt)) => {
                request.system_prompt = Some(prompt.blocks.clone());
                request.system_prompt_snapshot = prompt.snapshot;
            }
            Some(SystemPrompt::Preset(prompt)) => {
                request.append_system_prompt.clone_from(&prompt.append);
                request.exclude_dynamic_sections = prompt.exclude_dynamic_sections;
                request.system_prompt_snapshot = prompt.snapshot;
            }
        }
    }

    /// Announces the MCP servers of this process.
    fn server_fields(&self, request: &mut Initialize) {
        let servers = SdkServerFields::of(&self.settings.mcp_servers);
        request.sdk_mcp_servers = (!servers.names.is_empty()).then_some(servers.names);
        let configs = servers.configs.into_iter().filter_map(|(name, config)| {
            let (config, _) = Json::from(config).wire::<SdkMcpServerConfig>().ok()?;
            Some((name, config))
        });
        request.sdk_mcp_server_configs = non_empty(configs.collect());
        let manifests = servers.manifests.into_iter().map(|(name, given)| {
            let mut manifest = SdkMcpServerManifest::new(given.initialize_result);
            manifest.tools_list_result = given.tools_list_result.map(Json::from);
            (name, manifest)
        });
        request.sdk_mcp_server_manifests = non_empty(manifests.collect());
    }

    fn agent_fields(&self) -> BTreeMap<String, control::AgentDefinition> {
        let agents = self.agents.agents.iter();
        agents
            .map(|(name, agent)| (name.clone(), agent.to_wire()))
            .collect()
    }

    fn hook_fields(&self) -> BTreeMap<String, Vec<control::HookMatcher>> {
        let mut ids = (0..).map(hook_id);
        let mut events = BTreeMap::new();
        for (event, matchers) in &self.callbacks.hooks {
            let matchers = matchers
                .iter()
                .map(|matcher| announced(matcher, &mut ids))
                .collect();
            events.insert(event.as_str().to_owned(), matchers);
        }
        events
    }
}

/// One matcher with the ids of its callbacks taken from `ids`.
fn announced(
    matcher: &HookMatcher,
    ids: &mut impl Iterator<Item = String>,
) -> control::HookMatcher {
    let ids: Vec<_> = ids.take(matcher.callbacks.len()).collect();
    let mut fields = control::HookMatcher::new(ids);
    fields.matcher.clone_from(&matcher.matcher);
    fields.timeout = matcher.timeout.map(|timeout| timeout.as_secs_f64());
    fields.on_failure = matcher
        .on_failure
        .map(|failure| failure.as_str().to_owned());
    fields
}

fn non_empty<V>(map: BTreeMap<String, V>) -> Option<BTreeMap<String, V>> {
    (!map.is_empty()).then_some(map)
}
