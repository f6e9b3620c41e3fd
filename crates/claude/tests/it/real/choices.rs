//! Options whose effect is seen in what the CLI offers, says and sends to the API.

use anyhow::Context as _;
use estelle_claude::options::{
    AgentDefinition, Plugin, PluginDelivery, SettingSource, Settings, SystemPrompt, Tools,
};
use estelle_claude::wire::system::Init;
use estelle_claude::wire::{Body, ContentBlock, PermissionMode, SystemMessage, UserMessage};
use estelle_sim::script::Script;
use serde_json::json;

use super::desk::Desk;
use super::stage::{Stage, Told, ask, turn};

on_both_versions!(
    real_prompts_and_agents_reach_the_model,
    real_tools_are_allowed_and_taken_away,
    real_settings_come_from_the_sources_named,
    real_files_are_put_back_to_a_message,
    real_plugins_images_and_unsaved_sessions,
    real_modes_that_ask_nobody,
);

fn init(told: &Told) -> anyhow::Result<&Init> {
    let init = told.system().find_map(|system| match system {
        SystemMessage::Init(init) => Some(&**init),
        _ => None,
    });
    init.context("the turn has an init")
}

fn partial(told: &Told) -> bool {
    told.messages
        .iter()
        .any(|message| matches!(message.body, Body::StreamEvent(_)))
}

async fn real_prompts_and_agents_reach_the_model(stage: &Stage) -> anyhow::Result<()> {
    let options = stage
        .options()
        .system_prompt("You are a lighthouse.")
        .model("claude-haiku-4-5")
        .agent_definition(
            "keeper",
            AgentDefinition::new("Keeps the light.", "You keep the light burning."),
        );
    let mut session = stage.start(options).await?;
    let agents = session.supported_agents().await?;
    assert!(
        agents.iter().any(|agent| agent.name == "keeper"),
        "{agents:?}"
    );
    let told = ask(&mut session, Script::new().say("dark").prompt()).await?;
    assert!(!partial(&told), "nobody asked for partial messages");
    let request = stage.newest()?;
    assert!(
        request["system"]
            .to_string()
            .contains("You are a lighthouse.")
    );
    assert!(
        request["model"]
            .as_str()
            .is_some_and(|model| model.starts_with("claude-haiku-4-5"))
    );
    let input = json!({"description": "d", "prompt": Script::new().say("burning").prompt(), "subagent_type": "keeper"});
    ask(
        &mut session,
        Script::new().tool("Agent", input).say("lit").prompt(),
    )
    .await?;
    stage.request_with("You keep the light burning.").await;
    session.close().await;

    let options = stage
        .options()
        .include_partial_messages(true)
        .system_prompt(SystemPrompt::preset().append("Mind the rocks."));
    let mut session = stage.start(options).await?;
    let told = ask(&mut session, Script::new().say("aye").prompt()).await?;
    assert!(partial(&told));
    let system = stage.newest()?["system"].to_string();
    assert!(system.contains("Mind the rocks."));
    assert!(system.len() > 2000, "the preset is long: {}", system.len());
    session.close().await;
    Ok(())
}

