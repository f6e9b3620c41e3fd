//! What a command must be before the host hears of it: its words are known and its paths absolute.
//!
//! Kinds and words that this version does not know are kept by the protocol's types, for the sake of newer peers.
//! In a command they would mean something that nobody here understands, so it is refused.

use std::path::Path;

use estelle_proto::ipc::{
    MessagePayload, PermissionResponse, RuleEffect, SetPermissionMode, SetRule,
};
use estelle_proto::terminals::TerminalKind;
use estelle_proto::{
    ApiError, ErrorCode, Json, OnBusy, PathText, PermissionDecision, PermissionMode, PylonToHost,
    Retry, limits,
};
use serde_json::Value;

/// Says what is wrong with a command.
pub(super) fn vet(command: &PylonToHost) -> Result<(), ApiError> {
    match command {
        PylonToHost::SendMessage(command) => message(&command.payload),
        PylonToHost::PermissionResponse(command) => permission(command),
        PylonToHost::QuestionResponse(command) => input_hash(command.input_hash.as_deref()),
        PylonToHost::SetPermissionMode(SetPermissionMode { mode, .. }) => permission_mode(mode),
        PylonToHost::SetRule(SetRule { rule, .. }) => match &rule.effect {
            RuleEffect::Unknown(word) => Err(unknown_word("effect", word, RuleEffect::WORDS)),
            RuleEffect::Allow | RuleEffect::Deny | RuleEffect::Ask => Ok(()),
        },
        PylonToHost::OpenTerminal(wish) => match &wish.kind {
            TerminalKind::Unknown(word) => Err(unknown_word("kind", word, TerminalKind::WORDS)),
            TerminalKind::Shell | TerminalKind::Agent => Ok(()),
        },
        PylonToHost::ListSaved(asked) => folder(&asked.working_dir),
        PylonToHost::ReadSaved(asked) => folder(&asked.working_dir),
        PylonToHost::CopySaved(asked) => folder(&asked.working_dir),
        PylonToHost::Hello(_)
        | PylonToHost::ListTerminals(_)
        | PylonToHost::CloseTerminal(_)
        | PylonToHost::StopSession(_)
        | PylonToHost::ResumeSession(_)
        | PylonToHost::NewSession(_)
        | PylonToHost::ClearSession(_)
        | PylonToHost::DeleteSession(_)
        | PylonToHost::ForkSession(_)
        | PylonToHost::RewindSession(_)
        | PylonToHost::GetStatus(_)
        | PylonToHost::PylonReconnected(_)
        | PylonToHost::SetModel(_)
        | PylonToHost::CancelMessage(_)
        | PylonToHost::Touch(_)
        | PylonToHost::GetCost(_)
        | PylonToHost::GetRules(_)
        | PylonToHost::RemoveRule(_)
        | PylonToHost::RevokeTool(_)
        | PylonToHost::Subscribe(_)
        | PylonToHost::Unsubscribe(_)
        | PylonToHost::ClaimCall(_)
        | PylonToHost::ToolResult(_)
        | PylonToHost::Shutdown(_)
        | PylonToHost::Unknown(_) => Ok(()),
    }
}

fn permission(command: &PermissionResponse) -> Result<(), ApiError> {
    if let PermissionDecision::Unknown(word) = &command.decision {
        return Err(unknown_word("decision", word, PermissionDecision::WORDS));
    }
    input_hash(command.input_hash.as_deref())
}

fn input_hash(hash: Option<&str>) -> Result<(), ApiError> {
    let limit = limits::MAX_HASH_BYTES;
    if hash.is_some_and(|hash| hash.len() > limit) {
        let text = format!(
            "inputHash has more than {limit} bytes: repeat the one that came with the request, or leave it out"
        );
        return Err(ApiError::new(ErrorCode::TooLarge, text, Retry::Never));
    }
    Ok(())
}

fn message(payload: &MessagePayload) -> Result<(), ApiError> {
    if let Some(mode) = &payload.permission_mode {
        permission_mode(mode)?;
    }
    if let Some(OnBusy::Unknown(word)) = &payload.on_busy {
        return Err(unknown_word("onBusy", word, OnBusy::WORDS));
    }
    folder(&payload.working_dir)?;
    payload.mcp_config.as_ref().map_or(Ok(()), servers)
}

/// What a relative path means depends on where the host was started, which nobody knows.
fn folder(path: &PathText) -> Result<(), ApiError> {
    let path = path.as_str();
    if Path::new(path).is_absolute() {
        return Ok(());
    }
    let text = format!("`workingDir` must be an absolute path, not {path:?}");
    Err(ApiError::new(ErrorCode::BadPath, text, Retry::Never))
}

