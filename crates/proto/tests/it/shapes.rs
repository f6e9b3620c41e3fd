//! Shapes and rules that an example alone does not show: what older peers send, and what must be refused.

use estelle_proto::claude::{ClaudeSend, ClaudeSendResult};
use estelle_proto::history::HistoryResult;
use estelle_proto::workspaces::{WorkspaceCreateResult, WorkspaceListResult};
use estelle_proto::{
    ApiError, AppToPylon, ClaudeEvent, ConversationId, ConversationStatus, DeviceId, Envelope,
    ErrorCode, Key, Message as _, Prompt, PylonToApp, Reply as _, RequestId, Retry, Right, To,
    WorkspaceId, ipc, limits,
};

fn app_says(text: &str) -> Result<AppToPylon, String> {
    let envelope = Envelope::parse(text).map_err(|error| error.to_string())?;
    Ok(envelope.message)
}

#[test]
fn results_without_success_are_read_as_the_documents_define_them() {
    let list: WorkspaceListResult = serde_json::from_str(
        r#"{"deviceId":1,"deviceInfo":{"name":"Selene","icon":"x"},"workspaces":[],
            "activeWorkspaceId":null,"activeConversationId":null}"#,
    )
    .unwrap();
    assert!(list.outcome().is_ok());
    let page: HistoryResult = serde_json::from_str(
        r#"{"deviceId":1,"workspaceId":"ws-1","conversationId":"conv-1","messages":[],
            "offset":0,"totalCount":0,"hasMore":false}"#,
    )
    .unwrap();
    assert!(page.outcome().is_ok());
    let refused = serde_json::from_str::<WorkspaceCreateResult>(r#"{"deviceId":1}"#);
    assert!(refused.unwrap_err().to_string().contains("success"));
}

#[test]
fn a_failure_says_why_and_names_its_request() {
    let request = RequestId::parse("req-1").unwrap();
    let conversation = ConversationId::parse("conv-1").unwrap();
    let error = ApiError::new(
        ErrorCode::HostUnavailable,
        "the host is away".to_owned(),
        Retry::Later,
    );
    let result = ClaudeSendResult::new(DeviceId(1), conversation)
        .failed(error.clone())
        .in_reply_to(Some(&request));
    let json = serde_json::to_string(&result).unwrap();
    assert_eq!(
        json,
        r#"{"deviceId":1,"conversationId":"conv-1","success":false,"error":"the host is away","errorCode":"host_unavailable","retry":"later","requestId":"req-1"}"#
    );
    let read: ClaudeSendResult = serde_json::from_str(&json).unwrap();
    assert_eq!(read.outcome(), Err(error));
}

#[test]
fn waiting_is_read_as_permission() {
    let status: ConversationStatus = serde_json::from_str("\"waiting\"").unwrap();
    assert_eq!(status, ConversationStatus::Permission);
    assert_eq!(serde_json::to_string(&status).unwrap(), "\"permission\"");
}

#[test]
fn what_is_not_known_is_kept() {
    let event = r#"{"type":"compactStart","z":1,"a":[1.50]}"#;
    let read: ClaudeEvent = serde_json::from_str(event).unwrap();
    assert!(matches!(read, ClaudeEvent::Unknown(_)));
    assert_eq!(serde_json::to_string(&read).unwrap(), event);
    let message = r#"{"type":"later","payload":{"z":1,"a":[1.50]}}"#;
    let read = Envelope::<PylonToApp>::parse(message).unwrap();
    assert_eq!(read.to_json().unwrap(), message);
    let status: ConversationStatus = serde_json::from_str("\"finishing\"").unwrap();
    assert_eq!(status.as_str(), "finishing");
}

