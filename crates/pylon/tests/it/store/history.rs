//! What readers see: pages and whole calls.

use estelle_proto::export::ExportFormat;
use estelle_proto::history::HistoryRequest;
use estelle_proto::limits::{MAX_FRAME_BYTES, MAX_HISTORY_PAGE_BYTES};
use estelle_proto::lookup::ToolPart;
use estelle_proto::{
    ConversationId, ConversationStatus, DeviceId, Epoch, HistoryMessage, Seq, ToolUseId,
    WorkspaceId,
};
use estelle_pylon::store::{DetailError, PageError, PageFrom, PageQuery, Store, ToolParts};

use super::Bench;
use super::export::export;
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
async fn the_pictures_of_a_call_are_named_in_history_and_kept_whole() {
    let bench = Bench::new().await;
    let id = &bench.conversation;
    let mut log = Log::new(id);
    let large = "AAAA".repeat(40_000);
    let events = vec![
        log.call("seen", "{}"),
        log.pictured("seen", &["BBBB", &large]),
        log.call("blind", "{}"),
    ];
    bench.store.apply(events).await.unwrap();

    let page = bench.store.page((&request(&bench)).into()).await.unwrap();
    let HistoryMessage::ToolComplete(end) = &page.messages[1] else {
        panic!("{:?}", page.messages);
    };
    assert_eq!(end.images.as_ref().map(Vec::len), Some(2));

    let image = |call: &str, number| {
        let call = ToolUseId::parse(call).unwrap();
        bench.store.tool_image(id.clone(), call, number)
    };
    let second = image("seen", 1).await.unwrap();
    let chunks = second.chunks();
    assert!(chunks.len() > 1 && chunks.last().unwrap().last);
    assert!(chunks.iter().all(|chunk| chunk.part == ToolPart::Image));
    let whole: String = chunks.iter().map(|chunk| chunk.chunk).collect();
    assert_eq!(whole, large);
    for (call, number) in [("seen", 2), ("blind", 0)] {
        let error = image(call, number).await.unwrap_err();
        assert!(matches!(error, DetailError::UnknownImage { .. }), "{error}");
    }
    let error = image("never", 0).await.unwrap_err();
    assert!(
        matches!(error, DetailError::UnknownToolUse { .. }),
        "{error}"
    );
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