/// Tool servers by their names, with or without `mcpServers` around them. What is wrong with one costs that one alone.
fn servers(config: &Json) -> Result<(), ApiError> {
    let config: Option<Value> = config.decode().ok();
    let servers = config
        .as_ref()
        .map(|config| match config.get("mcpServers") {
            Some(servers) => servers,
            None => config,
        });
    if servers.is_some_and(Value::is_object) {
        return Ok(());
    }
    let text = "`mcpConfig` must be an object: {\"mcpServers\": {\"<name>\": {\"command\": …}}}";
    Err(ApiError::new(
        ErrorCode::InvalidMessage,
        text.to_owned(),
        Retry::Never,
    ))
}

fn permission_mode(mode: &PermissionMode) -> Result<(), ApiError> {
    match mode {
        PermissionMode::Unknown(word) => Err(unknown_word("mode", word, PermissionMode::WORDS)),
        PermissionMode::Default
        | PermissionMode::AcceptEdits
        | PermissionMode::BypassPermissions
        | PermissionMode::Plan => Ok(()),
    }
}

fn unknown_word(field: &str, word: &str, words: &[&str]) -> ApiError {
    let text = format!(
        "`{field}` must be one of {}, not {word:?}",
        words.join(", ")
    );
    ApiError::new(ErrorCode::InvalidMessage, text, Retry::Never)
}

#[cfg(test)]
mod tests {
    use estelle_proto::ipc::parse_command;

    use super::*;

    fn refusal(line: &str) -> Option<(ErrorCode, String)> {
        let refusal = vet(&parse_command(line).unwrap()).err()?;
        Some((refusal.code, refusal.message))
    }

    fn send(fields: &str) -> Option<(ErrorCode, String)> {
        refusal(&format!(
            r#"{{"type":"send_message","sessionId":"c","payload":{{"prompt":"hi","workspaceId":"w",{fields}}}}}"#
        ))
    }

    #[test]
    fn words_that_nobody_knows_are_refused_with_those_that_are_known() {
        assert_eq!(
            send(r#""workingDir":"/tmp","onBusy":"inject","permissionMode":"plan""#),
            None
        );
        let cases = [
            send(r#""workingDir":"/tmp","onBusy":"later""#),
            send(r#""workingDir":"/tmp","permissionMode":"PLAN""#),
            refusal(r#"{"type":"set_permission_mode","mode":"yolo"}"#),
            refusal(
                r#"{"type":"permission_response","sessionId":"c","toolUseId":"t","decision":"ALLOW"}"#,
            ),
        ];
        let known = ["queue", "acceptEdits", "bypassPermissions", "allowAll"];
        for (case, known) in cases.into_iter().zip(known) {
            let (code, text) = case.unwrap();
            assert_eq!(code, ErrorCode::InvalidMessage);
            assert!(text.contains(known), "{text}");
        }
    }

    #[test]
    fn a_hash_is_no_place_for_a_book() {
        let answers = [
            r#""type":"permission_response","decision":"allow""#,
            r#""type":"question_response","answer":"yes""#,
        ];
        for answer in answers {
            let with = |length: usize| {
                let hash = "a".repeat(length);
                let about = format!(r#""sessionId":"c","toolUseId":"t","inputHash":"{hash}""#);
                refusal(&format!("{{{answer},{about}}}"))
            };
            assert_eq!(with(128), None);
            let (code, text) = with(129).unwrap();
            assert_eq!(code, ErrorCode::TooLarge);
            assert!(text.contains("leave it out"), "{text}");
        }
    }

    #[test]
    fn tool_servers_are_an_object() {
        let with = |config: &str| send(&format!(r#""workingDir":"/tmp","mcpConfig":{config}"#));
        for config in [
            "{}",
            r#"{"a":{"command":"x"}}"#,
            r#"{"mcpServers":{"a":7}}"#,
        ] {
            assert_eq!(with(config), None, "{config}");
        }
        for config in ["7", r#""x""#, "[]", "true", r#"{"mcpServers":[]}"#] {
            let (code, text) = with(config).unwrap();
            assert_eq!(code, ErrorCode::InvalidMessage, "{config}");
            assert!(text.contains("mcpServers"), "{text}");
        }
    }

    #[test]
    fn a_folder_must_be_absolute() {
        let session = "6f5c1c1e-3d0c-4b57-9d2c-0a6d7c1f3f10";
        let saved = |kind: &str, folder: &str| {
            refusal(&format!(
                r#"{{"type":"{kind}","workingDir":"{folder}","claudeSessionId":"{session}"}}"#
            ))
        };
        let cases = |folder: &str| {
            [
                send(&format!(r#""workingDir":"{folder}""#)),
                saved("list_saved", folder),
                saved("read_saved", folder),
                saved("copy_saved", folder),
            ]
        };
        for case in cases("src") {
            let (code, text) = case.unwrap();
            assert_eq!(code, ErrorCode::BadPath);
            assert!(text.contains("\"src\""), "{text}");
        }
        assert_eq!(cases("/src"), [const { None }; 4]);
    }
}
