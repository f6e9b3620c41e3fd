//! Talking to the agent and steering it: what clients ask for becomes commands for the host.
//!
//! The host decides; the answer is its. A message is named before it goes down, by its sender or here, so that the link
//! may repeat it. Modes are changed in the host first and kept afterwards: a mode that is shown is in force.

use estelle_proto::claude::{
    ClaudeControl, ClaudeControlResult, ClaudeSend, ClaudeSendResult, ClaudeSetModel,
    ClaudeSetModelResult, ClaudeSetPermissionMode, ClaudeSetPermissionModeResult,
};
use estelle_proto::decisions::{
    ClaudeAnswer, ClaudeAnswerResult, ClaudePermission, ClaudePermissionResult,
};
use estelle_proto::ipc::{
    CancelMessage, MessagePayload, NewSession, PermissionResponse, QuestionResponse, RequestResult,
    SendMessage, SetModel, SetPermissionMode, StopSession,
};
use estelle_proto::worktrees::WorktreeState;
use estelle_proto::{
    ApiError, ClientMessageId, ControlAction, ConversationId, ErrorCode, OnBusy,
    PermissionDecision, PermissionMode, Prompt, PylonToHost, Reply, SkillType, limits,
};

use super::context::{Asker, Context};
use super::conversations::known;
use super::error::{Told, bounded, bounded_model, refusal, unknown_word};
use super::removing::{self, end, finish_clearing};
use super::workspaces::told;
use super::{attachments, budgets, persona, planner};
use crate::failpoint;
use crate::store::{ConversationError, KnownConversation};

/// Asks the host and takes a refusal for a failure.
pub(super) async fn ask(
    cx: &Context,
    command: impl Into<PylonToHost>,
) -> Result<RequestResult, ApiError> {
    let asked = cx.host.request(command).await;
    failpoint::reach("host-answered");
    asked.map_err(|error| error.told())
}