async fn real_tools_are_allowed_and_taken_away(stage: &Stage) -> anyhow::Result<()> {
    let elsewhere = tempfile::tempdir()?;
    let options = stage
        .options()
        .allowed_tools(["Bash(touch:*)"])
        .disallowed_tools(["WebFetch"])
        .additional_directories([elsewhere.path()]);
    let (options, mut desk) = Desk::of(options);
    let mut session = stage.start(options).await?;
    let script = Script::new()
        .tool(
            "Bash",
            json!({"command": format!("touch {}", stage.path("free").display())}),
        )
        .say("ok");
    let told = ask(&mut session, script.prompt()).await?;
    assert!(stage.path("free").exists() && desk.is_empty());
    let tools = init(&told)?.tools.clone().unwrap_or_default();
    assert!(tools.iter().any(|tool| tool == "Bash"));
    assert!(!tools.iter().any(|tool| tool == "WebFetch"), "{tools:?}");
    // Reading in an additional directory needs no question, elsewhere it does.
    std::fs::write(elsewhere.path().join("letter"), "dear reader")?;
    let read = json!({"file_path": elsewhere.path().join("letter")});
    let told = ask(
        &mut session,
        Script::new().tool("Read", read).say("read").prompt(),
    )
    .await?;
    assert!(told.tool_result()?.0.contains("dear reader"));
    assert!(desk.is_empty());
    let stranger = tempfile::tempdir()?;
    std::fs::write(stranger.path().join("letter"), "private")?;
    let read = json!({"file_path": stranger.path().join("letter")});
    session
        .send(Script::new().tool("Read", read).say("read").prompt())
        .await?;
    desk.next().await?.allow()?;
    turn(&mut session).await?;
    session.close().await;

    let options = stage.options().tools(Tools::list(["Read", "Bash"]));
    let mut session = stage.start(options).await?;
    let told = ask(&mut session, Script::new().say("few").prompt()).await?;
    let tools = init(&told)?.tools.clone().unwrap_or_default();
    assert!(tools.iter().any(|tool| tool == "Read"), "{tools:?}");
    assert!(!tools.iter().any(|tool| tool == "Write"), "{tools:?}");
    session.close().await;
    Ok(())
}

async fn real_settings_come_from_the_sources_named(stage: &Stage) -> anyhow::Result<()> {
    let allow = |rule: &str| json!({"permissions": {"allow": [rule]}}).to_string();
    std::fs::create_dir(stage.path(".claude"))?;
    std::fs::write(stage.path(".claude/settings.json"), allow("Bash(mkdir:*)"))?;
    std::fs::write(stage.path("CLAUDE.md"), "The project loves herring.")?;
    let user = stage.home.path().join(".claude");
    std::fs::create_dir(&user)?;
    std::fs::write(user.join("settings.json"), allow("Bash(touch:*)"))?;
    let run = |command: &str, name: &str| {
        let command = format!("{command} {}", stage.path(name).display());
        Script::new()
            .tool("Bash", json!({"command": command}))
            .say("ok")
            .prompt()
    };

    let sources = [SettingSource::User, SettingSource::Project];
    let (options, mut desk) = Desk::of(stage.options().setting_sources(sources));
    let mut session = stage.start(options).await?;
    ask(&mut session, run("touch", "with")).await?;
    assert!(
        stage.path("with").exists() && desk.is_empty(),
        "the user's rule holds"
    );
    let request = stage.newest()?.to_string();
    assert!(request.contains("The project loves herring."));
    // A folder that nobody has trusted cannot allow itself anything.
    session.send(run("mkdir", "made")).await?;
    desk.next().await?.allow()?;
    turn(&mut session).await?;
    session.close().await;

    let settings = Settings::Inline(json!({"permissions": {"ask": ["Bash(ls:*)"]}}));
    let options = stage.options().setting_sources([]).settings(settings);
    let (options, mut desk) = Desk::of(options);
    let mut session = stage.start(options).await?;
    for (command, name) in [("touch", "without"), ("ls", "with")] {
        session.send(run(command, name)).await?;
        desk.next().await?.allow()?;
        assert_eq!(turn(&mut session).await?.text(), "ok", "{command}");
    }
    let request = stage.newest()?.to_string();
    assert!(!request.contains("The project loves herring."));
    session.close().await;
    Ok(())
}

