//! The user's permission rules: the host keeps them and says what is in force; nothing of them is kept here.

use estelle_proto::ipc::{GetRules, PermissionRule, PylonToHost, RemoveRule, RuleList, SetRule};
use estelle_proto::rules::{RuleChange, RulesRequest, RulesResult};
use estelle_proto::{ApiError, Reply as _, RequestId};

use super::context::{Asker, Context};
use super::error::Told as _;

pub(super) async fn list(cx: &Context, asker: &Asker, request: RulesRequest) {
    let command = GetRules {
        workspace_id: request.workspace_id,
        attempt: request.attempt,
        ..GetRules::default()
    };
    pass_on(cx, asker, command, request.request_id).await;
}

pub(super) async fn change(cx: &Context, asker: &Asker, request: RuleChange) {
    let (rule, workspace_id) = (request.rule, request.workspace_id);
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
    pass_on(cx, asker, command, request.request_id).await;
}

async fn pass_on(
    cx: &Context,
    asker: &Asker,
    command: impl Into<PylonToHost>,
    id: Option<RequestId>,
) {
    let result = RulesResult::new(cx.device(), Vec::new());
    let result = match try_pass_on(cx, command.into()).await {
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

async fn try_pass_on(cx: &Context, command: PylonToHost) -> Result<RuleList, ApiError> {
    let answer = cx.host.request(command).await;
    let answer = answer.map_err(|error| error.told())?;
    answer.outcome()?;
    Ok(answer.rules.unwrap_or_else(|| RuleList::new(Vec::new())))
}
