//! What readers see: pages, whole calls, exports.

use estelle_proto::history::HistoryRequest;
use estelle_proto::limits::{MAX_FRAME_BYTES, MAX_HISTORY_PAGE_BYTES};
use estelle_proto::{
    ConversationId, ConversationStatus, DeviceId, Epoch, HistoryMessage, Seq, ToolUseId,
    WorkspaceId,
};
use estelle_pylon::store::{
    DetailError, ExportFormat, PageError, PageFrom, PageQuery, Store, ToolParts,
};

use super::Bench;
use super::sample::Log;

fn request(bench: &Bench) -> HistoryRequest {
    HistoryRequest::new(bench.workspace.clone(), bench.conversation.clone())
}

#[tokio::test]
async fn a_page_answers_a_request() {
    let bench = Bench::new().await;
    let mut log = Log::new(&bench.conversation);
    let events: Vec<_> = (1..=60).map(|n| log.says(&format!("text {n}"))).collect();
    bench.store.apply(events).await.unwrap();
    bench
        .store
        .apply([log.state(ConversationStatus::Permission)])
        .await
        .unwrap();

    let request = HistoryRequest {
        offset: Some(5),
        ..request(&bench)
    };
    let page = bench.store.page((&request).into()).await.unwrap();
    let result = page.into_result(DeviceId(1), &request);
    assert_eq!(result.messages.len(), 50);
    let json = serde_json::to_value(&result).unwrap();
    assert_eq!(json["messages"][0]["content"], "text 6");
    assert_eq!(json["messages"][49]["content"], "text 55");
    assert_eq!(
        (json["offset"].as_u64(), json["totalCount"].as_u64()),
        (Some(5), Some(60))
    );
    assert_eq!(
        (&json["hasMore"], &json["currentStatus"]),
        (&true.into(), &"permission".into())
    );
    assert_eq!(
        (json["epoch"].as_u64(), json["headSeq"].as_u64()),
        (Some(1), Some(61))
    );
}

#[tokio::test]
async fn a_page_ends_before_it_gets_too_large_and_holds_at_least_one_entry() {
    let bench = Bench::new().await;
    let mut log = Log::new(&bench.conversation);
    let large = "x".repeat(MAX_HISTORY_PAGE_BYTES / 3);
    let huge = "y".repeat(MAX_HISTORY_PAGE_BYTES * 2);
    let events = vec![
        log.says(&huge),
        log.says(&large),
        log.says(&large),
        log.says(&large),
    ];
    bench.store.apply(events).await.unwrap();
    let page = |offset| {
        let from = PageFrom::Newest { offset };
        let query = PageQuery {
            from,
            ..(&request(&bench)).into()
        };
        bench.store.page(query)
    };
    let newest = page(0).await.unwrap();
    assert_eq!((newest.messages.len(), newest.has_more), (2, true));
    let rest = page(2).await.unwrap();
    assert_eq!((rest.messages.len(), rest.has_more), (1, true));
    let oldest = page(3).await.unwrap();
    assert_eq!((oldest.messages.len(), oldest.has_more), (1, false));
}

#[tokio::test]
async fn an_entry_always_fits_a_frame_and_the_export_has_all_of_it() {
    let bench = Bench::new().await;
    let mut log = Log::new(&bench.conversation);
    for text in ["\u{1}".repeat(400_000), "글".repeat(1_000_000)] {
        bench.store.apply([log.says(&text)]).await.unwrap();
        let query = PageQuery {
            limit: 1,
            ..(&request(&bench)).into()
        };
        let page = bench.store.page(query).await.unwrap();
        let sent = serde_json::to_string(&page.messages).unwrap();
        assert!(sent.len() < MAX_FRAME_BYTES, "{}", sent.len());
        assert!(sent.contains("an export has all of them"));
    }
    let json = export(&bench, ExportFormat::Json).await;
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["messages"][1]["content"], "글".repeat(1_000_000));
}