async fn real_files_are_put_back_to_a_message(stage: &Stage) -> anyhow::Result<()> {
    std::fs::write(stage.path("draft"), "first\n")?;
    let options = stage
        .options()
        .enable_file_checkpointing(true)
        .replay_user_messages(true)
        .permission_mode(PermissionMode::AcceptEdits);
    let mut session = stage.start(options).await?;
    let file = stage.path("draft");
    let script = Script::new()
        .tool("Read", json!({"file_path": file}))
        .tool("Write", json!({"file_path": file, "content": "second\n"}))
        .say("rewritten");
    let uuid = session.send(script.prompt()).await?;
    let told = turn(&mut session).await?;
    assert_eq!(told.text(), "rewritten");
    assert_eq!(stage.read("draft").as_deref(), Some("second\n"));
    let preview = session.preview_rewind_files(&uuid).await?;
    assert_eq!(preview.can_rewind, Some(true), "{preview:?}");
    assert_eq!(
        stage.read("draft").as_deref(),
        Some("second\n"),
        "a preview changes nothing"
    );
    let rewound = session.rewind_files(&uuid).await?;
    assert_eq!(rewound.can_rewind, Some(true), "{rewound:?}");
    assert_eq!(stage.read("draft").as_deref(), Some("first\n"));
    session.close().await;
    Ok(())
}

async fn real_plugins_images_and_unsaved_sessions(stage: &Stage) -> anyhow::Result<()> {
    let plugin = stage.path("plugin");
    std::fs::create_dir_all(plugin.join(".claude-plugin"))?;
    std::fs::create_dir_all(plugin.join("commands"))?;
    let manifest = json!({"name": "harbour", "version": "1.0.0", "description": "d"});
    std::fs::write(
        plugin.join(".claude-plugin/plugin.json"),
        manifest.to_string(),
    )?;
    std::fs::write(
        plugin.join("commands/moor.md"),
        "Moor the boat at pier seven.",
    )?;
    let deliveries: &[PluginDelivery] = if stage.is_old() {
        &[PluginDelivery::Argv]
    } else {
        &[PluginDelivery::Argv, PluginDelivery::Initialize]
    };
    for delivery in deliveries {
        let options = stage
            .options()
            .plugins([Plugin::local(&plugin)])
            .plugin_delivery(*delivery)
            .persist_session(false);
        let mut session = stage.start(options).await?;
        let commands = session.supported_commands().await?;
        let known = commands
            .iter()
            .any(|command| command.name == "harbour:moor");
        assert!(known, "{delivery:?}: {commands:?}");
        ask(&mut session, "/harbour:moor").await?;
        assert!(stage.history()?.contains("Moor the boat at pier seven."));

        let picture = ContentBlock::image_base64("image/png", PIXEL);
        let words = ContentBlock::text(Script::new().say("I see").prompt());
        let told = ask(&mut session, UserMessage::prompt(vec![picture, words])).await?;
        assert_eq!(told.text(), "I see");
        assert!(stage.history()?.contains("\"media_type\":\"image/png\""));
        let id = told.session_id()?;
        session.close().await;
        let gone = stage.start(stage.options().resume(&id)).await;
        assert!(gone.is_err(), "a session that was not to be saved was");
    }
    Ok(())
}

/// A picture of one pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

async fn real_modes_that_ask_nobody(stage: &Stage) -> anyhow::Result<()> {
    let touch = |name: &str| {
        let command = format!("touch {}", stage.path(name).display());
        let script = Script::new().tool("Bash", json!({"command": command}));
        script.say("ok").prompt()
    };
    let bypass = stage
        .options()
        .permission_mode(PermissionMode::BypassPermissions)
        .allow_dangerously_skip_permissions(true);
    let (options, desk) = Desk::of(bypass);
    let mut session = stage.start(options).await?;
    ask(&mut session, touch("bypassed")).await?;
    assert!(stage.path("bypassed").exists() && desk.is_empty());
    session.set_permission_mode(PermissionMode::DontAsk).await?;
    let told = ask(&mut session, touch("refused")).await?;
    assert!(told.tool_result()?.1 && !stage.path("refused").exists());
    assert!(desk.is_empty(), "nobody is asked in that mode");
    session.close().await;

    // Without anybody to ask, what would be asked is denied.
    let mut session = stage.start(stage.options()).await?;
    let told = ask(&mut session, touch("unasked")).await?;
    assert!(told.tool_result()?.1 && !stage.path("unasked").exists());
    session.close().await;
    Ok(())
}
