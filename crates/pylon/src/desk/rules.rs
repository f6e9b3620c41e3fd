//! The user's permission rules: the host keeps them and says what is in force; nothing of them is kept here.

use estelle_proto::ipc::{GetRules, PermissionRule, PylonToHost, RemoveRule, RuleList, SetRule};
use estelle_proto::rules::{RuleChange, RulesRequest, RulesResult};
use estelle_proto::{ApiError, Reply as _, RequestId, WorkspaceId};

use super::context::{Asker, Context};
use super::error::Told as _;
use super::workspaces::known_workspace;

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

/// Asks the host, if the workspace that it is about is there.
async fn pass_on(
    cx: &Context,
    asker: &Asker,
    command: impl Into<PylonToHost>,
    place: Option<&WorkspaceId>,
    id: Option<RequestId>,
) {
    let result = RulesResult::new(cx.device(), Vec::new());
    let result = match try_pass_on(cx, command.into(), place).await {
        Ok(list) => RulesResult {
            rules: list.rules,
            warning: list.warning,
            verdict: list.verdict,
            ..result
        },
        Err(error) => result.failed(error),
    };
    asker.answer(result.in_reply_to(id.as_ref()));
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