#[tokio::test]
async fn what_is_not_there_is_said() {
    let bench = Bench::new().await;
    let elsewhere = HistoryRequest {
        workspace_id: WorkspaceId::parse("elsewhere").unwrap(),
        ..request(&bench)
    };
    let error = bench.store.page((&elsewhere).into()).await.unwrap_err();
    assert!(
        matches!(error, PageError::UnknownConversation { .. }),
        "{error}"
    );
    bench
        .store
        .apply([Log::new(&bench.conversation).says("a")])
        .await
        .unwrap();
    let stale = HistoryRequest {
        before_seq: Some(Seq(1)),
        epoch: Some(Epoch(7)),
        ..request(&bench)
    };
    let error = bench.store.page((&stale).into()).await.unwrap_err();
    let now = Some(Epoch(1));
    assert!(
        matches!(error, PageError::StaleCursor { now: found } if found == now),
        "{error}"
    );
}

async fn detail(store: &Store, id: &ConversationId, call: &str) -> Result<ToolParts, DetailError> {
    store
        .tool_detail(id.clone(), ToolUseId::parse(call).unwrap())
        .await
}

#[tokio::test]
async fn a_call_is_shown_cut_and_kept_whole() {
    let bench = Bench::new().await;
    let id = &bench.conversation;
    let mut log = Log::new(id);
    let input = format!(r#"{{"command":"cat","text":"{}"}}"#, "글".repeat(9000));
    let output = "줄\n".repeat(5000);
    let events = vec![
        log.call("long", &input),
        log.returned("long", &output),
        log.call("short", r#"{ "command": "ls" }"#),
    ];
    bench.store.apply(events).await.unwrap();

    let page = bench.store.page((&request(&bench)).into()).await.unwrap();
    let [
        HistoryMessage::ToolStart(start),
        HistoryMessage::ToolComplete(end),
        _,
    ] = page.messages.as_slice()
    else {
        panic!("{:?}", page.messages);
    };
    assert!(start.tool_input.get().len() < 4096);
    assert_eq!(end.output.chars().count(), 1000);

    let whole = detail(&bench.store, id, "long").await.unwrap();
    assert_eq!(
        (whole.input.unwrap(), whole.output.unwrap()),
        (input, output)
    );
    let open = detail(&bench.store, id, "short").await.unwrap();
    assert_eq!(open.input.as_deref(), Some(r#"{ "command": "ls" }"#));
    assert_eq!(open.output, None);
    let error = detail(&bench.store, id, "never").await.unwrap_err();
    assert!(
        matches!(error, DetailError::UnknownToolUse { .. }),
        "{error}"
    );
}

async fn export(bench: &Bench, format: ExportFormat) -> String {
    let mut export = bench
        .store
        .export(bench.conversation.clone(), format)
        .await
        .unwrap();
    let mut document = String::new();
    while let Some(piece) = export.next().await.unwrap() {
        document.push_str(&piece);
    }
    document
}

#[tokio::test]
async fn an_export_has_everything_whole() {
    let bench = Bench::new().await;
    let mut log = Log::new(&bench.conversation);
    let output = "z".repeat(20_000);
    let mut events = vec![
        log.user("질문?"),
        log.call("c", "{}"),
        log.returned("c", &output),
    ];
    events.extend((0..250).map(|n| log.says(&format!("answer {n}"))));
    bench.store.apply(events).await.unwrap();

    let json = export(&bench, ExportFormat::Json).await;
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    let messages = value["messages"].as_array().unwrap();
    assert_eq!(
        (messages.len(), value["totalCount"].as_u64()),
        (253, Some(253))
    );
    assert_eq!(messages[2]["output"], output);
    assert_eq!(messages[252]["content"], "answer 249");

    let markdown = export(&bench, ExportFormat::Markdown).await;
    assert!(
        markdown.starts_with("# first\n\n## User ("),
        "{}",
        &markdown[..60]
    );
    assert!(markdown.contains(&output) && markdown.contains("\nanswer 249\n"));
    assert_eq!(markdown.matches("\n## ").count(), 253);
}

#[tokio::test]
async fn an_empty_conversation_exports_as_an_empty_list() {
    let bench = Bench::new().await;
    let json = export(&bench, ExportFormat::Json).await;
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["messages"], serde_json::json!([]));
}
