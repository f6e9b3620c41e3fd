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
        input_hash: Option<String>,
    },
    Deny {
        request_id: ToolUseId,
        content: Option<String>,
        input_hash: Option<String>,
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

/// What an error about a message names that cannot be read as one, or is not taken: its id, if it has one.
pub(super) fn about(text: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        client_message_id: Option<serde_json::Value>,
        request_id: Option<serde_json::Value>,
    }
    let named: Named = serde_json::from_str(text).ok()?;
    let mut ids = [named.client_message_id, named.request_id]
        .into_iter()
        .flatten();
    let id = ids.find_map(|id| id.as_str().map(str::to_owned));
    id.filter(|id| id.len() <= LONGEST_NAME)
}

/// No id of ours is longer; what is longer is not said back.
const LONGEST_NAME: usize = 256;

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
        Up::Approve {
            request_id,
            answer,
            input_hash,
        } => {
            let answered = Answered {
                action: Verdict::Approve,
                permission_id: request_id,
                message: None,
                answer,
                input_hash,
            };
            decide(caller, answered).await
        }
        Up::Deny {
            request_id,
            content,
            input_hash,
        } => {
            let answered = Answered {
                action: Verdict::Deny,
                permission_id: request_id,
                message: content,
                answer: None,
                input_hash,
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
    fn what_cannot_be_read_is_named_all_the_same() {
        let named = |text: &str| about(text);
        let m1 = Some("m1".to_owned());
        assert_eq!(
            named(r#"{"type":"input","content":"","client_message_id":"m1"}"#),
            m1
        );
        assert_eq!(named(r#"{"type":"go","request_id":"m1","x":[]}"#), m1);
        let long = format!(r#"{{"request_id":"{}"}}"#, "x".repeat(LONGEST_NAME + 1));
        for nameless in ["", "[]", "{}", r#"{"request_id":7}"#, &long] {
            assert_eq!(named(nameless), None, "{nameless}");
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