/// The same where a conversation that the host does not know yet is as good as done.
pub(super) async fn ask_if_known(
    cx: &Context,
    command: impl Into<PylonToHost>,
) -> Result<(), ApiError> {
    match ask(cx, command).await?.outcome() {
        Err(error) if error.code != ErrorCode::UnknownConversation => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

pub(super) async fn send(cx: &Context, asker: &Asker, request: ClaudeSend) {
    let id = request.request_id.clone();
    let conversation = request.conversation_id.clone();
    let mut result = ClaudeSendResult::new(cx.device(), conversation);
    result
        .client_message_id
        .clone_from(&request.client_message_id);
    let result = match try_send(cx, asker, request).await {
        Ok(sent) => ClaudeSendResult {
            seq: sent.seq,
            ..told(result, sent.outcome())
        },
        Err(error) => result.failed(error),
    };
    asker.answer(result.in_reply_to(id.as_ref()));
}

async fn try_send(
    cx: &Context,
    asker: &Asker,
    request: ClaudeSend,
) -> Result<RequestResult, ApiError> {
    if let Some(OnBusy::Unknown(word)) = &request.on_busy {
        return Err(unknown_word("onBusy", word));
    }
    let id = request.conversation_id;
    let known = known(cx, &request.workspace_id, &id).await?;
    has_place(&known)?;
    let named = request.client_message_id;
    let files = request.attached_file_ids.unwrap_or_default();
    let message = attachments::with_files(cx, &id, request.message, files).await?;
    hand_over(cx, &id, known, message, |payload| {
        payload.on_busy = request.on_busy;
        payload.client_message_id = named.or_else(new_message_id);
        payload.device_id = Some(asker.device);
        payload.author = asker.author();
    })
    .await
}

/// Hands a message to the host, with what a run of its conversation needs.
pub(super) async fn hand_over(
    cx: &Context,
    id: &ConversationId,
    known: KnownConversation,
    message: Prompt,
    more: impl FnOnce(&mut MessagePayload),
) -> Result<RequestResult, ApiError> {
    budgets::check(cx, id).await?;
    let mut payload = message_payload(known, message);
    more(&mut payload);
    deliver(cx, id, payload).await
}

/// Hands a message to the host, unless its conversation is gone; what was cleared is cleared before.
pub(super) async fn deliver(
    cx: &Context,
    id: &ConversationId,
    payload: MessagePayload,
) -> Result<RequestResult, ApiError> {
    finish_clearing(cx, id).await?;
    let sent = ask(cx, SendMessage::new(id.clone(), payload)).await?;
    // A workspace that was deleted meanwhile must not leave a run behind that nobody can see.
    let found = cx.store.conversation(id.clone()).await;
    if sent.success
        && let Err(gone @ ConversationError::UnknownConversation { .. }) = found
    {
        end(cx, id.clone()).await?;
        return Err(gone.told());
    }
    Ok(sent)
}

/// The folder of a conversation is there, as far as we know: its worktree was not removed.
pub(super) fn has_place(known: &KnownConversation) -> Result<(), ApiError> {
    match known.worktree.as_ref().map(|tree| &tree.state) {
        None | Some(WorktreeState::Ready) => Ok(()),
        Some(state) => {
            let text = format!(
                "the worktree of this conversation is {}: begin a new conversation",
                state.as_str()
            );
            Err(refusal(ErrorCode::Conflict, text))
        }
    }
}

/// A message with everything that is set about its conversation.
pub(super) fn message_payload(known: KnownConversation, message: Prompt) -> MessagePayload {
    let skill = &known.conversation.skill_type;
    MessagePayload {
        claude_session_id: known.conversation.claude_session_id,
        // Only its own: a conversation without one follows the default, whatever becomes of that.
        permission_mode: known.conversation.permission_mode,
        model: known.model,
        append_system_prompt: persona::of(skill).map(str::to_owned),
        tool_server: planner::tools(skill),
        read_only: (*skill == SkillType::Planner).then_some(true),
        ..MessagePayload::new(message, known.working_dir, known.workspace_id)
    }
}

fn new_message_id() -> Option<ClientMessageId> {
    ClientMessageId::parse(&uuid::Uuid::now_v7().to_string()).ok()
}

pub(super) async fn control(cx: &Context, asker: &Asker, request: ClaudeControl) {
    let id = request.request_id.clone();
    let (conversation, action) = (request.conversation_id.clone(), request.action.clone());
    let result = ClaudeControlResult::new(cx.device(), conversation, action);
    let done = try_control(cx, asker, request).await;
    asker.answer(told(result, done).in_reply_to(id.as_ref()));
}

async fn try_control(cx: &Context, asker: &Asker, request: ClaudeControl) -> Result<(), ApiError> {
    let id = request.conversation_id;
    known(cx, &request.workspace_id, &id).await?;
    match request.action {
        ControlAction::Stop => ask_if_known(cx, StopSession::new(id)).await,
        ControlAction::NewSession => {
            ask_if_known(cx, NewSession::new(id.clone())).await?;
            forget_session(cx, id).await
        }
        ControlAction::Clear => {
            removing::clear(cx, id).await?;
            cx.list_changed().await;
            Ok(())
        }
        ControlAction::CancelMessage => {
            let Some(message) = request.client_message_id else {
                let text = "`cancel_message` needs `clientMessageId`";
                return Err(refusal(ErrorCode::InvalidMessage, text));
            };
            let mut command = CancelMessage::new(id, message);
            command.device_id = Some(asker.device);
            ask(cx, command).await?.outcome()
        }
        ControlAction::Unknown(word) => Err(unknown_word("action", &word)),
    }
}

async fn forget_session(cx: &Context, id: ConversationId) -> Result<(), ApiError> {
    let forgotten = cx.store.set_claude_session(id, None).await;
    forgotten.map_err(|error| error.told())?;
    cx.list_changed().await;
    Ok(())
}

pub(super) async fn permission(cx: &Context, asker: &Asker, request: ClaudePermission) {
    let (conversation, call) = (request.conversation_id.clone(), request.tool_use_id.clone());
    let id = request.request_id.clone();
    let result = ClaudePermissionResult::new(cx.device(), conversation, call);
    let result = match try_permission(cx, asker, request).await {
        Ok(answered) => ClaudePermissionResult {
            answered_by: answered.answered_by,
            answered_at: answered.answered_at,
            ..told(result, answered.outcome())
        },
        Err(error) => result.failed(error),
    };
    asker.answer(result.in_reply_to(id.as_ref()));
}

async fn try_permission(
    cx: &Context,
    asker: &Asker,
    request: ClaudePermission,
) -> Result<RequestResult, ApiError> {
    if let PermissionDecision::Unknown(word) = &request.decision {
        return Err(unknown_word("decision", word));
    }
    let length = request.message.as_ref().map_or(0, String::len);
    bounded("message", length, limits::MAX_ANSWER_BYTES)?;
    let length = request.input_hash.as_ref().map_or(0, String::len);
    bounded("inputHash", length, limits::MAX_HASH_BYTES)?;
    let id = request.conversation_id;
    known(cx, &request.workspace_id, &id).await?;
    let mut answer = PermissionResponse::new(id, request.tool_use_id, request.decision);
    answer.message = request.message;
    answer.input_hash = request.input_hash;
    answer.device_id = Some(asker.device);
    answer.author = asker.author();
    ask(cx, answer).await
}

pub(super) async fn answer(cx: &Context, asker: &Asker, request: ClaudeAnswer) {
    let (conversation, call) = (request.conversation_id.clone(), request.tool_use_id.clone());
    let id = request.request_id.clone();
    let result = ClaudeAnswerResult::new(cx.device(), conversation, call);
    let result = match try_answer(cx, asker, request).await {
        Ok(answered) => ClaudeAnswerResult {
            answered_by: answered.answered_by,
            answered_at: answered.answered_at,
            ..told(result, answered.outcome())
        },
        Err(error) => result.failed(error),
    };
    asker.answer(result.in_reply_to(id.as_ref()));
}

async fn try_answer(
    cx: &Context,
    asker: &Asker,
    request: ClaudeAnswer,
) -> Result<RequestResult, ApiError> {
    bounded("answer", request.answer.length(), limits::MAX_ANSWER_BYTES)?;
    let length = request.input_hash.as_ref().map_or(0, String::len);
    bounded("inputHash", length, limits::MAX_HASH_BYTES)?;
    let id = request.conversation_id;
    known(cx, &request.workspace_id, &id).await?;
    let mut answer = QuestionResponse::new(id, request.tool_use_id, request.answer);
    answer.input_hash = request.input_hash;
    answer.device_id = Some(asker.device);
    answer.author = asker.author();
    ask(cx, answer).await
}

pub(super) async fn set_permission_mode(
    cx: &Context,
    asker: &Asker,
    request: ClaudeSetPermissionMode,
) {
    let id = request.request_id.clone();
    let mut result = ClaudeSetPermissionModeResult::new(cx.device(), request.mode.clone());
    result.conversation_id.clone_from(&request.conversation_id);
    let done = try_set_permission_mode(cx, request).await;
    let is_done = done.is_ok();
    asker.answer(told(result, done).in_reply_to(id.as_ref()));
    if is_done {
        cx.list_changed().await;
    }
}

async fn try_set_permission_mode(
    cx: &Context,
    request: ClaudeSetPermissionMode,
) -> Result<(), ApiError> {
    let mode = request.mode;
    if let PermissionMode::Unknown(word) = &mode {
        return Err(unknown_word("mode", word));
    }
    let mut command = SetPermissionMode::new(mode.clone());
    command.session_id.clone_from(&request.conversation_id);
    let Some(id) = request.conversation_id else {
        ask_if_known(cx, command).await?;
        let kept = cx.store.set_default_permission_mode(mode).await;
        return kept.map_err(|error| error.told());
    };
    let found = cx.store.conversation(id.clone()).await;
    found.map_err(|error| error.told())?;
    ask_if_known(cx, command).await?;
    let kept = cx.store.set_permission_mode(id, Some(mode)).await;
    kept.map_err(|error| error.told())
}

pub(super) async fn set_model(cx: &Context, asker: &Asker, request: ClaudeSetModel) {
    let (id, model) = (request.conversation_id, request.model);
    let mut result = ClaudeSetModelResult::new(cx.device(), id.clone());
    result.model.clone_from(&model);
    let done = try_set_model(cx, id, model).await;
    let is_done = done.is_ok();
    asker.answer(told(result, done).in_reply_to(request.request_id.as_ref()));
    if is_done {
        cx.list_changed().await;
    }
}

async fn try_set_model(
    cx: &Context,
    id: ConversationId,
    model: Option<String>,
) -> Result<(), ApiError> {
    bounded_model(model.as_deref())?;
    let found = cx.store.conversation(id.clone()).await;
    found.map_err(|error| error.told())?;
    let mut command = SetModel::new(id.clone());
    command.model.clone_from(&model);
    ask_if_known(cx, command).await?;
    let kept = cx.store.set_model(id, model).await;
    kept.map_err(|error| error.told())
}
