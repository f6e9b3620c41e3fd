//! The answers that people give to what is open. The first one wins; one that does not fit changes nothing.

use estelle_proto::decisions::{DecisionKind, PermissionDecision};
use estelle_proto::ipc::{PermissionResponse, QuestionResponse};
use estelle_proto::{ApiError, ErrorCode, Retry};
use estelle_state::conversation::Request;
use estelle_state::decisions::{By, DecisionKey, RefuseAnswer};

use super::actor::{Actor, Broken, now};
use super::judging::TrustAnswer;
use crate::ipc::{Done, Refusal};
use crate::log::Sync;
use crate::translate::lines::{self, AnswerMismatch};

impl Actor {
    pub(super) async fn permit(
        &mut self,
        command: PermissionResponse,
    ) -> Result<Result<Done, Refusal>, Broken> {
        let open = self.open_request(&command.tool_use_id, command.input_hash.as_deref());
        let (key, request) = match open {
            Ok(open) => open,
            Err(refused) => return Ok(Err(refusal(&refused))),
        };
        let decision = command.decision;
        let line = if request.kind == DecisionKind::Trust {
            trust_line(&request, &decision)
        } else {
            lines::permission(&request, &decision, command.message.as_deref())
        };
        let by = By {
            device: command.device_id,
            author: command.author,
        };
        self.decide(&key, by, decision, line).await
    }

    pub(super) async fn answer(
        &mut self,
        command: QuestionResponse,
    ) -> Result<Result<Done, Refusal>, Broken> {
        let open = self.open_request(&command.tool_use_id, command.input_hash.as_deref());
        let (key, request) = match open {
            Ok(open) => open,
            Err(refused) => return Ok(Err(refusal(&refused))),
        };
        let line = lines::answer(&request, &command.answer);
        let by = By {
            device: command.device_id,
            author: command.author,
        };
        self.decide(&key, by, PermissionDecision::Allow, line).await
    }

    /// What an answer is about.
    fn open_request(
        &self,
        id: &estelle_proto::ToolUseId,
        shown: Option<&str>,
    ) -> Result<(DecisionKey, Request), RefuseAnswer> {
        let (key, pending) = self.book.conversation().decision_shown(id, shown)?;
        Ok((key, pending.request.clone()))
    }

    /// The first answer wins: compared and set in the machine, on the disk before the CLI gets it.
    async fn decide(
        &mut self,
        key: &DecisionKey,
        by: By,
        decision: PermissionDecision,
        line: Result<String, AnswerMismatch>,
    ) -> Result<Result<Done, Refusal>, Broken> {
        let line = match line {
            Ok(line) => line,
            Err(mismatch) => {
                let message = mismatch.to_string();
                let error = ApiError::new(ErrorCode::InvalidMessage, message, Retry::Never);
                return Ok(Err(error.into()));
            }
        };
        if !lines::fits(&line) {
            return Ok(Err(too_long().into()));
        }
        let (at, device) = (now(), by.device);
        match self.book.decide().answer(at, key, by, decision, line) {
            Ok(entry) => {
                self.record(entry, Sync::Now).await?;
                self.touch();
                Ok(Ok(Done {
                    answered_by: device,
                    answered_at: Some(at),
                    ..Done::default()
                }))
            }
            Err(refused) => Ok(Err(refusal(&refused))),
        }
    }
}

fn trust_line(request: &Request, decision: &PermissionDecision) -> Result<String, AnswerMismatch> {
    let allow = match decision {
        PermissionDecision::Allow | PermissionDecision::AllowAll => true,
        PermissionDecision::Deny => false,
        PermissionDecision::Unknown(word) => return Err(AnswerMismatch::Word(word.clone())),
    };
    let shown: serde_json::Value = request.input.decode()?;
    let folder = shown.get("folder").and_then(|folder| folder.as_str());
    Ok(serde_json::to_string(&TrustAnswer {
        folder: folder.unwrap_or_default().to_owned(),
        hash: request.input_hash.clone(),
        allow,
    })?)
}

/// An answer that no pipe holds would never reach the agent.
pub(super) fn too_long() -> ApiError {
    let message =
        "this does not fit the agent's input, which takes a mebibyte: shorten it, or deny the call";
    ApiError::new(ErrorCode::TooLarge, message.to_owned(), Retry::Never)
}

/// Why an answer was not taken, for the one who gave it.
fn refusal(refused: &RefuseAnswer) -> Refusal {
    let code = match refused {
        RefuseAnswer::Unknown => ErrorCode::UnknownDecision,
        RefuseAnswer::AlreadyAnswered { .. } => ErrorCode::AlreadyAnswered,
        RefuseAnswer::Void => ErrorCode::DecisionVoid,
        RefuseAnswer::Changed => ErrorCode::Conflict,
    };
    let (answered_by, answered_at) = match refused {
        RefuseAnswer::AlreadyAnswered { by, at } => (*by, *at),
        RefuseAnswer::Unknown | RefuseAnswer::Void | RefuseAnswer::Changed => (None, None),
    };
    Refusal {
        error: ApiError::new(code, refused.to_string(), Retry::Never),
        answered_by,
        answered_at,
    }
}
