//! What a client says over its WebSocket, and the task that carries it out in order.

use estelle_proto::{ClientMessageId, Prompt, Right, Token, ToolUseId};
use serde::Deserialize;
use tokio::sync::mpsc;

use crate::failure::Failure;
use crate::lens::Down;
use crate::operations::{Answered, Caller, Said, Verdict, answer_decision, say};

/// A message of a client. Unknown members are left alone, as they may be of a newer client.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Up {
    Input {
        content: Prompt,
        client_message_id: Option<ClientMessageId>,
    },
    Approve {
        request_id: ToolUseId,
        answer: Option<estelle_proto::Answer>,
    },
    Deny {
        request_id: ToolUseId,
        content: Option<String>,
    },
    /// Said once more by a client that is known already.
    Auth {},
}

/// The token of a first message.
pub(super) fn token(text: &str) -> Option<Token> {
    #[derive(Deserialize)]
    #[serde(tag = "type", rename_all = "snake_case")]
    enum First {
        Auth { token: Token },
    }
    let First::Auth { token } = serde_json::from_str(text).ok()?;
    Some(token)
}

/// Carries out what comes, one after another, until the socket is gone.
pub(super) async fn carry_out(
    caller: Caller,
    mut said: mpsc::Receiver<Up>,
    told: mpsc::Sender<Down>,
) {
    while let Some(message) = said.recv().await {
        let about = name(&message);
        let down = match one(&caller, message).await {
            Ok(None) => continue,
            Ok(Some(down)) => down,
            Err(failure) => refused(failure, about),
        };
        if told.send(down).await.is_err() {
            return;
        }
    }
}

/// What an error about a message names.
fn name(message: &Up) -> Option<String> {
    match message {
        Up::Input {
            client_message_id, ..
        } => client_message_id.as_ref().map(ToString::to_string),
        Up::Approve { request_id, .. } | Up::Deny { request_id, .. } => {
            Some(request_id.to_string())
        }
        Up::Auth {} => None,
    }
}

/// An error, as a client is told.
pub(super) fn refused(failure: Failure, about: Option<String>) -> Down {
    Down::Error {
        content: failure.body.error,
        code: Some(failure.body.code),
        exit_code: None,
        about,
    }
}

async fn one(caller: &Caller, message: Up) -> Result<Option<Down>, Failure> {
    match message {
        Up::Input {
            content,
            client_message_id,
        } => {
            may(caller, &Right::Prompt)?;
            let said = Said {
                content,
                client_message_id,
                on_busy: None,
            };
            let client_message_id = say(caller, said).await?;
            Ok(Some(Down::Accepted { client_message_id }))
        }
        Up::Approve { request_id, answer } => {
            let answered = Answered {
                action: Verdict::Approve,
                permission_id: request_id,
                message: None,
                answer,
            };
            decide(caller, answered).await
        }
        Up::Deny {
            request_id,
            content,
        } => {
            let answered = Answered {
                action: Verdict::Deny,
                permission_id: request_id,
                message: content,
                answer: None,
            };
            decide(caller, answered).await
        }
        Up::Auth {} => Ok(None),
    }
}

async fn decide(caller: &Caller, answered: Answered) -> Result<Option<Down>, Failure> {
    may(caller, &Right::Approve)?;
    answer_decision(caller, answered).await?;
    // Everybody who watches is told by the log, this client as well.
    Ok(None)
}

fn may(caller: &Caller, right: &Right) -> Result<(), Failure> {
    if caller.rights.contains(right) {
        return Ok(());
    }
    let text = format!("this needs the right `{right}`");
    let status = hyper::StatusCode::FORBIDDEN;
    Err(Failure::new(status, "forbidden", text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_message_that_says_who_is_there_counts_as_the_first() {
        let said = |text: &str| token(text).map(|token| token.reveal().to_owned());
        assert_eq!(
            said(r#"{"type":"auth","token":"abc"}"#),
            Some("abc".to_owned())
        );
        for other in [
            "",
            "abc",
            r#"{"type":"input","content":"x"}"#,
            r#"{"type":"auth"}"#,
        ] {
            assert_eq!(said(other), None, "{other}");
        }
    }

    #[test]
    fn messages_are_read_as_the_interface_has_them() {
        let read = |text: &str| serde_json::from_str::<Up>(text);
        assert!(matches!(
            read(r#"{"type":"input","content":"hi"}"#),
            Ok(Up::Input { .. })
        ));
        assert!(matches!(
            read(r#"{"type":"approve","request_id":"t"}"#),
            Ok(Up::Approve { .. })
        ));
        assert!(matches!(
            read(r#"{"type":"deny","request_id":"t"}"#),
            Ok(Up::Deny { .. })
        ));
        for bad in [
            "{}",
            r#"{"type":"input"}"#,
            r#"{"type":"input","content":""}"#,
            r#"{"type":"go"}"#,
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
