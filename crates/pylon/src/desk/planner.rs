//! The tools of planners: writing and listing tasks, and asking what the worker does.
//!
//! The host offers them to the agent and asks us to carry the calls out. A call is claimed first, under a name that lasts as
//! long as this process, so that it is carried out once or its agent hears that nobody knows
//! ([decision 11](../../../../docs/adr/0011-tool-calls-are-claimed.md)).

use estelle_proto::ipc::{ClaimCall, ToolCall, ToolDefinition, ToolResult, ToolServer};
use estelle_proto::workspaces::TaskStatus;
use estelle_proto::{
    ApiError, ErrorCode, Json, Name, Reply as _, SkillType, TaskText, WorkspaceId,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::claude::ask;
use super::context::Context;
use super::error::{Told as _, refusal, unknown_word};
use super::{tasks, worker};
use crate::store::Lines;

/// The name of the server, which is part of the names of its tools.
const SERVER: &str = "estelle";
const CREATE: &str = "task_create";
const LIST: &str = "task_list";
const WORKER: &str = "worker_status";
/// Tasks that a list gives; an agent that wants others asks for a status.
const LISTED: usize = 100;

/// The tools that the agent of a conversation gets.
pub(super) fn tools(skill: &SkillType) -> Option<Box<ToolServer>> {
    match skill {
        SkillType::Planner => server().map(Box::new),
        SkillType::General | SkillType::Worker | SkillType::Unknown(_) => None,
    }
}

/// Refuses to lend a planner to a terminal: there the agent's own interface decides, and would let a person allow what nobody
/// may.
pub(super) fn lendable(skill: &SkillType) -> Result<(), ApiError> {
    if *skill != SkillType::Planner {
        return Ok(());
    }
    let text = "a planner may only read, which a terminal does not enforce; open a shell, or use another conversation";
    Err(refusal(ErrorCode::Conflict, text))
}

fn server() -> Option<ToolServer> {
    let tool = |name: &str, description: &str, schema: Value| {
        Some(ToolDefinition::new(
            Name::parse(name).ok()?,
            description.to_owned(),
            Json::of(&schema).ok()?,
        ))
    };
    let text = |description: &str| json!({"type": "string", "description": description});
    let statuses = ["pending", "running", "done", "failed"];
    let tools = [
        tool(
            CREATE,
            "Writes a task of this workspace, which the worker carries out later without knowing this conversation.",
            json!({
                "type": "object",
                "properties": {
                    "title": text("A short title"),
                    "content": text("The goal and the plan in small steps, in Markdown, with everything one has to know"),
                },
                "required": ["title", "content"],
            }),
        ),
        tool(
            LIST,
            "Lists the tasks of this workspace, newest first.",
            json!({
                "type": "object",
                "properties": {"status": {"type": "string", "enum": statuses}},
            }),
        ),
        tool(
            WORKER,
            "Tells what the worker of this workspace does.",
            json!({"type": "object", "properties": {}}),
        ),
    ];
    let tools = tools.into_iter().collect::<Option<Vec<_>>>()?;
    Some(ToolServer::new(Name::parse(SERVER).ok()?, tools))
}

#[derive(Debug, Deserialize)]
struct Create {
    title: String,
    content: String,
}

#[derive(Debug, Deserialize)]
struct List {
    status: Option<String>,
}

/// Carries a call out, if it is one of ours and nobody else has it.
pub(super) async fn carry_out(cx: Context, call: ToolCall) {
    let is_ours = call.server == SERVER && [CREATE, LIST, WORKER].contains(&call.tool.as_str());
    let Some(client) = cx.client.clone().filter(|_| is_ours) else {
        return;
    };
    let claim = ClaimCall::new(
        call.session_id.clone(),
        call.call_id.clone(),
        client.clone(),
    );
    let claimed = ask(&cx, claim).await.and_then(|granted| granted.outcome());
    if let Err(error) = claimed {
        return tracing::info!(%error, call = %call.call_id, "a call is not ours to carry out");
    }
    let mut result = ToolResult::new(call.session_id.clone(), call.call_id.clone());
    result.client = Some(client);
    match perform(&cx, &call).await {
        Ok(given) => result.result = Some(given.to_string()),
        Err(error) => result.error = Some(error.message),
    }
    let told = ask(&cx, result).await.and_then(|taken| taken.outcome());
    if let Err(error) = told {
        tracing::warn!(%error, call = %call.call_id, "what came of a call did not reach the agent");
    }
}

async fn perform(cx: &Context, call: &ToolCall) -> Result<Value, ApiError> {
    let known = cx.store.conversation(call.session_id.clone()).await;
    let known = known.map_err(|error| error.told())?;
    let workspace = known.workspace_id;
    match call.tool.as_str() {
        CREATE => create(cx, &workspace, read(&call.arguments)?).await,
        LIST => list(cx, &workspace, read(&call.arguments)?).await,
        _ => {
            let status = worker::status_now(cx, &workspace).await?;
            Ok(json!(status))
        }
    }
}

fn read<T: serde::de::DeserializeOwned>(arguments: &Json) -> Result<T, ApiError> {
    let read = arguments.decode::<T>();
    read.map_err(|error| refusal(ErrorCode::InvalidMessage, error.to_string()))
}

async fn create(cx: &Context, id: &WorkspaceId, new: Create) -> Result<Value, ApiError> {
    let bad = |what: &str, error: estelle_proto::TextError| {
        refusal(ErrorCode::InvalidMessage, format!("`{what}` {error}"))
    };
    let title = Name::parse(new.title.trim()).map_err(|error| bad("title", error))?;
    let content = TaskText::parse(&new.content).map_err(|error| bad("content", error))?;
    // What a task may cost is for people to say.
    let lines = Lines {
        soft: None,
        hard: None,
    };
    let task = tasks::write_new(cx, id, title.to_string(), content.to_string(), lines).await?;
    tasks::changed(cx, id).await;
    Ok(json!(task))
}

async fn list(cx: &Context, id: &WorkspaceId, wanted: List) -> Result<Value, ApiError> {
    let status = wanted.status.as_deref().map(TaskStatus::from);
    if let Some(TaskStatus::Unknown(word)) = &status {
        return Err(unknown_word("status", word));
    }
    let home = tasks::home(cx, id).await?;
    let found = tasks::on_disk(move || tasks::all_in(&home)).await?.tasks;
    let is_wanted =
        |task: &&crate::tasks::Task| status.as_ref().is_none_or(|status| task.status == *status);
    let all = found.iter().filter(is_wanted);
    let shown: Vec<_> = all
        .clone()
        .take(LISTED)
        .map(crate::tasks::Task::summary)
        .collect();
    Ok(json!({"tasks": shown, "total": all.count()}))
}
