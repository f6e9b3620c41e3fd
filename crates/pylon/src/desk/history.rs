//! History: pages, search, the whole of a call, and the whole as a document.

use estelle_proto::export::{ExportFormat, HistoryExport, HistoryExportResult};
use estelle_proto::history::HistoryRequest;
use estelle_proto::lookup::{HistorySearch, HistorySearchResult, ToolDetail, ToolDetailResult};
use estelle_proto::usage::{UsageGroup, UsageRequest, UsageResult};
use estelle_proto::{ApiError, Reply};

use super::context::{Asker, Context, now};
use super::conversations::no_history;
use super::error::{Told, unknown_word};
use crate::store::{DetailChunk, ExportPage, PageQuery, SearchQuery, UsagePage, UsageQuery};

pub(super) async fn page(cx: &Context, asker: &Asker, request: HistoryRequest) {
    let page = cx.store.page(PageQuery::from(&request)).await;
    asker.answer(match page {
        Ok(page) => page.into_result(cx.device(), &request),
        Err(error) => no_history(cx, &request, error.told()),
    });
}

pub(super) async fn search(cx: &Context, asker: &Asker, request: HistorySearch) {
    let found = cx.store.search(SearchQuery::from(&request)).await;
    let result = match found {
        Ok(page) => HistorySearchResult {
            next_cursor: page.next_cursor,
            ..HistorySearchResult::new(cx.device(), page.hits)
        },
        Err(error) => HistorySearchResult::new(cx.device(), Vec::new()).failed(error.told()),
    };
    asker.answer(result.in_reply_to(request.request_id.as_ref()));
}

pub(super) async fn export(cx: &Context, asker: &Asker, request: HistoryExport) {
    let result = HistoryExportResult::new(cx.device(), request.conversation_id.clone());
    let result = match try_export(cx, &request).await {
        Ok(page) => HistoryExportResult {
            text: Some(page.text),
            total_count: Some(page.total),
            next_cursor: page.next_cursor,
            ..result
        },
        Err(error) => result.failed(error),
    };
    asker.answer(result.in_reply_to(request.request_id.as_ref()));
}

async fn try_export(cx: &Context, request: &HistoryExport) -> Result<ExportPage, ApiError> {
    if let ExportFormat::Unknown(word) = &request.format {
        return Err(unknown_word("format", word));
    }
    let page = cx.store.export(request.into()).await;
    page.map_err(|error| error.told())
}

/// Calls whose whole is told at once; others wait, because each is in memory meanwhile.
pub(super) const DETAILS: usize = 4;

pub(super) async fn detail(cx: &Context, asker: &Asker, request: ToolDetail) {
    // The desk closes it never.
    let _turn = cx.details.acquire().await.ok();
    let (conversation, call) = (&request.conversation_id, &request.tool_use_id);
    let result = ToolDetailResult {
        request_id: request.request_id.clone(),
        ..ToolDetailResult::new(cx.device(), conversation.clone(), call.clone())
    };
    let (place, id) = (conversation.clone(), call.clone());
    let parts = match request.image {
        Some(number) => cx.store.tool_image(place, id, number).await,
        None => cx.store.tool_detail(place, id).await,
    };
    let parts = match parts {
        Ok(parts) => parts,
        Err(error) => return asker.answer(result.failed(error.told())),
    };
    let chunks = parts.chunks();
    if let Some(cursor) = &request.cursor {
        return asker.answer(match one_chunk(&result, &chunks, cursor) {
            Ok(chunk) => chunk,
            Err(error) => result.failed(error),
        });
    }
    for chunk in &chunks {
        if !asker.answer_in_turn(with_chunk(&result, chunk)).await {
            return;
        }
    }
}

fn with_chunk(result: &ToolDetailResult, chunk: &DetailChunk<'_>) -> ToolDetailResult {
    ToolDetailResult {
        part: Some(chunk.part.clone()),
        chunk: Some(chunk.chunk.to_owned()),
        offset: Some(chunk.offset),
        total_bytes: Some(chunk.total_bytes),
        last: Some(chunk.last),
        ..result.clone()
    }
}

/// The chunk at a cursor, and where the next one is. A cursor is the number of a chunk; the first one is empty.
fn one_chunk(
    result: &ToolDetailResult,
    chunks: &[DetailChunk<'_>],
    cursor: &str,
) -> Result<ToolDetailResult, ApiError> {
    let number = match cursor {
        "" => Some(0),
        number => number.parse::<usize>().ok(),
    };
    let found = number.and_then(|number| Some((number, chunks.get(number)?)));
    let (number, chunk) = found.ok_or_else(|| unknown_word("cursor", cursor))?;
    Ok(ToolDetailResult {
        next_cursor: (!chunk.last).then(|| (number + 1).to_string()),
        ..with_chunk(result, chunk)
    })
}

pub(super) async fn usage(cx: &Context, asker: &Asker, request: UsageRequest) {
    let group = request.group_by;
    let result = UsageResult::new(cx.device(), group.clone(), Vec::new());
    let query = UsageQuery {
        group_by: group.clone(),
        from: request.from,
        until: request.until,
        cursor: request.cursor,
    };
    let result = match try_usage(cx, query).await {
        Ok(page) => UsageResult {
            rows: page.rows,
            next_cursor: page.next_cursor,
            limits: cx.store.plan_limits(now()).await.ok(),
            ..result
        },
        Err(error) => result.failed(error),
    };
    asker.answer(result.in_reply_to(request.request_id.as_ref()));
}

async fn try_usage(cx: &Context, query: UsageQuery) -> Result<UsagePage, ApiError> {
    if let UsageGroup::Unknown(word) = &query.group_by {
        return Err(unknown_word("groupBy", word));
    }
    for (field, day) in [("from", &query.from), ("until", &query.until)] {
        if let Some(day) = day.as_deref().filter(|day| !is_day(day)) {
            return Err(unknown_word(field, day));
        }
    }
    if let Some(cursor) = query
        .cursor
        .as_deref()
        .filter(|cursor| cursor.parse::<u32>().is_err())
    {
        return Err(unknown_word("cursor", cursor));
    }
    let page = cx.store.usage_rows(query).await;
    page.map_err(|error| error.told())
}

/// `YYYY-MM-DD`; whether there is such a day does not matter, since days are only compared.
fn is_day(text: &str) -> bool {
    let shape = text
        .bytes()
        .map(|byte| if byte.is_ascii_digit() { b'0' } else { byte });
    shape.eq(*b"0000-00-00")
}

#[cfg(test)]
mod tests {
    use super::is_day;

    #[test]
    fn a_day_has_ten_characters() {
        assert!(is_day("2026-01-25"));
        for other in [
            "",
            "2026-1-25",
            "2026-01-25T10:00:00Z",
            "20260125",
            "２026-01-25",
        ] {
            assert!(!is_day(other), "{other}");
        }
    }
}