#[test]
fn unknown_fields_are_ignored_and_required_ones_required() {
    let read = app_says(r#"{"type":"workspace_delete","payload":{"workspaceId":"ws-1","new":{}}}"#);
    assert!(matches!(read, Ok(AppToPylon::WorkspaceDelete(_))));
    let error = app_says(r#"{"type":"workspace_delete"}"#).unwrap_err();
    assert!(
        error.contains("workspace_delete") && error.contains("workspaceId"),
        "{error}"
    );
    let error =
        app_says(r#"{"type":"workspace_delete","payload":{"workspaceId":"../x"}}"#).unwrap_err();
    assert!(error.contains("workspace id"), "{error}");
}

#[test]
fn a_known_event_with_a_bad_field_is_an_error_that_names_it() {
    let error = serde_json::from_str::<ClaudeEvent>(r#"{"type":"text"}"#)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("`text`") && error.contains("content"),
        "{error}"
    );
}

#[test]
fn a_tool_input_keeps_its_bytes() {
    let event = r#"{"type":"toolInfo","toolName":"X","input":{"z": 1, "a":1.50,"n":123456789012345678901}}"#;
    let read: ClaudeEvent = serde_json::from_str(event).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), event);
}

#[test]
fn frames_and_lines_have_a_limit() {
    let long = format!(
        r#"{{"type":"x","payload":"{}"}}"#,
        "a".repeat(limits::MAX_FRAME_BYTES)
    );
    let error = Envelope::<AppToPylon>::parse(&long).unwrap_err();
    assert_eq!(ApiError::from(&error).code, ErrorCode::TooLarge);
    let long = format!(r#"{{"type":"{}"}}"#, "a".repeat(limits::MAX_IPC_LINE_BYTES));
    let error = ipc::parse_line::<estelle_proto::PylonToHost>(&long).unwrap_err();
    assert_eq!(ApiError::from(&error).code, ErrorCode::TooLarge);
}

#[test]
fn requests_declare_their_right_and_their_key() {
    let conversation = ConversationId::parse("conv-1").unwrap();
    let workspace = WorkspaceId::parse("ws-1").unwrap();
    let prompt = Prompt::parse("Hello").unwrap();
    let send = AppToPylon::from(ClaudeSend::new(workspace, conversation.clone(), prompt));
    assert_eq!(
        (send.right(), send.key()),
        (Right::Prompt, Key::Conversation(&conversation))
    );
    let mode =
        app_says(r#"{"type":"claude_set_permission_mode","payload":{"mode":"plan"}}"#).unwrap();
    assert_eq!((mode.right(), mode.key()), (Right::Admin, Key::Machine));
    for (kind, right) in [
        ("claude_send", Right::Prompt),
        ("claude_permission", Right::Approve),
        ("workspace_list", Right::View),
        ("deploy_go", Right::Admin),
        ("later", Right::Admin),
    ] {
        assert_eq!(AppToPylon::right_of(kind), right, "{kind}");
    }
    let unknown = app_says(r#"{"type":"later"}"#).unwrap();
    assert_eq!((unknown.right(), unknown.kind()), (Right::Admin, "later"));
    let envelope = Envelope::<AppToPylon>::to(To::device(DeviceId(1)), send);
    let written = envelope.to_json().unwrap();
    assert!(written.starts_with(r#"{"type":"claude_send","to":{"deviceId":1},"payload":"#));
}

#[test]
fn a_line_holds_no_other_line_feed() {
    let event = ClaudeEvent::Text(estelle_proto::events::TextDelta::new("a\nb".to_owned()));
    let line = ipc::to_line(&event).unwrap();
    assert_eq!(line.find('\n'), Some(line.len() - 1));
    // Carried JSON may be written over several lines, as files are.
    let input = estelle_proto::Json::parse("{\n  \"a\": \"b\\nc\"\n}").unwrap();
    let event = estelle_proto::events::ToolInfo::new("X".to_owned(), input);
    let line = ipc::to_line(&ClaudeEvent::ToolInfo(event)).unwrap();
    assert_eq!(
        line,
        "{\"type\":\"toolInfo\",\"toolName\":\"X\",\"input\":{   \"a\": \"b\\nc\" }}\n"
    );
}

#[test]
fn two_sides_go_on_with_the_highest_version_that_both_speak() {
    let speaks = |protocol, oldest| ipc::Hello {
        oldest,
        ..ipc::Hello::new(protocol, "build".to_owned(), Vec::new())
    };
    let host = speaks(3, Some(2));
    let cases = [
        (speaks(3, None), Some(3)),
        (speaks(2, None), Some(2)),
        (speaks(1, None), None),
        (speaks(9, None), None),
        (speaks(9, Some(1)), Some(3)),
        (speaks(9, Some(4)), None),
    ];
    for (client, common) in cases {
        assert_eq!(host.common(&client), common, "{client:?}");
        assert_eq!(client.common(&host), common, "{client:?}");
    }
}

#[test]
fn a_command_is_named_and_found_by_its_name() {
    for (name, text) in crate::golden::examples() {
        if !name.starts_with("ipc.") {
            continue;
        }
        let Ok(mut command) = ipc::parse_command(&text) else {
            continue;
        };
        let is_answered = !matches!(
            command,
            estelle_proto::PylonToHost::Hello(_) | estelle_proto::PylonToHost::Unknown(_)
        );
        let id = RequestId::parse("req-7").unwrap();
        command.set_request_id(id.clone());
        assert_eq!(command.request_id(), is_answered.then_some(&id), "{name}");
    }
}
