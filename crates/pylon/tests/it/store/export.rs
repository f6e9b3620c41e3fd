//! A whole conversation as a document, in pieces.

use estelle_proto::ConversationId;
use estelle_proto::export::ExportFormat;
use estelle_proto::limits::EXPORT_PIECE_BYTES;
use estelle_pylon::store::{ExportError, ExportPage, ExportQuery};

use super::Bench;
use super::sample::Log;

async fn piece(
    bench: &Bench,
    format: ExportFormat,
    cursor: Option<&str>,
) -> Result<ExportPage, ExportError> {
    let query = ExportQuery {
        conversation_id: bench.conversation.clone(),
        format,
        cursor: cursor.map(str::to_owned),
    };
    bench.store.export(query).await
}

/// The pieces of a document.
async fn pieces(bench: &Bench, format: ExportFormat) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut cursor = None;
    loop {
        let page = piece(bench, format.clone(), cursor.as_deref())
            .await
            .unwrap();
        assert!(page.text.len() <= EXPORT_PIECE_BYTES);
        pieces.push(page.text);
        cursor = page.next_cursor;
        if cursor.is_none() {
            return pieces;
        }
    }
}

/// The whole document.
pub(super) async fn export(bench: &Bench, format: ExportFormat) -> String {
    pieces(bench, format).await.concat()
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

/// An entry larger than any piece, of characters of three bytes, between many small ones.
async fn long() -> (Bench, Log, String) {
    let bench = Bench::new().await;
    let mut log = Log::new(&bench.conversation);
    let output = "가\n".repeat(EXPORT_PIECE_BYTES);
    let mut events: Vec<_> = (0..1500)
        .map(|n| log.says(&format!("before {n}")))
        .collect();
    events.extend([log.call("c", "{}"), log.returned("c", &output)]);
    events.extend((0..1500).map(|n| log.says(&format!("after {n}"))));
    bench.store.apply(events).await.unwrap();
    (bench, log, output)
}

#[tokio::test]
async fn what_is_larger_than_a_piece_comes_in_several() {
    let (bench, _, output) = long().await;
    let json = pieces(&bench, ExportFormat::Json).await;
    assert!(json.len() > 5, "{} pieces", json.len());
    let value: serde_json::Value = serde_json::from_str(&json.concat()).unwrap();
    let messages = value["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 3002);
    assert_eq!(messages[1501]["output"], output);
    assert_eq!(messages[3001]["content"], "after 1499");
    let markdown = export(&bench, ExportFormat::Markdown).await;
    assert!(markdown.contains(output.trim_end()));
    assert!(markdown.ends_with("after 1499\n"), "nothing is behind it");
}

#[tokio::test]
async fn what_is_said_meanwhile_is_no_part_of_the_document() {
    let (bench, mut log, _) = long().await;
    let before = export(&bench, ExportFormat::Json).await;
    let first = piece(&bench, ExportFormat::Json, None).await.unwrap();
    bench.store.apply([log.says("later")]).await.unwrap();
    let (mut text, mut cursor) = (first.text, first.next_cursor);
    while let Some(at) = cursor {
        let next = piece(&bench, ExportFormat::Json, Some(&at)).await.unwrap();
        text.push_str(&next.text);
        cursor = next.next_cursor;
    }
    assert!(text == before, "the document is another");
}

#[tokio::test]
async fn a_cursor_that_nobody_gave_is_refused() {
    let (bench, ..) = long().await;
    let page = piece(&bench, ExportFormat::Json, None).await.unwrap();
    let given = page.next_cursor.unwrap();
    let numbers: Vec<&str> = given.split('.').collect();
    let [shelf, head, ..] = numbers.as_slice() else {
        panic!("{given}");
    };
    for wrong in [
        String::new(),
        "x".to_owned(),
        "1.2.3.4".to_owned(),
        "1.2.3.4.5.6".to_owned(),
        format!("{shelf}.{head}.3002.3004.0"),
        format!("{shelf}.{head}.4000.1.0"),
        format!("{shelf}.{head}.3002.1.999999"),
        format!("{shelf}.{head}.3002.{0}.{0}", u64::MAX),
        "9".repeat(9000),
    ] {
        let refused = piece(&bench, ExportFormat::Markdown, Some(&wrong)).await;
        assert!(
            matches!(refused, Err(ExportError::BadCursor)),
            "{wrong}: {:?}",
            refused.map(|page| page.text.len())
        );
    }
    // Of each four bytes of the long entry two are inside a character.
    let mut inside = 0;
    for at in 20_000..20_004 {
        let cursor = format!("{shelf}.{head}.3002.1502.{at}");
        let refused = piece(&bench, ExportFormat::Markdown, Some(&cursor)).await;
        inside += i32::from(matches!(refused, Err(ExportError::BadCursor)));
    }
    assert_eq!(inside, 2);
    let elsewhere = format!("9{given}");
    let refused = piece(&bench, ExportFormat::Json, Some(&elsewhere)).await;
    assert!(matches!(refused, Err(ExportError::BeganAnew)));
    let query = ExportQuery {
        conversation_id: ConversationId::parse("nobody").unwrap(),
        format: ExportFormat::Json,
        cursor: None,
    };
    let refused = bench.store.export(query).await;
    assert!(matches!(
        refused,
        Err(ExportError::UnknownConversation { .. })
    ));
}
