//! The user's permission rules: the host keeps them and says what is in force; nothing of them is kept here.

use estelle_proto::ipc::{
    GetRules, PermissionRule, PylonToHost, RemoveRule, RevokeTool, RuleList, SetRule,
};
use estelle_proto::rules::{RuleChange, RulesRequest, RulesResult, ToolRevoke};
use estelle_proto::{ApiError, ErrorCode, Reply as _, RequestId, WorkspaceId};

use super::claude::ask_if_known;
use super::context::{Asker, Context};
use super::error::{Told as _, refusal};
use super::workspaces::known_workspace;

/// No tool has a longer name.
const MAX_TOOL_NAME_BYTES: usize = 512;

pub(super) async fn list(cx: &Context, asker: &Asker, request: RulesRequest) {
    let command = GetRules {
        workspace_id: request.workspace_id.clone(),
        attempt: request.attempt,
        ..GetRules::default()
    };
    let place = request.workspace_id.as_ref();
    pass_on(cx, asker, command, place, request.request_id).await;
}

pub(super) async fn change(cx: &Context, asker: &Asker, request: RuleChange) {
    let (rule, workspace_id) = (request.rule, request.workspace_id);
    // A rule of a workspace that is gone can be taken away, and none be made.
    let place = workspace_id.clone().filter(|_| request.effect.is_some());
    let command: PylonToHost = match request.effect {
        Some(effect) => SetRule::new(PermissionRule {
            workspace_id,
            ..PermissionRule::new(rule, effect)
        })
        .into(),
        None => RemoveRule {
            workspace_id,
            ..RemoveRule::new(rule)
        }
        .into(),
    };
    pass_on(cx, asker, command, place.as_ref(), request.request_id).await;
}

pub(super) async fn revoke(cx: &Context, asker: &Asker, request: ToolRevoke) {
    let id = request.request_id.clone();
    let list = match try_revoke(cx, asker, request).await {
        Ok(()) => try_pass_on(cx, GetRules::default().into(), None).await,
        Err(error) => Err(error),
    };
    tell(cx, asker, list, id.as_ref());
}

/// A conversation that the host does not know has no process, so nothing is allowed in it.
async fn try_revoke(cx: &Context, asker: &Asker, request: ToolRevoke) -> Result<(), ApiError> {
    if !(1..=MAX_TOOL_NAME_BYTES).contains(&request.tool_name.len()) {
        let text =
            format!("`toolName` is the name of a tool, with 1 to {MAX_TOOL_NAME_BYTES} bytes");
        return Err(refusal(ErrorCode::InvalidMessage, text));
    }
    let known = cx.store.conversation(request.conversation_id.clone()).await;
    known.map_err(|error| error.told())?;
    let command = RevokeTool {
        device_id: Some(asker.device),
        ..RevokeTool::new(request.conversation_id, request.tool_name)
    };
    ask_if_known(cx, command).await
}

/// Asks the host, if the workspace that it is about is there.
async fn pass_on(
    cx: &Context,
    asker: &Asker,
    command: impl Into<PylonToHost>,
    place: Option<&WorkspaceId>,
    id: Option<RequestId>,
) {
    let list = try_pass_on(cx, command.into(), place).await;
    tell(cx, asker, list, id.as_ref());
}

fn tell(cx: &Context, asker: &Asker, list: Result<RuleList, ApiError>, id: Option<&RequestId>) {
    let result = RulesResult::new(cx.device(), Vec::new());
    let result = match list {
        Ok(list) => RulesResult {
            rules: list.rules,
            warning: list.warning,
            verdict: list.verdict,
            granted: list.granted,
            ..result
        },
        Err(error) => result.failed(error),
    };
    asker.answer(result.in_reply_to(id));
}

async fn try_pass_on(
    cx: &Context,
    command: PylonToHost,
    place: Option<&WorkspaceId>,
) -> Result<RuleList, ApiError> {
    if let Some(id) = place {
        known_workspace(cx, id).await?;
    }
    let answer = cx.host.request(command).await;
    let answer = answer.map_err(|error| error.told())?;
    answer.outcome()?;
    let none = || RuleList::new(Vec::new());
    Ok(answer.rules.map_or_else(none, |rules| *rules))
}
